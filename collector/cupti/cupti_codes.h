// SPDX-License-Identifier: Apache-2.0
// Codes that CUDA 12.6's headers do not name yet; a newer CUPTI returns them whatever headers Gable
// was built with.
#pragma once

#include <cupti.h>

namespace gable {

inline constexpr auto kMigNotSupported = static_cast<CUptiResult>(43);
inline constexpr auto kSliNotSupported = static_cast<CUptiResult>(44);
inline constexpr auto kWslNotSupported = static_cast<CUptiResult>(45);
inline constexpr auto kInvalidChipName = static_cast<CUptiResult>(46);

}  // namespace gable
