// SPDX-License-Identifier: Apache-2.0
// nsys's and ncu's own reports, which only these tools read: they export them, where they are.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/import/convert/temporary_folder.h"

namespace gable {

enum class Exporter { nsys, ncu };

// Where the program is: in PATH, then where CUDA and the tools are installed, below `root`. Empty:
// nowhere.
[[nodiscard]] std::string find_exporter(Exporter exporter, const std::string& root = {});

// Runs `program` on the report, and returns the path of what it made, which is in the folder.
// Throws WrongUse with what the program said where it fails.
[[nodiscard]] std::string export_report(Exporter exporter, const std::string& program,
                                        const std::string& report, TemporaryFolder& folder);

}  // namespace gable
