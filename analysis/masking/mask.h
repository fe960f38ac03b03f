// SPDX-License-Identifier: Apache-2.0
// Keeps secrets out of reports.
#pragma once

#include <string>
#include <vector>

namespace gable {

inline constexpr const char* kMasked = "***";

// The command line with the values of arguments named like token, key, secret or password replaced
// by "***":
// --api-key X, --api-key=X, -password=X, API_TOKEN=X, also within one argument ("sh -c 'TOKEN=X
// run'"), and the password in scheme://user:password@host. Rather masks too much than too little.
[[nodiscard]] std::vector<std::string> mask_command(const std::vector<std::string>& command);

}  // namespace gable
