// SPDX-License-Identifier: Apache-2.0
// Names of ranges, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gable {

// Whether the program fetches its next input within a range of this name: PyTorch's DataLoader
// calls what its iterators do "enumerate(DataLoader)#CLASS.__next__".
[[nodiscard]] inline bool fetches_input(std::string_view range) {
  return range.starts_with("enumerate(DataLoader)#");
}

class RangeNames {
 public:
  std::uint32_t id(std::string_view text) {
    buffer_ = text;
    const auto [place, fresh] =
        by_name_.try_emplace(buffer_, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(buffer_);
    return place->second;
  }
  [[nodiscard]] const std::string& text(std::uint32_t id) const { return names_[id]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::string buffer_;
};

}  // namespace gable
