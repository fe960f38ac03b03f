// SPDX-License-Identifier: Apache-2.0
// Files that Gable writes: reports, pages, recordings, roofs. Used within other people's programs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "analysis/base/own_write.h"

namespace gable {

// Writes beside `path` and renames, so that a reader sees the old file or the new one, never a
// part, also when the machine stops. What is there and is no file (a pipe, a terminal, /dev/null)
// is written to in place; so are /dev/stdout and its like, whatever they lead to. `patience`: for a
// pipe's reader to come, and each time until it takes more.
// A new file has the mode that the umask leaves, and is the owner's alone in a folder where all may
// write, as reports name the host and the command. Empty when it worked, else a sentence. Never
// throws.
[[nodiscard]] std::string write_text_file(const std::string& text, const std::string& path,
                                          std::chrono::milliseconds patience = kReaderPatience);

// A file that one process writes several times, and no other process over it. What was written
// under its name since this process began is another's, or that of the program which replaced
// itself by this one (exec): then the file gets a number. What is older is replaced.
class OwnFile {
 public:
  // `number` makes the name with the number n, from 1 on. `taken`: also these names are another's.
  OwnFile(std::string path, std::function<std::string(const std::string& path, unsigned n)> number,
          std::function<bool(const std::string& path)> taken = {});

  // As write_text_file().
  [[nodiscard]] std::string write(const std::string& text);
  [[nodiscard]] const std::string& path() const { return path_; }  // of the last write
  // The next write may be to another name than the last: there was none, or the file is not ours
  // any more.
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

// Whether that is what write_text_file() does.
[[nodiscard]] bool is_written_in_place(const std::string& path);

// Writes a file that is not there yet; one that could not be written to its end is removed. 0, or
// what errno would be; EEXIST: there is something of that name, even if it is a link to nothing.
[[nodiscard]] int write_new_file(const std::string& text, const std::string& path);

}  // namespace gable
