// SPDX-License-Identifier: Apache-2.0
// How far a file has been read, as one line on a terminal; nothing elsewhere, and nothing for files
// that are read in a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gable {

// "[#####.......]  41 %  run.sqlite", in fewer columns than the terminal has: the name goes first,
// then the bar.
[[nodiscard]] std::string progress_line(unsigned percent, const std::string& name,
                                        std::size_t columns);

class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  // Begins a file of `whole` bytes or rows; 0: unknown.
  void begin(const std::string& path, std::uint64_t whole);
  // Redraws the line at every percent.
  void at(std::uint64_t done);
  // Clears the line.
  void clear();

 private:
  static constexpr unsigned kNone = 1000;
  bool shown_, drawn_ = false;
  std::string name_;
  std::uint64_t whole_ = 0;
  unsigned percent_ = kNone;
};

}  // namespace gable
