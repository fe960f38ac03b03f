// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/step_times.h"

#include <algorithm>
#include <map>

namespace gable {
namespace {

// A step, its neighbours, and one that is still to come between them.
constexpr std::size_t kMaxHeld = 4;

// The stream with most kernel time; of equal ones that which begins first.
std::uint32_t main_stream(const std::vector<HeldRecord>& records) {
  std::map<std::uint32_t, std::uint64_t> times;
  for (const HeldRecord& record : records) times[record.stream] += record.end - record.start;
  std::uint32_t most = records.front().stream;
  for (const HeldRecord& record : records) {
    if (times[record.stream] > times[most]) most = record.stream;
  }
  return most;
}

std::optional<std::uint64_t> first_start(const std::vector<HeldRecord>& records,
                                         std::uint32_t stream) {
  const auto first =
      std::find_if(records.begin(), records.end(),
                   [stream](const HeldRecord& record) { return record.stream == stream; });
  return first == records.end() ? std::nullopt : std::optional(first->start);
}

}  // namespace

std::optional<StepTime> StepTimes::measure(const TimedStep* before, const TimedStep& step,
                                           const TimedStep* next) const {
  const std::uint32_t stream = main_stream(step.records);
  const std::uint64_t start = *first_start(step.records, stream);
  std::uint64_t end = 0;
  if (next != nullptr) {
    // A program that takes another stream for every step has none to compare.
    end = first_start(next->records, stream).value_or(next->records.front().start);
  } else {
    for (const HeldRecord& record : step.records) end = std::max(end, record.end);
  }
  if (end <= start) return std::nullopt;

  std::vector<Interval> busy;
  const auto add = [&](std::uint64_t from, std::uint64_t to) {
    from = std::max(from, start);
    to = std::min(to, end);
    if (from < to) busy.emplace_back(from, to);
  };
  for (const TimedStep* each : {before, &step, next}) {
    if (each == nullptr) continue;
    for (const HeldRecord& record : each->records) add(record.start, record.end);
  }
  for (const auto& [from, to] : outside_) add(from, to);
  std::sort(busy.begin(), busy.end());
  std::uint64_t busy_ns = 0, last = start;
  for (const auto& [from, to] : busy) {
    if (to <= last) continue;
    busy_ns += to - std::max(from, last);
    last = to;
  }

  return StepTime{end - start, end - start - busy_ns};
}

void StepTimes::add(TimedStep step, const Measured& measured) {
  if (step.records.empty()) return;
  if (step.apart) {
    if (step.reach) return;
    if (const auto time = measure(nullptr, step, nullptr)) measured(step, *time);
    return;
  }
  if (step.step == 0) return;
  const auto after = std::find_if(held_.begin(), held_.end(),
                                  [&step](const Held& each) { return each.step.step > step.step; });
  const bool reach = step.reach;
  held_.insert(after, Held{std::move(step), reach});
  for (std::size_t i = 0; i + 1 < held_.size(); ++i) {
    const TimedStep& next = held_[i + 1].step;
    if (held_[i].measured || next.changed || next.step != held_[i].step.step + 1) continue;
    const bool follows = i > 0 && held_[i - 1].step.step + 1 == held_[i].step.step;
    held_[i].measured = true;
    const auto time = measure(follows ? &held_[i - 1].step : nullptr, held_[i].step, &next);
    if (time) measured(held_[i].step, *time);
  }
  forget();
}

void StepTimes::add_outside(std::uint64_t start_ns, std::uint64_t end_ns) {
  if (outside_.size() >= kMaxOutside) outside_.pop_front();
  outside_.emplace_back(start_ns, end_ns);
}

void StepTimes::forget() {
  std::size_t records = 0;
  for (const Held& each : held_) records += each.step.records.size();
  while (held_.size() > kMaxHeld || (held_.size() > 1 && records > max_records_)) {
    records -= held_.front().step.records.size();
    held_.pop_front();
  }
  // Those from before the oldest step are in no step that is still to be measured.
  const std::uint64_t oldest = held_.front().step.records.front().start;
  while (!outside_.empty() && outside_.front().second < oldest) outside_.pop_front();
}

}  // namespace gable
