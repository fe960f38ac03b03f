// SPDX-License-Identifier: Apache-2.0
// Keeps secrets out of reports.
#pragma once

#include <string>
#include <vector>

namespace gable {

// The command line with secrets replaced by "***": the values of names like token, key and password
// (--api-key X, API_TOKEN=X, {"secret": "X"}), what stands before the "@" of an address, what
// programs take without a name (sshpass -p X), and what has a service's shape. An argument that is
// code and gives a secret goes whole. Rather masks too much than too little.
[[nodiscard]] std::vector<std::string> mask_command(const std::vector<std::string>& command);

}  // namespace gable
