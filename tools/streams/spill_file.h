// SPDX-License-Identifier: Apache-2.0
// What does not fit into memory: a temporary file that no folder shows and that is gone with its
// object, whatever ends the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gable {

class SpillFile {
 public:
  SpillFile() = default;
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  // Behind what is there. The first one makes the file in TMPDIR, else in /var/tmp, else in /tmp.
  // Throws WrongUse where there is no room.
  void append(const void* bytes, std::size_t size);
  void read(std::uint64_t offset, void* to, std::size_t size) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  void make();

  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace gable
