// SPDX-License-Identifier: Apache-2.0
// Files that are made of reports. Each throws WrongUse where the file cannot be written.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tools/report_files.h"

namespace gable {

// The options of a command that name what it writes, and what they name. Wrong use where two name
// the same. Returns where remarks such as "Written: FILE" belong: standard error where standard
// output is one of them.
using Outputs = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::FILE* place_of_remarks(const Outputs& outputs);

// The text to `path`, whole or not at all; "-" is standard output. Refuses to overwrite a file
// that was read.
void write_output(const ReportFiles& files, const std::string& text, const std::string& path);

// Before long work: wrong use where no file can be written there. What is open in the name (%p) is
// left to the end.
void check_output_place(const std::string& path, const std::string& option);

// The files' names without their folders.
[[nodiscard]] std::vector<std::string> file_names(const ReportFiles& files);

// Says where the page is.
void write_page(const ReportFiles& files, const std::string& path, std::FILE* where = stdout);

}  // namespace gable
