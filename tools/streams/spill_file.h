// SPDX-License-Identifier: Apache-2.0
// A temporary file for data that does not fit into memory: unlinked, so it vanishes however the
// program ends.
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

  // Appends bytes. The first call makes the file in TMPDIR, else /var/tmp, else /tmp. Throws
  // WrongUse if there is no room.
  void append(const void* bytes, std::size_t size);
  void read(std::uint64_t offset, void* to, std::size_t size) const;
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  void make();

  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace gable
