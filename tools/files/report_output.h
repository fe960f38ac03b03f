// SPDX-License-Identifier: Apache-2.0
// Files made from reports. Each function throws WrongUse if the file cannot be written.
#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tools/files/report_files.h"

namespace gable {

// The options of a command that name its output files, with these names. Wrong use if two are the
// same. Returns where remarks such as "Written: FILE" belong: standard error if standard output is
// one of the files.
using Outputs = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::FILE* place_of_remarks(const Outputs& outputs);

// Writes the text to `path`, whole or not at all; "-" is standard output. Refuses to overwrite a
// file that was read.
void write_output(const ReportFiles& files, const std::string& text, const std::string& path);

// Called before long work: wrong use if no file can be written there. Placeholders in the name (%p)
// are not checked.
void check_output_place(const std::string& path, const std::string& option);

// The files' names without their folders.
[[nodiscard]] std::vector<std::string> file_names(const ReportFiles& files);

// Says where the page is. `comparison` as in render_page.
void write_page(const ReportFiles& files, const std::string& path, std::FILE* where = stdout,
                const std::string& comparison = {});

}  // namespace gable
