// SPDX-License-Identifier: Apache-2.0
#include "analysis/recorder/recording_calls.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analysis/recording/recording.h"

namespace gable {
namespace {

constexpr std::uint64_t kUsualHostNs = 2000;  // of a call, where nothing is said

std::string thread_text(std::uint16_t thread) {
  return thread == 0 ? std::string() : ",\"thread\":" + std::to_string(thread);
}

// Where nothing is said, a recording means pinned memory.
std::string host_text(const RunRecorder::Call& call) {
  const bool with_host =
      call.copy == CopyKind::host_to_device || call.copy == CopyKind::device_to_host;
  if (!with_host || call.host == HostMemory::pinned) return {};
  const auto word = word_of(call.host);
  return ",\"host\":\"" + std::string(word.empty() ? "unknown" : word) + "\"";
}

constexpr std::string_view kCtas = "sm__ctas_launched.sum";

}  // namespace

RecordingCalls::RecordingCalls(const RunRecorder& run, const Profile::State& profile)
    : run_(run), profile_(profile), calls_(run.calls()), metrics_(run.metrics()) {
  gather_graphs();
  number_streams();
  pair_samples();
  for (const Call& call : calls_) {
    if (call.kind == RunRecorder::CallKind::copy &&
        (call.end_ns == 0 || recorded_copy(call.copy).empty()))
      ++unsaid_copies_;
  }
}

// A window's samples of a kind are in the order of its launches. If one is missing, it is unknown
// whose.
void RecordingCalls::pair_samples() {
  own_.resize(calls_.size());
  std::map<std::pair<WindowId, std::uint32_t>, std::vector<std::size_t>> launches;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].kind == RunRecorder::CallKind::launch && calls_[i].window != kNoWindow)
      launches[{calls_[i].window, calls_[i].what}].push_back(i);
  }
  for (const auto& [id, window] : run_.windows()) {
    std::map<std::uint32_t, std::vector<std::size_t>> samples;
    for (const auto& sample : window.samples) samples[sample.kind].push_back(sample.first);
    for (const auto& [kind, places] : samples) {
      const auto of = launches.find({id, kind});
      if (of == launches.end() || of->second.size() != places.size()) continue;
      for (std::size_t i = 0; i < places.size(); ++i)
        own_[of->second[i]] = {window.metrics, places[i]};
    }
  }
}

// Records say in which order a graph's kernels ran; without any, its shape says which there are.
void RecordingCalls::gather_graphs() {
  std::map<std::string, std::uint32_t> wholes;
  for (std::size_t i = 0; i < run_.kinds().size(); ++i) {
    const auto& key = run_.kinds()[i].key;
    if (key.block.x == 0)
      wholes[profile_.functions.symbol(key.function)] = static_cast<std::uint32_t>(i);
  }
  std::map<std::uint32_t, std::vector<Member>> recorded;
  for (const auto& kernel : run_.graph_kernels())
    recorded[kernel.graph].push_back({kernel.kind, 1});
  for (const Call& call : calls_) {
    if (call.kind != RunRecorder::CallKind::graph || graphs_.count(call.what) != 0) continue;
    auto& members = graphs_[call.what];
    members = recorded[call.what];
    if (const auto whole = wholes.find(graph_symbol(call.what)); whole != wholes.end())
      whole_[call.what] = whole->second;
    const auto* known = profile_.graphs.find(call.what);
    if (!members.empty() || known == nullptr) continue;
    for (const auto& each : known->shape.known) {
      if (const auto kind = run_.find_kind(each.key)) members.push_back({*kind, each.count});
    }
  }
}

const std::vector<LayerId>& RecordingCalls::path(LayerId layer) const {
  const auto [known, fresh] = paths_.try_emplace(layer);
  auto& path = known->second;
  if (!fresh) return path;
  for (; layer != 0; layer = profile_.layers.node(layer).parent) path.push_back(layer);
  std::reverse(path.begin(), path.end());
  return path;
}

void RecordingCalls::leave(Open& open, std::uint16_t thread, std::size_t keep, std::string& text) {
  auto& mine = open[thread];
  for (; mine.size() > keep; mine.pop_back())
    text += "{\"op\":\"pop\"" + thread_text(thread) + "}\n";
}

