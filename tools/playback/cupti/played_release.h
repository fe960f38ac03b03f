// SPDX-License-Identifier: Apache-2.0
// Which CUDA release's CUPTI is played (switch `cupti`), and where releases differ: the version,
// the sizes of structures, and what becomes of who asks for a chip too early.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gable::playback {

[[nodiscard]] int played_release();            // 1206: CUDA 12.6
[[nodiscard]] std::uint32_t played_version();  // what cuptiGetVersion then says

// Whether that release takes this size of the call's structure. Old ones take one, and some new
// ones also that of a structure which has grown. `known`: the size in the headers of this build.
[[nodiscard]] bool takes_size(const char* call, std::size_t given, std::size_t known);

// The driver (GABLE_PLAYBACK_DRIVER) is for an older major version of CUDA.
[[nodiscard]] bool driver_is_too_old();

}  // namespace gable::playback
