// SPDX-License-Identifier: Apache-2.0
#include "tools/files/report_output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

#include "analysis/base/text_file.h"
#include "tools/base/wrong_use.h"
#include "tools/page/page.h"

namespace gable {
namespace {

// Who writes into a pipe by hand has time to start its reader.
constexpr std::chrono::minutes kUsersPatience{10};

}  // namespace

std::FILE* place_of_remarks(const Outputs& outputs) {
  std::map<std::string, std::string> taken;
  for (const auto& [option, path] : outputs) {
    if (path.empty()) continue;
    const auto [other, fresh] = taken.emplace(path, option);
    if (!fresh)
      throw WrongUse(other->second + " and " + option + " both write to " +
                     (path == "-" ? "standard output" : path) + ": give each its own.");
  }
  return taken.contains("-") ? stderr : stdout;
}

void write_output(const ReportFiles& files, const std::string& text, const std::string& path) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  for (const std::string& input : files.paths) {
    std::error_code code;
    if (std::filesystem::equivalent(input, path, code)) {
      throw WrongUse(path + " is being read and would be overwritten: name another file.");
    }
  }
  if (const std::string problem = write_text_file(text, path, kUsersPatience); !problem.empty())
    throw WrongUse(problem);
}

void check_output_place(const std::string& path, const std::string& option) {
  if (path.empty() || path == "-") return;
  if (std::any_of(path.begin(), path.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    throw WrongUse("The file name of " + option +
                   " has a line break or another control character: leave that out.");
  std::error_code code;
  if (std::filesystem::is_directory(path, code))
    throw WrongUse(option + " takes a file name, and " + path + " is a folder.");
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.find('%') != std::string::npos) return;
  if (folder.empty()) folder = ".";
  if (!std::filesystem::is_directory(folder, code))
    throw WrongUse("The folder " + folder + " of " + option + " does not exist: create it first.");
  // Devices lie in folders that are not the user's.
  if (!std::filesystem::is_character_file(path, code) && access(folder.c_str(), W_OK) != 0)
    throw WrongUse("Nothing can be written into the folder " + folder + " of " + option +
                   ": name another one.");
}

std::vector<std::string> file_names(const ReportFiles& files) {
  std::vector<std::string> names;
  names.reserve(files.paths.size());
  for (const std::string& path : files.paths)
    names.push_back(std::filesystem::path(path).filename().string());
  return names;
}

void write_page(const ReportFiles& files, const std::string& path, std::FILE* where,
                const std::string& comparison) {
  write_output(files, render_page(files.reports, file_names(files), comparison), path);
  if (path != "-") print_line(where, "Page: " + path);
}

}  // namespace gable
