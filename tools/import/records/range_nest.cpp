// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/range_nest.h"

#include <algorithm>
#include <tuple>

namespace gable {

void RangeNest::Work::add(const Work& other) {
  first = std::min(first, other.first);
  last = std::max(last, other.last);
  operations += other.operations;
}

void RangeNest::nest() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    // Of ranges that start together the longer is around the other.
    return std::tie(a.thread, a.start_ns, b.end_ns) < std::tie(b.thread, b.start_ns, a.end_ns);
  });
  std::vector<std::uint32_t> open;
  // By parent and name: the tree is behind a lock.
  std::unordered_map<std::uint64_t, LayerId> known;
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    Range& range = ranges_[i];
    if (i == 0 || ranges_[i - 1].thread != range.thread) {
      open.clear();
      threads_[range.thread] = {i, i};
    }
    threads_[range.thread].second = i + 1;
    while (!open.empty() && ranges_[open.back()].end_ns <= range.start_ns) open.pop_back();
    const LayerId around = open.empty() ? 0 : ranges_[open.back()].layer;
    range.parent = open.empty() ? kNone : open.back();
    range.layer = around;
    if (range.parent != kNone) {
      const Range& parent = ranges_[range.parent];
      range.within = parent.grouped || parent.within;
      range.neutral = range.neutral || parent.neutral;
    }
    if (range.grouped && range.within) range.is_layer = false;
    if (range.neutral) range.direction = Direction::none;
    if (range.is_layer) {
      const std::uint64_t key = (std::uint64_t{around} << 34) ^ (std::uint64_t{range.name} << 2) ^
                                static_cast<std::uint64_t>(range.direction);
      auto [place, fresh] = known.try_emplace(key, 0);
      if (fresh) place->second = layers_.child(around, names_.text(range.name), range.direction);
      range.layer = place->second;
    }
    open.push_back(i);
  }
}

std::uint32_t RangeNest::at(std::uint32_t thread, std::uint64_t when_ns) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return kNone;
  const auto first = ranges_.begin() + found->second.first;
  const auto last = ranges_.begin() + found->second.second;
  const auto behind = std::upper_bound(
      first, last, when_ns,
      [](std::uint64_t when, const Range& range) { return when < range.start_ns; });
  if (behind == first) return kNone;
  // The last that started before; if it has ended, one around it is open, or none.
  auto range = static_cast<std::uint32_t>(behind - ranges_.begin() - 1);
  while (range != kNone && ranges_[range].end_ns <= when_ns) range = ranges_[range].parent;
  return range;
}

void RangeNest::project(std::uint32_t range, std::int32_t device, std::uint64_t start_ns,
                        std::uint64_t end_ns) {
  if (range == kNone) return;
  auto& work = work_[device];
  if (work.empty()) work.resize(ranges_.size());
  work[range].add({start_ns, end_ns, 1});
}

std::vector<InputWait> RangeNest::inputs(std::uint64_t from_ns, std::uint64_t to_ns) const {
  std::vector<InputWait> inputs;
  for (const Range& range : ranges_)
    if (range.start_ns < to_ns && range.end_ns > from_ns && fetches_input(text(range.name)))
      inputs.push_back({range.start_ns, range.end_ns, range.thread});
  return inputs;
}

void RangeNest::finish(Imported& imported) {
  for (auto& [device, work] : work_) {
    // Those within others come behind them.
    for (auto range = static_cast<std::uint32_t>(work.size()); range-- > 0;) {
      if (work[range].operations == 0) continue;
      if (ranges_[range].parent != kNone) work[ranges_[range].parent].add(work[range]);
      if (!ranges_[range].is_layer) continue;
      Projection& sum = imported.projections[{device, ranges_[range].layer}];
      ++sum.instances;
      sum.span_ns += work[range].last - work[range].first;
      sum.operations += work[range].operations;
    }
  }
  work_.clear();
}

}  // namespace gable
