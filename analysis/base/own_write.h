// SPDX-License-Identifier: Apache-2.0
// Writing inside the profiled program: a reader that is gone or a file size limit ends the write
// but never the program, and the wait for a slow reader is bounded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <string_view>

namespace gable {

// While an object lives, this thread gets neither SIGPIPE nor SIGXFSZ; signals raised by Gable's
// own writes are discarded at its end, so that no handler of the program runs for them.
class WithoutWriteSignals {
 public:
  WithoutWriteSignals();
  ~WithoutWriteSignals();
  WithoutWriteSignals(const WithoutWriteSignals&) = delete;
  WithoutWriteSignals& operator=(const WithoutWriteSignals&) = delete;

 private:
  sigset_t ours_{}, before_{}, pending_{};
  bool blocked_ = false;
};

// Identifies the file behind a descriptor. A duplicate would instead keep a pipe open whose end
// somebody waits for.
class FileIdentity {
 public:
  explicit FileIdentity(int file);  // none if the descriptor is not open
  [[nodiscard]] bool is(int file) const;

 private:
  bool open_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// How long to wait for a pipe or terminal that takes nothing more.
inline constexpr std::chrono::milliseconds kReaderPatience{2000};

// Writes all of `text` at the file's position. Returns 0 or an errno; ETIMEDOUT: nothing was taken
// for `patience`. Uses plain system calls and no allocation.
[[nodiscard]] int write_whole(int file, std::string_view text,
                              std::chrono::milliseconds patience = kReaderPatience);

}  // namespace gable
