// SPDX-License-Identifier: Apache-2.0
// Which ranks of a job write a report: --ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gable {

// Ranks, and slices of them as Python has them: "0", "0,7", "0:8" (0 to 7), "0::8" (every eighth).
class RankSet {
 public:
  // Returns nothing if `text` is not a valid list.
  [[nodiscard]] static std::optional<RankSet> parse(const std::string& text);

  [[nodiscard]] bool holds(std::int64_t rank) const;

 private:
  struct Slice {
    std::int64_t begin = 0, end = INT64_MAX, step = 1;
  };
  std::vector<Slice> slices_;
};

// Whether `ranks`, the option's value, leaves this rank without a report. An empty value leaves no
// rank out; an unknown rank is never left out.
[[nodiscard]] bool leaves_out(const std::string& ranks, std::optional<std::int64_t> rank);

}  // namespace gable
