// SPDX-License-Identifier: Apache-2.0
#include "tools/export/export_trace.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "analysis/base/text.h"

namespace gable {
namespace {

using Json = nlohmann::json;

constexpr int kHost = 1, kFirstGpu = 2;  // processes of the trace; each context is one

double us(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

Json named(const char* what, int process, std::int64_t thread, const std::string& name) {
  return {
      {"ph", "M"}, {"pid", process}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}};
}

Json slice(const TimelineEvent& event, int process, std::int64_t thread, const char* category) {
  return {{"ph", "X"},
          {"pid", process},
          {"tid", thread},
          {"cat", category},
          {"name", event.kind == TimelineEvent::Kind::kernel ? demangled(event.name) : event.name},
          {"ts", us(event.start_ns)},
          {"dur", us(event.end_ns - event.start_ns)}};
}

// An arrow starts within the call and ends at the start of its work.
Json arrow(const char* end, int process, std::int64_t thread, std::uint64_t link, double at) {
  Json event = {{"ph", end},        {"pid", process}, {"tid", thread}, {"cat", "launch"},
                {"name", "launch"}, {"id", link},     {"ts", at}};
  if (*end == 'f') event["bp"] = "e";
  return event;
}

}  // namespace

std::string export_trace(const Recording& recording, const Timeline& timeline) {
  Json events = Json::array();
  std::set<std::int32_t> threads;
  std::set<std::pair<std::uint32_t, std::uint32_t>> streams;
  std::set<std::uint64_t> linked;
  std::uint64_t ranges = 0;
  for (const TimelineEvent& event : timeline.events) {
    switch (event.kind) {
      case TimelineEvent::Kind::range:
        threads.insert(event.thread);
        if (event.across_threads) {
          const std::string id = std::to_string(++ranges);
          for (const auto& [phase, at] :
               {std::pair("b", event.start_ns), std::pair("e", event.end_ns)}) {
            events.push_back({{"ph", phase},
                              {"pid", kHost},
                              {"tid", event.thread},
                              {"cat", "range"},
                              {"name", event.name},
                              {"id", id},
                              {"ts", us(at)}});
          }
        } else {
          Json made = slice(event, kHost, event.thread, "layer");
          if (event.direction != Direction::none)
            made["args"] = {{"direction", std::string(to_string(event.direction))}};
          events.push_back(std::move(made));
        }
        break;
      case TimelineEvent::Kind::call:
        threads.insert(event.thread);
        events.push_back(slice(event, kHost, event.thread, "call"));
        if (event.link != 0)
          events.push_back(arrow("s", kHost, event.thread, event.link, us(event.start_ns)));
        break;
      case TimelineEvent::Kind::kernel:
      case TimelineEvent::Kind::copy: {
        const int process = kFirstGpu + static_cast<int>(event.context);
        streams.emplace(event.context, event.stream);
        const bool kernel = event.kind == TimelineEvent::Kind::kernel;
        Json made = slice(event, process, event.stream, kernel ? "kernel" : "copy");
        made["args"] = {{"layer", event.layer.empty() ? "(no layer)" : event.layer}};
        if (!kernel) made["args"]["bytes"] = event.bytes;
        events.push_back(std::move(made));
        // Of a graph's kernels the first has the arrow.
        if (linked.insert(event.link).second)
          events.push_back(arrow("f", process, event.stream, event.link, us(event.start_ns)));
      }
    }
  }
  events.push_back(named("process_name", kHost, 0, "host [playback]"));
  for (const std::int32_t thread : threads)
    events.push_back(named("thread_name", kHost, thread, "thread " + std::to_string(thread)));
  for (const auto& [context, stream] : streams) {
    const int process = kFirstGpu + static_cast<int>(context);
    events.push_back(
        named("process_name", process, 0,
              "GPU [playback]" + (context == 0 ? "" : ", context " + std::to_string(context))));
    events.push_back(named("thread_name", process, stream, "stream " + std::to_string(stream)));
  }
  const Json trace = {{"traceEvents", std::move(events)},
                      {"displayTimeUnit", "ns"},
                      {"otherData",
                       {{"source", "playback"},
                        {"origin", recording.origin},
                        {"note", recording.note},
                        {"complete", timeline.cut ? "no" : "yes"}}}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gable
