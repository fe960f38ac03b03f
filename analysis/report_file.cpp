// SPDX-License-Identifier: Apache-2.0
#include "analysis/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>

namespace gable {
namespace {

std::string problem(const std::string& path, int error) {
  return path + " cannot be written: " + std::strerror(error) + ".";
}

// Plain system calls: this runs in other people's programs, also while they end.
int write_all(int file, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

// A file under that name is replaced, where it lies when the name is a link's. A device (/dev/null)
// must stay what it is.
struct Target {
  bool device = false;
  std::string path;
  explicit Target(const std::string& name) : path(name) {
    struct stat info {};
    if (::stat(name.c_str(), &info) != 0) return;
    device = S_ISCHR(info.st_mode);
    if (char* real = S_ISREG(info.st_mode) ? ::realpath(name.c_str(), nullptr) : nullptr) {
      path = real;
      std::free(real);
    }
  }
};

int write_device(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return errno;
  int error = write_all(file, text);
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

std::string write_report_file(const Report& report, const std::string& path) {
  try {
    return write_text_file(to_json(report), path);
  } catch (const std::exception& error) {
    return path + " cannot be written: " + error.what() + ".";
  }
}

std::string write_text_file(const std::string& text, const std::string& path) {
  try {
    const Target target(path);
    if (target.device) {
      const int failed = write_device(path, text);
      return failed == 0 ? std::string() : problem(path, failed);
    }
    const std::string beside = target.path + ".part." + std::to_string(::getpid());
    const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) return problem(path, errno);
    int error = write_all(file, text);
    if (::close(file) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(beside.c_str(), target.path.c_str()) != 0) error = errno;
    if (error == 0) return {};
    ::unlink(beside.c_str());
    return problem(path, error);
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
