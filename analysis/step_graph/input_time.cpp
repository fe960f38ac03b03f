// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_graph/input_time.h"

#include <algorithm>

namespace gable {

InputTime::InputTime(const std::vector<InputWait>& waits) {
  for (const InputWait& wait : waits)
    if (wait.end_ns > wait.start_ns)
      of_thread_[wait.thread].emplace_back(wait.start_ns, wait.end_ns);
  for (auto& [thread, intervals] : of_thread_) {
    std::sort(intervals.begin(), intervals.end());
    std::size_t last = 0;
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      if (intervals[i].first <= intervals[last].second)
        intervals[last].second = std::max(intervals[last].second, intervals[i].second);
      else
        intervals[++last] = intervals[i];
    }
    intervals.resize(last + 1);
  }
}

std::uint64_t InputTime::within(std::uint32_t thread, std::uint64_t from_ns,
                                std::uint64_t to_ns) const {
  const auto known = of_thread_.find(thread);
  if (known == of_thread_.end()) return 0;
  std::uint64_t sum = 0;
  const Intervals& all = known->second;
  auto each = std::partition_point(all.begin(), all.end(),
                                   [&](const auto& wait) { return wait.second <= from_ns; });
  for (; each != all.end() && each->first < to_ns; ++each)
    sum += std::min(each->second, to_ns) - std::max(each->first, from_ns);
  return sum;
}

}  // namespace gable
