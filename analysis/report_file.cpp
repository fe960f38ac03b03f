// SPDX-License-Identifier: Apache-2.0
#include "analysis/report_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>

#include "analysis/text_file.h"

namespace gable {

std::string write_report_file(const Report& report, const std::string& path) {
  try {
    return write_text_file(to_json(report), path);
  } catch (const std::exception& error) {
    return path + " cannot be written: " + error.what() + ".";
  }
}

ParsedReport read_report_file(const std::string& path) {
  try {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0)
      return {std::nullopt, path + ": " + std::strerror(errno) + "."};
    if (S_ISDIR(info.st_mode)) return {std::nullopt, path + " is a folder, not a report."};
    // /dev/zero has no end.
    if (S_ISCHR(info.st_mode)) return {std::nullopt, path + " is a device, not a report."};
    std::ifstream file(path, std::ios::binary);
    if (!file) return {std::nullopt, path + " cannot be read: " + std::strerror(errno) + "."};
    std::string text(static_cast<std::size_t>(std::max<off_t>(info.st_size, 0)), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    // Of a pipe nobody knows the size.
    if (file) text.append(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (file.bad()) return {std::nullopt, path + " cannot be read to its end."};
    ParsedReport parsed = from_json(text);
    if (!parsed.report) parsed.error = path + ": " + parsed.error;
    return parsed;
  } catch (const std::exception& error) {
    return {std::nullopt, path + " cannot be read: " + error.what() + "."};
  }
}

}  // namespace gable
