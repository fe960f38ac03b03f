// SPDX-License-Identifier: Apache-2.0
// How far a file has been read, as one line on a terminal; nothing elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace gable {

class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void begin(const std::string& path, std::uint64_t size);
  void at(std::uint64_t done);
  // The line goes away.
  void clear();

 private:
  bool shown_, drawn_ = false;
  std::string name_;
  std::uint64_t size_ = 0;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace gable