// Closes and opens ranges on the thread until exactly `layer` is open. If `layer` is the root, no
// other thread's range may be open either: a launch would be assigned to it.
void RecordingCalls::enter(Open& open, std::uint16_t thread, LayerId layer,
                           std::string& text) const {
  const auto& wanted = path(layer);
  if (wanted.empty()) {
    for (auto& [other, layers] : open) {
      if (other != thread) leave(open, other, 0, text);
    }
  }
  auto& mine = open[thread];
  std::size_t same = 0;
  while (same < mine.size() && same < wanted.size() && mine[same] == wanted[same]) ++same;
  leave(open, thread, same, text);
  for (; same < wanted.size(); ++same) {
    const auto node = profile_.layers.node(wanted[same]);
    text += "{\"op\":\"push\",\"name\":" + quoted_text(node.name);
    if (node.direction != profile_.layers.node(node.parent).direction)
      text += ",\"direction\":\"" + to_string(node.direction) + "\"";
    text += thread_text(thread) + "}\n";
    mine.push_back(wanted[same]);
  }
}

// The innermost layer that all launches of the thread are in.
LayerId RecordingCalls::around(std::span<const Call> calls, std::uint16_t thread) const {
  std::optional<std::vector<LayerId>> common;
  for (const Call& call : calls) {
    if (call.kind != RunRecorder::CallKind::launch || call.thread != thread || call.inherited)
      continue;
    auto layers = path(run_.kinds()[call.what].key.layer);
    if (common) {
      const auto end = std::mismatch(common->begin(), common->end(), layers.begin(), layers.end());
      layers.erase(end.second, layers.end());
    }
    common = std::move(layers);
  }
  return !common || common->empty() ? 0 : common->back();
}

std::string RecordingCalls::own_counters(const Call& call) const {
  const Own& own = own_[static_cast<std::size_t>(&call - calls_.data())];
  if (own.metrics == nullptr) return {};
  const auto& kind = run_.kinds()[call.what];
  std::string text;
  for (std::size_t i = 0; i < own.metrics->size(); ++i) {
    const auto& metric = (*own.metrics)[i];
    const double value = run_.values()[own.first + i];
    const auto& all = kind.values.at(metric);
    if (all.known == 0 || (std::isfinite(value) && value == all.mean())) continue;
    text += (text.empty() ? "" : ",") + quoted_text(metric) + ":" +
            (std::isfinite(value) ? number_text(value) : "null");
  }
  return text.empty() ? text : ",\"counters\":{" + text + "}";
}

// For each call, when the first of those after it began.
std::vector<std::uint64_t> RecordingCalls::soonest_starts(std::span<const Call> calls) {
  std::vector<std::uint64_t> soonest(calls.size());
  auto first = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = calls.size(); i-- > 0;) {
    soonest[i] = first;
    if (calls[i].end_ns != 0) first = std::min(first, calls[i].start_ns);
  }
  return soonest;
}

