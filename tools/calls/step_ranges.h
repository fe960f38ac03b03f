// SPDX-License-Identifier: Apache-2.0
// Which ranges of another tool's file are steps: those that --step-range names, by the rule of
// `gable profile` (docs/commands/profile.md, "What a step is").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/options/range_name.h"

namespace gable {

// Readers shorten longer names by fitting_name(), because regular expressions use stack per
// character.
inline constexpr std::size_t kLongestRangeName = 4096;

class StepRanges {
 public:
  // Empty: no range is a step.
  explicit StepRanges(const std::string& regex) : asked_(!regex.empty()), naming_({}, regex) {}

  [[nodiscard]] bool asked() const { return asked_; }
  // The layer name shared by all steps, if the range is a step; else empty.
  [[nodiscard]] std::optional<std::string> step_name(std::string_view name) const;

  void add(std::uint32_t thread, std::uint64_t start_ns, std::uint64_t end_ns);
  struct Step {
    std::uint64_t start_ns = 0, end_ns = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };
  // The steps. If ranges of several threads overlap, a step lasts until all have ended, or until a
  // thread with a range in it begins its next one.
  [[nodiscard]] std::vector<Step> steps() const;

 private:
  struct Range {
    std::uint64_t start_ns = 0, end_ns = 0;
    std::uint32_t thread = 0;
  };
  bool asked_;
  RangeNaming naming_;
  std::vector<Range> ranges_;
};

}  // namespace gable
