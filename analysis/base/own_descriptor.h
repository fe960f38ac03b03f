// SPDX-License-Identifier: Apache-2.0
// A descriptor that Gable keeps open within the program. The program may close it, as daemons and
// ssh close all that they did not open, and open a file of its own under the number: nothing of
// ours is written there then, and nothing of the program's is read.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "analysis/base/own_write.h"

namespace gable {

// A copy of `file` above the numbers that programs count on, closed at exec. -1: no number is left.
[[nodiscard]] int high_duplicate(int file);

// Writes all of `text` if `wanted` still stands under `file`, else nothing. It looks at a duplicate
// and writes there: a program that closes `file` in between and opens one of its own gets none of
// it. Errors as in write_whole; EBADF: something else stands there.
[[nodiscard]] int write_if_still(const FileIdentity& wanted, int file, std::string_view text,
                                 std::chrono::milliseconds patience = kReaderPatience);

class OwnDescriptor {
 public:
  OwnDescriptor() = default;
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  // Takes `file` over, and moves it to a high number: low ones are those that programs count on,
  // and 0 to 2 would be taken for their standard streams. Before other threads look.
  void take(int file);
  // -1: there is none, or the program closed it. Safe in a signal handler.
  [[nodiscard]] int get() const;
  // Closes it where it still is ours.
  void close();

 private:
  int number_ = -1;
  std::optional<FileIdentity> identity_;
};

}  // namespace gable
