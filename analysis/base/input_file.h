// SPDX-License-Identifier: Apache-2.0
// Files that a user names to be read. Such a name may be anything: a device without an end, a pipe
// that nobody writes to, a folder. Reading it ends, in bounded memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace gable {

// A file that is held whole is read up to here.
inline constexpr std::uint64_t kMostAtOnce = std::uint64_t{4} << 30;
// What is no regular file may have no end: it is read up to here where it is held whole,
inline constexpr std::uint64_t kMostOfPipeAtOnce = std::uint64_t{1} << 30;
// and up to here where a piece at a time is enough.
inline constexpr std::uint64_t kMostOfPipe = std::uint64_t{16} << 30;
// How long a pipe without a writer is given to get one.
inline constexpr std::chrono::seconds kWriterPatience{10};

// An open file, or a sentence that says why there is none.
class InputFile {
 public:
  // `what` ends the sentences: "a report". Never waits longer than for a pipe's first writer.
  InputFile(const std::string& path, const std::string& what);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }  // empty: it is open
  [[nodiscard]] bool is_regular() const { return regular_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }  // of a regular file
  // The number, which the caller closes.
  [[nodiscard]] int release();
  // All of it; none where `error` says why.
  [[nodiscard]] std::optional<std::string> read_all();

 private:
  const std::string path_;
  int file_ = -1;
  bool regular_ = false;
  std::uint64_t size_ = 0;
  std::string error_;
};

}  // namespace gable
