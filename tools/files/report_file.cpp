// SPDX-License-Identifier: Apache-2.0
#include "tools/files/report_file.h"

#include <exception>

#include "analysis/base/input_file.h"

namespace gable {

ParsedReport read_report_file(const std::string& path) {
  try {
    InputFile file(path, "a report");
    const auto text = file.read_all();
    if (!text) return {std::nullopt, file.error()};
    ParsedReport parsed = from_json(*text);
    if (!parsed.report) parsed.error = path + ": " + parsed.error;
    return parsed;
  } catch (const std::exception& error) {
    return {std::nullopt, path + " cannot be read: " + error.what() + "."};
  }
}

}  // namespace gable
