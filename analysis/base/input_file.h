// SPDX-License-Identifier: Apache-2.0
// Input files named by the user. A name may be anything: an endless device, a pipe without a
// writer, a folder. Reading always ends and needs bounded memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace gable {

// Most bytes of a file that is read whole.
inline constexpr std::uint64_t kMostAtOnce = std::uint64_t{4} << 30;
// Most bytes of anything but a regular file, which may be endless, if it is read whole,
inline constexpr std::uint64_t kMostOfPipeAtOnce = std::uint64_t{1} << 30;
// and if it is read a piece at a time.
inline constexpr std::uint64_t kMostOfPipe = std::uint64_t{16} << 30;
// How long to wait for a pipe's first writer.
inline constexpr std::chrono::seconds kWriterPatience{10};

// An open file, or a sentence that says why there is none.
class InputFile {
 public:
  // `what` ends the sentences: "a report". Never waits longer than for a pipe's first writer.
  InputFile(const std::string& path, const std::string& what);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::string& error() const { return error_; }  // empty if it is open
  [[nodiscard]] bool is_regular() const { return regular_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }  // bytes of a regular file
  // Gives the descriptor to the caller, who closes it.
  [[nodiscard]] int release();
  // The whole content; nothing on failure, when error() says why.
  [[nodiscard]] std::optional<std::string> read_all();

 private:
  const std::string path_;
  int file_ = -1;
  bool regular_ = false;
  std::uint64_t size_ = 0;
  std::string error_;
};

}  // namespace gable
