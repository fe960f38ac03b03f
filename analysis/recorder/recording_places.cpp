// SPDX-License-Identifier: Apache-2.0
// On which device, context and stream a recording has a call.
#include <algorithm>

#include "analysis/recorder/recording_calls.h"

namespace gable {

// Context 0 is device 0's own; the stream that a context used first is its default one here.
void RecordingCalls::number_streams() {
  contexts_.push_back({0, 0});
  std::map<std::uint32_t, std::uint32_t> next;
  for (const Call& call : calls_) {
    const auto device = device_of(call);
    if (call.end_ns == 0 || call.kind == RunRecorder::CallKind::copy) {
      (void)context_of(0, device, true);
      continue;
    }
    const auto [place, fresh] = streams_.try_emplace({call.context, call.stream}, 0);
    if (fresh) place->second = next[call.context]++;
    (void)context_of(call.context, device, true);
  }
}

std::int32_t RecordingCalls::device_of(const Call& call) const {
  std::int32_t device = 0;
  if (call.kind == RunRecorder::CallKind::launch) {
    device = run_.kinds()[call.what].key.device;
  } else if (call.kind == RunRecorder::CallKind::copy) {
    device = call.end_ns == 0 ? 0 : static_cast<std::int32_t>(call.context);
  } else if (const auto& members = graphs_.at(call.what); !members.empty()) {
    device = run_.kinds()[members.front().kind].key.device;
  }
  return std::max(device, 0);
}

// `id` as CUPTI gives it, 0: some context of the device.
std::uint32_t RecordingCalls::context_of(std::uint32_t id, std::int32_t device, bool add) {
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    auto& known = contexts_[i];
    if (known.device != device || (id != 0 && known.id != 0 && known.id != id)) continue;
    if (add && known.id == 0) known.id = id;
    return static_cast<std::uint32_t>(i);
  }
  if (!add) return 0;
  contexts_.push_back({id, device});
  return static_cast<std::uint32_t>(contexts_.size() - 1);
}

// The place of a launch without a record is that of its kind's last one.
RecordingCalls::Place RecordingCalls::place(const Call& call) {
  std::pair<std::uint32_t, std::uint32_t> at{call.context, call.stream};
  if (call.kind == RunRecorder::CallKind::copy) return {context_of(0, device_of(call), false), 0};
  if (call.kind == RunRecorder::CallKind::launch && call.end_ns == 0) {
    const auto& kind = run_.kinds()[call.what];
    at = {kind.context, kind.stream};
  }
  const auto known = streams_.find(at);
  return {context_of(at.first, device_of(call), false),
          known != streams_.end() ? known->second : 0};
}

}  // namespace gable