// On the playback GPU a call ends its `host_ns` after the one before, and its work begins then, if
// the stream is free: so the time until the work began is said as the call's.
std::string RecordingCalls::step(std::span<const Call> calls, bool times, bool counters) {
  std::uint64_t base = 0, end = 0, last = 0;
  for (const Call& call : calls) {
    if (call.start_ns == 0) continue;
    if (base == 0) {
      base = call.start_ns;
      const auto window = run_.windows().find(call.window);
      if (window != run_.windows().end() && window->second.start_ns != 0) {
        base = window->second.start_ns;
        end = window->second.end_ns;
      }
    }
    last = std::max(last, call.start_ns);
  }
  // The GPU runs behind the program: all that is seen of it is moved into the window.
  if (end != 0 && last > end) base += last - end, end = last;
  std::uint64_t clock = base;
  const auto soonest = soonest_starts(calls);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> free;  // streams, from when on
  std::string text;
  Open open;
  std::set<std::uint32_t> contexts;
  std::map<std::uint16_t, LayerId> outer;  // by thread: what is around its launches
  for (const Call& call : calls) {
    const bool timed = times && call.end_ns != 0;
    if (call.kind == RunRecorder::CallKind::copy && (!timed || recorded_copy(call.copy).empty()))
      continue;
    if (call.kind == RunRecorder::CallKind::graph && graphs_.at(call.what).empty()) continue;
    std::string what;
    switch (call.kind) {
      case RunRecorder::CallKind::launch:
        if (call.inherited) leave(open, call.thread, 0, text);
        enter(open, call.inherited ? 0 : call.thread, run_.kinds()[call.what].key.layer, text);
        what = "{\"op\":\"launch\",\"kernel\":\"k" + std::to_string(call.what) + "\"";
        break;
      case RunRecorder::CallKind::graph:
        // Its kernels have the layers that they were captured in; what is open around its launch
        // is not known, but for what is around all of the step.
        if (open[call.thread].empty()) {
          const auto [known, fresh] = outer.try_emplace(call.thread, 0);
          if (fresh) known->second = around(calls, call.thread);
          enter(open, call.thread, known->second, text);
        }
        what = "{\"op\":\"graph_launch\",\"graph\":" + std::to_string(call.what);
        break;
      case RunRecorder::CallKind::copy:
        enter(open, call.thread, call.what, text);
        what = "{\"op\":\"copy\",\"kind\":\"" + std::string(recorded_copy(call.copy)) +
               "\",\"bytes\":" + std::to_string(call.bytes.value_or(0)) + host_text(call);
        break;
    }
    const Place at = place(call);
    contexts.insert(at.context);
    text += what + thread_text(call.thread);
    if (at.stream != 0) text += ",\"stream\":" + std::to_string(at.stream);
    if (at.context != 0) text += ",\"context\":" + std::to_string(at.context);
    if (timed) {
      // Behind the work before it a call may be early, and must be where a later one begins before.
      auto& stream = free[{at.context, at.stream}];
      const auto& next = soonest[static_cast<std::size_t>(&call - calls.data())];
      const auto when = call.start_ns > stream ? call.start_ns : std::min(call.start_ns, next);
      const auto host = when > clock ? when - clock : 0;
      clock += host;
      stream = std::max(stream, clock) + (call.end_ns - call.start_ns);
      if (host != kUsualHostNs) text += ",\"host_ns\":" + std::to_string(host);
      if (call.kind != RunRecorder::CallKind::graph)
        text += ",\"time_ns\":" + std::to_string(call.end_ns - call.start_ns);
    } else {
      clock += kUsualHostNs;
    }
    if (counters && call.kind == RunRecorder::CallKind::launch) text += own_counters(call);
    text += "}\n";
  }
  const bool timed = times && last != 0;
  if (timed && end > clock)
    text += "{\"op\":\"idle\",\"ns\":" + std::to_string(end - clock) + "}\n";
  for (auto& [thread, layers] : open) leave(open, thread, 0, text);
  if (timed) return text;
  // Its work must be over when a step begins whose times were taken.
  for (const auto context : contexts) {
    text += "{\"op\":\"sync\"";
    if (context != 0) text += ",\"context\":" + std::to_string(context);
    text += "}\n";
  }
  return text;
}

// --- On which device, context and stream a recording has a call.

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

// --- What stands before the operations of a recording: its header, devices, kernels and graphs.

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
    const auto& links = device.links;
    if (links.pcie != DeviceLinks::Pcie{}) line["pcie"] = {links.pcie.generation, links.pcie.width};
    if (links.pcie_max != links.pcie)
      line["pcie_max"] = {links.pcie_max.generation, links.pcie_max.width};
    if (links.nvlinks) line["nvlink"] = {*links.nvlinks, links.nvlink_version};
    text += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return text;
}

std::uint64_t RecordingCalls::time_of(std::uint32_t kind) const {
  const auto& of = run_.kinds()[kind];
  if (of.timed > 0) return (of.time_ns + of.timed / 2) / of.timed;
  const auto counted = of.values.find("gpu__time_duration.sum");
  if (counted == of.values.end() || counted->second.known == 0) return 0;
  const double mean = counted->second.mean();
  if (of.pushed && mean < kLongPushedRangeNs) return 0;
  return static_cast<std::uint64_t>(std::llround(mean));
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
  if (const KernelResources& takes = run_.kinds()[kind].resources; takes.registers > 0) {
    text += ",\"registers\":" + std::to_string(takes.registers);
    if (takes.shared_bytes > key.dynamic_shared)
      text += ",\"static_shared\":" + std::to_string(takes.shared_bytes - key.dynamic_shared);
  }
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
