// SPDX-License-Identifier: Apache-2.0
// What stands before the operations of a recording: its header, devices, kernels and graphs.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/recorder/recording_calls.h"

namespace gable {
namespace {

constexpr std::string_view kCtas = "sm__ctas_launched.sum";

}  // namespace

std::string quoted_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number_text(double value) {
  const bool whole = std::abs(value) < 9e15 && value == std::floor(value);
  return whole ? std::to_string(static_cast<std::int64_t>(value)) : nlohmann::json(value).dump();
}

std::string RecordingCalls::header(const std::string& origin, const std::string& note) const {
  std::string metrics;
  for (const auto& metric : metrics_) metrics += (metrics.empty() ? "" : ",") + quoted_text(metric);
  return "{\"gable_recording\":1,\"origin\":" + quoted_text(origin) +
         ",\"note\":" + quoted_text(note) + ",\"metrics\":[" + metrics + "]}\n";
}

std::string RecordingCalls::devices() const {
  std::string text;
  for (const auto& [id, device] : profile_.devices) {
    nlohmann::ordered_json line;
    line["device"] = id;
    line["name"] = device.name;
    line["chip"] = device.chip;
    line["compute_capability"] = {device.compute_major, device.compute_minor};
    line["sm_count"] = device.sm_count;
    line["sm_clock_max_hz"] = device.sm_clock_max_hz;
    line["memory_clock_max_hz"] = device.memory_clock_max_hz;
    line["memory_bus_bits"] = device.memory_bus_bits;
    line["memory_bytes"] = device.memory_bytes;
    line["l2_bytes"] = device.l2_bytes;
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return text;
}

std::uint64_t RecordingCalls::time_of(std::uint32_t kind) const {
  const auto& of = run_.kinds()[kind];
  if (of.timed > 0) return (of.time_ns + of.timed / 2) / of.timed;
  const auto counted = of.values.find("gpu__time_duration.sum");
  if (counted == of.values.end() || counted->second.known == 0) return 0;
  return static_cast<std::uint64_t>(
      std::llround(counted->second.sum / static_cast<double>(counted->second.known)));
}

std::uint64_t RecordingCalls::untimed() const {
  std::set<std::uint32_t> kinds;
  for (const Call& call : calls_) {
    if (call.kind == RunRecorder::CallKind::launch && time_of(call.what) == 0)
      kinds.insert(call.what);
  }
  return kinds.size();
}

std::string RecordingCalls::kernel(std::uint32_t kind, const std::string& id,
                                   const RunRecorder::Kind& values) const {
  const LaunchKey& key = run_.kinds()[kind].key;
  const auto dim = [](const char* name, const Dim3& d) {
    return std::string(",\"") + name + "\":[" + std::to_string(d.x) + "," + std::to_string(d.y) +
           "," + std::to_string(d.z) + "]";
  };
  std::string text = "{\"kernel\":\"" + id +
                     "\",\"name\":" + quoted_text(profile_.functions.symbol(key.function)) +
                     dim("grid", key.grid) + dim("block", key.block);
  if (key.cluster.count() != 1) text += dim("cluster", key.cluster);
  if (key.dynamic_shared != 0) text += ",\"dynamic_shared\":" + std::to_string(key.dynamic_shared);
  if (const auto ns = time_of(kind); ns != 0) text += ",\"time_ns\":" + std::to_string(ns);
  std::string counters, unknown;
  std::size_t unknowns = 0;
  for (const std::string& metric : metrics_) {
    const auto found = values.values.find(metric);
    if (found == values.values.end() || found->second.known == 0) {
      if (metric == kCtas) continue;  // the grid says it
      unknown += (unknown.empty() ? "" : ",") + quoted_text(metric);
      ++unknowns;
      continue;
    }
    const double value = found->second.mean();
    const bool usual = metric == kCtas ? value == static_cast<double>(key.grid.count())
                                       : value == 0 && metric != "gpu__time_duration.sum" &&
                                             metric != "sm__cycles_elapsed.avg";
    if (!usual)
      counters += (counters.empty() ? "" : ",") + quoted_text(metric) + ":" + number_text(value);
  }
  if (!counters.empty()) text += ",\"counters\":{" + counters + "}";
  if (unknowns > 0)
    text += ",\"unknown\":[" + (counters.empty() ? std::string("\"*\"") : unknown) + "]";
  return text + "}\n";
}

std::string RecordingCalls::kernels(std::span<const Call> calls) const {
  std::set<std::uint32_t> kinds, graphs;
  for (const Call& call : calls) {
    if (call.kind == RunRecorder::CallKind::launch) kinds.insert(call.what);
    if (call.kind == RunRecorder::CallKind::graph) graphs.insert(call.what);
  }
  std::string text;
  for (const auto kind : kinds)
    text += kernel(kind, "k" + std::to_string(kind), run_.kinds()[kind]);
  // CUPTI counts a graph as a whole: what it counted stands at its first kernel.
  for (const auto graph : graphs) {
    const auto& members = graphs_.at(graph);
    const auto whole = whole_.find(graph);
    for (std::size_t i = 0; i < members.size(); ++i) {
      RunRecorder::Kind values;
      if (whole != whole_.end()) {
        values.values = run_.kinds()[whole->second].values;
        values.values.erase(std::string(kCtas));
        if (i > 0)
          for (auto& [metric, value] : values.values) value = {0, 0, value.known, false};
      }
      text +=
          kernel(members[i].kind, "g" + std::to_string(graph) + "_" + std::to_string(i), values);
    }
  }
  return text;
}

std::string RecordingCalls::preparations(std::span<const Call> calls) {
  std::set<std::uint32_t> graphs;
  for (const Call& call : calls)
    if (call.kind == RunRecorder::CallKind::graph) graphs.insert(call.what);
  std::string text;
  for (std::size_t i = 1; i < contexts_.size(); ++i) {
    text += "{\"op\":\"context\",\"context\":" + std::to_string(i) +
            ",\"device\":" + std::to_string(contexts_[i].device) + "}\n";
  }
  for (const auto graph : graphs) {
    const auto& members = graphs_.at(graph);
    if (members.empty()) continue;
    const auto device = run_.kinds()[members.front().kind].key.device;
    const auto context = context_of(0, std::max(device, 0), false);
    const std::string where =
        ",\"stream\":1" + (context > 0 ? ",\"context\":" + std::to_string(context) : std::string());
    Open open;
    text += "{\"op\":\"capture_begin\"" + where + "}\n";
    for (std::size_t i = 0; i < members.size(); ++i) {
      enter(open, 0, run_.kinds()[members[i].kind].key.layer, text);
      for (std::uint32_t n = 0; n < members[i].count; ++n) {
        text += "{\"op\":\"launch\",\"kernel\":\"g" + std::to_string(graph) + "_" +
                std::to_string(i) + "\"" + where + "}\n";
      }
    }
    leave(open, 0, 0, text);
    text += "{\"op\":\"capture_end\"" + where + ",\"graph\":" + std::to_string(graph) + "}\n";
  }
  return text;
}

}  // namespace gable
