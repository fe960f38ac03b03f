// SPDX-License-Identifier: Apache-2.0
// Keeps secrets out of reports.
#pragma once

#include <string>
#include <vector>

namespace gable {

// The command line with secrets replaced by "***": the values of names like token, key and password
// (--api-key X, API_TOKEN=X, {"secret": "X"}), the login before the "@" of an address, secrets that
// programs take without a name (sshpass -p X), and texts in the format of a service's secret. An
// argument that is code with a secret is masked as a whole. Masks too much rather than too little.
[[nodiscard]] std::vector<std::string> mask_command(const std::vector<std::string>& command);

}  // namespace gable
