// SPDX-License-Identifier: Apache-2.0
// What a user can do about an unusable libcupti, which depends on who chose it. Pure text.
#pragma once

#include <cstdint>
#include <string>

namespace gable {

enum class CuptiOrigin {
  program,  // in the process before Gable, so it cannot be replaced
  asked,    // --cupti
  found
};

// One sentence each; `release`: cuda_release().
[[nodiscard]] std::string too_old_for_counters(const std::string& path, const std::string& release,
                                               CuptiOrigin origin);
[[nodiscard]] std::string lacks_calls(const std::string& path, CuptiOrigin origin);

// The toolkit that a CUPTI of this version (cuptiGetVersion) came with: "CUDA 12.6".
[[nodiscard]] std::string cuda_release(std::uint32_t version);

}  // namespace gable
