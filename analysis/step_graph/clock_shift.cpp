// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_graph/clock_shift.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gable {
namespace {

// What is further off is another operation's record, not a clock.
constexpr std::int64_t kFarthest = 100'000;

struct Bounds {
  std::int64_t least = -kFarthest, most = kFarthest;
  void at_least(std::int64_t shift) {
    if (shift <= kFarthest) least = std::max(least, shift);
  }
  void at_most(std::int64_t shift) {
    if (shift >= -kFarthest) most = std::min(most, shift);
  }
  [[nodiscard]] ClockShift shift() const {
    if (least <= most) return {std::clamp<std::int64_t>(0, least, most), 0};
    return {(least + most) / 2, static_cast<std::uint64_t>(least - most + 1) / 2};
  }
};

std::int64_t from_to(std::uint64_t from, std::uint64_t to) {
  return static_cast<std::int64_t>(to - from);
}

class Clocks {
 public:
  Clocks(const RecordedSteps& steps, const std::vector<std::int32_t>& devices)
      : steps_(steps), devices_(devices) {
    for (std::size_t i = 0; i < steps.operations.size(); ++i)
      by_call_[steps.operations[i].correlation].push_back(i);
  }

  std::map<std::int32_t, ClockShift> shifts() {
    for (const std::int32_t device : devices_) bounds_.try_emplace(device);
    for (const RecordedCall& call : steps_.calls) take(call);
    std::map<std::int32_t, ClockShift> shifts;
    for (const auto& [device, bounds] : bounds_) shifts.emplace(device, bounds.shift());
    return shifts;
  }

 private:
  using StreamKey = std::pair<std::uint32_t, std::uint64_t>;
  struct End {  // the latest of a stream or context; 0: none
    std::uint64_t when = 0;
    std::int32_t device = 0;
    std::uint64_t called = 0;  // when the call had returned that launched it
  };

  // What another thread was still launching by then was not waited for.
  void wait(const RecordedCall& call, const End& end) {
    if (end.when > 0 && end.called <= call.enter_ns)
      bounds_[end.device].at_most(from_to(end.when, call.exit_ns));
  }

  void take(const RecordedCall& call) {
    End& stream = streams_[{call.context, call.stream}];
    switch (call.kind) {
      case RecordedCallKind::launch:
      case RecordedCallKind::graph_launch:
        return launch(call, stream);
      case RecordedCallKind::event_record:
        events_[call.event] = stream;
        events_[call.event].called = std::max(stream.called, call.exit_ns);
        return;
      case RecordedCallKind::stream_synchronize:
        return wait(call, stream);
      case RecordedCallKind::event_synchronize:
        if (const auto event = events_.find(call.event); event != events_.end())
          wait(call, event->second);
        return;
      case RecordedCallKind::context_synchronize:
        return wait(call, contexts_[call.context]);
      default:
        return;
    }
  }

  void launch(const RecordedCall& call, End& stream) {
    const auto own = by_call_.find(call.correlation);
    if (own == by_call_.end()) return;
    for (const std::size_t i : own->second) {
      const RecordedOperation& operation = steps_.operations[i];
      for (End* end : {&stream, &contexts_[call.context]})
        if (operation.end_ns > end->when) *end = {operation.end_ns, devices_[i], call.exit_ns};
      bounds_[devices_[i]].at_least(from_to(operation.start_ns, call.enter_ns));
      const bool holds_up = operation.kind == OperationKind::copy && !operation.asynchronous &&
                            operation.way == CopyWay::device_to_host;
      if (holds_up) bounds_[devices_[i]].at_most(from_to(operation.end_ns, call.exit_ns));
    }
  }

  const RecordedSteps& steps_;
  const std::vector<std::int32_t>& devices_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_call_;
  std::map<StreamKey, End> streams_;
  std::unordered_map<std::uint32_t, End> contexts_;
  std::unordered_map<std::uint64_t, End> events_;
  std::map<std::int32_t, Bounds> bounds_;
};

}  // namespace

std::map<std::int32_t, ClockShift> clock_shifts(const RecordedSteps& steps,
                                                const std::vector<std::int32_t>& devices) {
  return Clocks(steps, devices).shifts();
}

std::uint64_t shift_clocks(RecordedSteps& steps, const std::vector<std::int32_t>& devices) {
  const auto shifts = clock_shifts(steps, devices);
  std::uint64_t error = 0;
  for (const auto& [device, shift] : shifts) error = std::max(error, shift.error_ns);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    RecordedOperation& operation = steps.operations[i];
    if (operation.end_ns == 0) continue;
    const std::int64_t shift = shifts.at(devices[i]).add_ns;
    for (std::uint64_t* time : {&operation.start_ns, &operation.end_ns}) {
      if (shift >= 0)
        *time += static_cast<std::uint64_t>(shift);
      else
        *time -= std::min(*time, static_cast<std::uint64_t>(-shift));
    }
  }
  return error;
}

std::uint64_t rounding_error_ns(const RecordedSteps& steps) {
  const auto whole = [](std::uint64_t start, std::uint64_t end) {
    return start % 1000 == 0 && end % 1000 == 0;
  };
  const bool calls =
      std::all_of(steps.calls.begin(), steps.calls.end(),
                  [&](const RecordedCall& call) { return whole(call.enter_ns, call.exit_ns); });
  const bool operations =
      std::all_of(steps.operations.begin(), steps.operations.end(),
                  [&](const RecordedOperation& each) { return whole(each.start_ns, each.end_ns); });
  return calls && operations ? 2000 : 0;
}

}  // namespace gable
