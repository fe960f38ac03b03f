// SPDX-License-Identifier: Apache-2.0
// Writing within other people's programs: a reader that is gone, or a limit on the size of files,
// ends the write and never the program, and a reader that does not read is not waited for without
// end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <string_view>

namespace gable {

// While it lives, this thread gets neither SIGPIPE nor SIGXFSZ; what our own writes raised
// meanwhile is taken back at its end, so that no handler of the program's runs for it.
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

// Which file stands under a number. Holding a duplicate instead would keep a pipe open whose end
// somebody waits for.
class FileIdentity {
 public:
  explicit FileIdentity(int file);  // none where nothing is open there
  [[nodiscard]] bool is(int file) const;

 private:
  bool open_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// For a pipe or a terminal that takes nothing more.
inline constexpr std::chrono::milliseconds kReaderPatience{2000};

// Writes all of it where the file stands. 0, or what errno would be; ETIMEDOUT: nothing was taken
// for `patience`. Plain system calls, no allocation.
[[nodiscard]] int write_whole(int file, std::string_view text,
                              std::chrono::milliseconds patience = kReaderPatience);

}  // namespace gable
