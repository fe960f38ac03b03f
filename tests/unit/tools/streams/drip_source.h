// SPDX-License-Identifier: Apache-2.0
// A text that comes in pieces of one size, as a pipe may give it.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tools/streams/byte_source.h"

namespace gable {

class DripSource final : public ByteSource {
 public:
  DripSource(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min({size, piece_, text_.size() - at_});
    std::memcpy(to, text_.data() + at_, count);
    at_ += count;
    return count;
  }
  [[nodiscard]] const std::string& name() const override { return name_; }

 private:
  std::string text_, name_ = "a.txt";
  std::size_t piece_, at_ = 0;
};

// All at once, byte by byte, and in between.
inline constexpr std::size_t kPieces[] = {1u << 20, 1, 3, 7};

}  // namespace gable
