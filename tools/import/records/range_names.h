// SPDX-License-Identifier: Apache-2.0
// Names of ranges, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gable {

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
