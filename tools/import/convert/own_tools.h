// SPDX-License-Identifier: Apache-2.0
// nsys's and ncu's own reports, which only these tools can read: if installed, they export them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/import/convert/temporary_folder.h"

namespace gable {

enum class Exporter { nsys, ncu };

// The program's path: in PATH, then where CUDA and the tools are installed, below `root`. Empty if
// not found.
[[nodiscard]] std::string find_exporter(Exporter exporter, const std::string& root = {});

// Runs `program` on the report and returns the path of its output in the folder. Throws WrongUse
// with the program's message if it fails.
[[nodiscard]] std::string export_report(Exporter exporter, const std::string& program,
                                        const std::string& report, TemporaryFolder& folder);

}  // namespace gable
