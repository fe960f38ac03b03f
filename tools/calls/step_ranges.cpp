// SPDX-License-Identifier: Apache-2.0
#include "tools/calls/step_ranges.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/base/text.h"

namespace gable {

std::optional<std::string> StepRanges::step_name(std::string_view name) const {
  if (!asked_) return std::nullopt;
  RangeNaming::Name named = naming_.name(fitting_name(name, kLongestRangeName));
  if (!named.is_step) return std::nullopt;
  return std::move(named.text);
}

void StepRanges::add(std::uint32_t thread, std::uint64_t start_ns, std::uint64_t end_ns) {
  if (end_ns > start_ns) ranges_.push_back({start_ns, end_ns, thread});
}

std::vector<StepRanges::Step> StepRanges::steps() const {
  struct Border {
    std::uint64_t when = 0;
    bool begins = false;  // of borders at one time ends come first
    std::uint32_t thread = 0;
  };
  std::vector<Border> borders;
  borders.reserve(2 * ranges_.size());
  for (const Range& range : ranges_) {
    borders.push_back({range.start_ns, true, range.thread});
    borders.push_back({range.end_ns, false, range.thread});
  }
  std::sort(borders.begin(), borders.end(), [](const Border& a, const Border& b) {
    return std::tie(a.when, a.begins, a.thread) < std::tie(b.when, b.begins, b.thread);
  });
  struct Thread {
    std::uint32_t open = 0;
    std::size_t began_in = 0;
  };
  std::unordered_map<std::uint32_t, Thread> threads;
  std::vector<Step> steps;
  std::uint64_t depth = 0;
  for (const Border& border : borders) {
    Thread& own = threads[border.thread];
    if (!border.begins) {
      --own.open;
      if (--depth == 0) steps.back().end_ns = border.when;
      continue;
    }
    const bool first = depth++ == 0;
    const bool outermost = own.open++ == 0;
    const bool next = !first && outermost && own.began_in == steps.size();
    if (next) steps.back().end_ns = border.when;
    if (first || next) steps.push_back({border.when, border.when});
    if (outermost) own.began_in = steps.size();
  }
  return steps;
}

}  // namespace gable
