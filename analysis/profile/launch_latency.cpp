// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/launch_latency.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace gable {

void LaunchLatency::add_call(std::uint32_t correlation, std::uint64_t entered_ns) {
  if (correlation != 0 && entered_.size() + launches_.size() < kMaxCalls)
    entered_[correlation] = entered_ns;
}

void LaunchLatency::start(const KernelRecord& record) {
  const auto call = entered_.find(record.correlation);
  if (call == entered_.end()) return;
  if (record.start_ns >= call->second && record.end_ns >= record.start_ns)
    launches_.push_back({call->second, record.start_ns, record.device});
  entered_.erase(call);
}

void LaunchLatency::add_copy(const CopyRecord& record) {
  if (copies_.size() <= kMaxCopies)
    copies_.push_back({record.start_ns, record.end_ns, record.device});
}

void LaunchLatency::finish(const std::vector<HeldRecord>& records, const KeyTable& keys,
                           Moments& latency) {
  if (copies_.size() > kMaxCopies) return;
  const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  std::sort(launches_.begin(), launches_.end(), by_start);
  std::map<std::int32_t, std::uint64_t> busy_until;  // by device, of what started before
  std::uint64_t anywhere = 0;                        // the same of kernels whose device was folded
  auto record = records.begin();
  for (const Launch& launch : launches_) {
    for (; record != records.end() && record->start < launch.start_ns; ++record) {
      auto& until =
          record->key == kOtherKey ? anywhere : busy_until[keys.row(record->key).key.device];
      until = std::max(until, record->end);
    }
    const bool copied = std::any_of(copies_.begin(), copies_.end(), [&](const Copy& copy) {
      return copy.device == launch.device && copy.start_ns < launch.start_ns &&
             copy.end_ns > launch.entered_ns;
    });
    if (!copied && std::max(busy_until[launch.device], anywhere) <= launch.entered_ns)
      latency.add(launch.start_ns - launch.entered_ns);
  }
}

void add_launch_latencies(const StepRecord& record, Moments& latency) {
  const RecordedSteps& steps = record.steps;
  if (steps.borders.size() < 2) return;
  struct Running {
    std::uint64_t start_ns = 0, end_ns = 0;
    std::int32_t device = 0;
  };
  std::vector<Running> running;
  std::unordered_map<std::uint32_t, const RecordedOperation*> of_call;
  for (const RecordedOperation& operation : steps.operations) {
    running.push_back(
        {operation.start_ns, operation.end_ns, record.work[operation.key].key.device});
    if (operation.kind == OperationKind::kernel && operation.graph_node == 0)
      of_call.emplace(operation.correlation, &operation);
  }
  struct Found {
    std::uint64_t entered_ns = 0, start_ns = 0;
    std::int32_t device = 0;
  };
  std::vector<Found> found;
  std::set<std::pair<std::uint32_t, std::uint64_t>> waiting;  // streams, for more than the launch
  for (std::size_t i = 0; i < steps.calls.size(); ++i) {
    const RecordedCall& call = steps.calls[i];
    const std::pair stream(call.context, call.stream);
    if (call.kind == RecordedCallKind::stream_wait || call.kind == RecordedCallKind::host_function)
      waiting.insert(stream);
    if (call.kind != RecordedCallKind::launch) continue;
    const bool waits = waiting.erase(stream) > 0;
    const auto operation = of_call.find(call.correlation);
    if (waits || i < steps.borders[1] || operation == of_call.end()) continue;
    const RecordedOperation& kernel = *operation->second;
    if (kernel.start_ns >= call.enter_ns)
      found.push_back({call.enter_ns, kernel.start_ns, record.work[kernel.key].key.device});
  }
  const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
  std::sort(running.begin(), running.end(), by_start);
  std::sort(found.begin(), found.end(), by_start);
  std::map<std::int32_t, std::uint64_t> busy_until;
  auto before = running.begin();
  for (const Found& launch : found) {
    for (; before != running.end() && before->start_ns < launch.start_ns; ++before) {
      std::uint64_t& until = busy_until[before->device];
      until = std::max(until, before->end_ns);
    }
    if (busy_until[launch.device] <= launch.entered_ns)
      latency.add(launch.start_ns - launch.entered_ns);
  }
}

}  // namespace gable
