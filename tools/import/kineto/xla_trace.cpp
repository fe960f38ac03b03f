// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/xla_trace.h"

namespace gable {
namespace {

// Of these a file gets no more; newer profilers write more.
constexpr std::uint64_t kMostEvents = 1'000'000, kMostNewEvents = 5'000'000;

}  // namespace

void XlaTrace::name(const TraceEvent& event) {
  const std::string& text = event.xla.name;
  if (event.name == "process_name") {
    Place place{xla_place(text), 0};
    if (place.named.kind == XlaPlace::Kind::other) return;
    found_ = true;
    gpu_ = gpu_ || place.named.kind == XlaPlace::Kind::gpu;
    other_device_ = other_device_ || place.named.kind == XlaPlace::Kind::other_device;
    place.process = work_.number(place.named.process);
    places_[event.pid] = std::move(place);
  } else if (event.name == "thread_name") {
    lanes_[event.pid + '\n' + event.tid] = xla_lane(text);
  }
}

void XlaTrace::take(const TraceEvent& event) {
  ++events_;
  const auto found = places_.find(event.pid);
  if (found == places_.end() || !event.has_start) return;
  const Place& place = found->second;
  const XlaTimes times{event.start_ns,
                       event.start_ns + static_cast<std::int64_t>(event.duration_ns)};
  const std::string key = event.pid + '\n' + event.tid;
  if (place.named.kind == XlaPlace::Kind::host) {
    if (event.xla.correlation || event.xla.numbered_step || work_.asks_names())
      work_.host_event(place.process, work_.number(key), event.name, event.xla, times);
    return;
  }
  const auto lane = lanes_.find(key);
  if (place.named.kind != XlaPlace::Kind::gpu || lane == lanes_.end()) return;
  if (lane->second == XlaLane::steps) {
    work_.step(place.named.device, event.name, times);
  } else if (lane->second != XlaLane::other) {
    work_.gpu_work(lane->second, place.named.device, place.process, event.name, event.xla, times);
  }
}

void XlaTrace::finish(const std::string& file) {
  work_.finish({file, "a trace", other_device_ && !gpu_, {}, {}});
  if (events_ == kMostEvents || events_ == kMostNewEvents)
    imported_.notes.push_back("The trace has as many events as its profiler ever writes, " +
                              std::to_string(events_ / 1'000'000) +
                              " million: further ones are missing from it, and so are their times "
                              "here. Give the run's .xplane.pb file "
                              "with --xplane, which has them, or record fewer steps.");
}

}  // namespace gable
