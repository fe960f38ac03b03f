// SPDX-License-Identifier: Apache-2.0
// Files that Gable writes: reports, pages, recordings, roofs. Used inside profiled programs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "analysis/base/own_write.h"

namespace gable {

// Writes beside `path` and renames, so that a reader sees the old file or the new one, never a
// part, also when the machine stops. Anything but a regular file (a pipe, a terminal, /dev/null) is
// written in place; so are /dev/stdout and the like, whatever they lead to. `patience`: how long to
// wait for a pipe's reader, and each time until it takes more. A new file gets the umask's mode,
// but only its owner may read it in a folder where all may write, as reports name the host and the
// command. Returns an empty text on success, else a sentence. Never throws.
[[nodiscard]] std::string write_text_file(const std::string& text, const std::string& path,
                                          std::chrono::milliseconds patience = kReaderPatience);

// A file that one process writes several times and that no other process overwrites. If a file of
// its name is newer than this process, it belongs to another one, or to the program that replaced
// itself by this one (exec): then this one's name gets a number. Older files are replaced.
class OwnFile {
 public:
  // `number` makes the name with the number n, from 1 on. `taken`: names that also belong to
  // others.
  OwnFile(std::string path, std::function<std::string(const std::string& path, unsigned n)> number,
          std::function<bool(const std::string& path)> taken = {});

  // Writes the text; returns as write_text_file() does.
  [[nodiscard]] std::string write(const std::string& text);
  [[nodiscard]] const std::string& path() const { return path_; }  // path of the last write
  // Whether the next write may use another name, because nothing was written yet or the file is not
  // ours any more.
  [[nodiscard]] bool is_to_be_named() const;

 private:
  [[nodiscard]] int write_named(const std::string& text);
  [[nodiscard]] int write_as(const std::string& path, const std::string& text);

  const std::string wanted_;
  std::string path_;
  const std::function<std::string(const std::string&, unsigned)> number_;
  const std::function<bool(const std::string&)> taken_;
  bool written_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// Whether write_text_file() writes to this path in place.
[[nodiscard]] bool is_written_in_place(const std::string& path);

// Writes a file that must not exist yet, and removes it if it could not be completed. Returns 0 or
// an errno; EEXIST: the name exists, even as a dangling link.
[[nodiscard]] int write_new_file(const std::string& text, const std::string& path);

}  // namespace gable
