// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/range_sweep.h"

#include <algorithm>

namespace gable {

void RangeSweep::Work::add(const Work& other) {
  first = std::min(first, other.first);
  last = std::max(last, other.last);
  operations += other.operations;
}

void RangeSweep::Open::add(const Work& more) {
  const auto known = std::find_if(work.begin(), work.end(),
                                  [&](const Work& each) { return each.device == more.device; });
  if (known == work.end())
    work.push_back(more);
  else
    known->add(more);
}

LayerId RangeSweep::at(std::uint32_t thread, std::uint64_t when_ns) {
  while (next_ != nullptr &&
         (next_->thread < thread || (next_->thread == thread && next_->start_ns <= when_ns))) {
    open(*next_);
    next_ = ranges_.next();
  }
  if (thread != thread_) close_all();
  thread_ = thread;
  while (depth_ > 0 && open_[depth_ - 1].end_ns <= when_ns) close();
  return depth_ == 0 ? 0 : open_[depth_ - 1].layer;
}

void RangeSweep::project(std::int32_t device, std::uint64_t start_ns, std::uint64_t end_ns) {
  if (depth_ > 0) open_[depth_ - 1].add({device, start_ns, end_ns, 1});
}

void RangeSweep::open(const SweptRange& range) {
  if (range.thread != thread_) close_all();
  thread_ = range.thread;
  while (depth_ > 0 && open_[depth_ - 1].end_ns <= range.start_ns) close();
  const LayerId around = depth_ == 0 ? 0 : open_[depth_ - 1].layer;
  const auto [known, fresh] =
      known_.try_emplace((std::uint64_t{around} << 32) | range.name, LayerId{0});
  if (fresh) known->second = layers_.child(around, names_.text(range.name), Direction::none);
  if (open_.size() == depth_) open_.emplace_back();
  Open& opened = open_[depth_++];
  opened.end_ns = range.end_ns;
  opened.layer = known->second;
  opened.work.clear();
  seen_(range, opened.layer);
}

void RangeSweep::close() {
  const Open& closed = open_[--depth_];
  for (const Work& work : closed.work) {
    if (depth_ > 0) open_[depth_ - 1].add(work);
    const std::uint64_t key =
        (std::uint64_t{static_cast<std::uint32_t>(work.device)} << 32) | closed.layer;
    Projection& sum = sums_[key];
    ++sum.instances;
    sum.span_ns += work.last - work.first;
    sum.operations += work.operations;
  }
}

void RangeSweep::close_all() {
  while (depth_ > 0) close();
}

void RangeSweep::finish(Imported& imported) {
  for (; next_ != nullptr; next_ = ranges_.next()) open(*next_);
  close_all();
  for (const auto& [key, sum] : sums_) {
    const auto device = static_cast<std::int32_t>(static_cast<std::uint32_t>(key >> 32));
    Projection& all = imported.projections[{device, static_cast<LayerId>(key & UINT32_MAX)}];
    all.instances += sum.instances;
    all.span_ns += sum.span_ns;
    all.operations += sum.operations;
  }
  sums_.clear();
}

std::map<std::uint32_t, std::uint64_t> outer_ranges(SweptRanges& ranges) {
  std::map<std::uint32_t, std::uint64_t> counts;
  std::vector<std::uint64_t> ends;  // of those that are open
  std::uint32_t thread = 0;
  for (const SweptRange* range = ranges.first(); range != nullptr; range = ranges.next()) {
    if (range->thread != thread) ends.clear();
    thread = range->thread;
    while (!ends.empty() && ends.back() <= range->start_ns) ends.pop_back();
    if (ends.size() < 2) ++counts[range->name];
    ends.push_back(range->end_ns);
  }
  return counts;
}

}  // namespace gable
