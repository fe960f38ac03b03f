// SPDX-License-Identifier: Apache-2.0
// A descriptor that Gable keeps open in the program. The program may close it, as daemons and ssh
// close all descriptors they did not open, and reuse the number: Gable then neither writes to the
// program's file nor reads it.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "analysis/base/own_write.h"

namespace gable {

// A duplicate of `file` above the numbers programs rely on, closed at exec; -1 if no number is
// left.
[[nodiscard]] int high_duplicate(int file);

// Writes all of `text` if `file` still is `wanted`, else nothing. It checks a duplicate and writes
// to that, so nothing goes to a file that the program opens under the number meanwhile. Errors as
// in write_whole; EBADF: it is another file.
[[nodiscard]] int write_if_still(const FileIdentity& wanted, int file, std::string_view text,
                                 std::chrono::milliseconds patience = kReaderPatience);

class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  // Takes `file` over and moves it to a high number, since programs rely on low ones and 0 to 2
  // would be their standard streams. Call it before other threads use this object.
  void take(int file);
  // The descriptor, or -1 if there is none or the program closed it. Safe in a signal handler.
  [[nodiscard]] int get() const;
  // Closes the descriptor if it is still Gable's.
  void close();

 private:
  int number_ = -1;
  std::optional<FileIdentity> identity_;
};

}  // namespace gable
