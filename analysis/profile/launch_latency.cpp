// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/launch_latency.h"

#include <algorithm>
#include <map>

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

}  // namespace gable
