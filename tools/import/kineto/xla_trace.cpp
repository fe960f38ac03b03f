// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/xla_trace.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr std::size_t kLongestName = 4096;
constexpr std::uint64_t kMostEvents = 1'000'000;  // that a file gets

// "grid:128,1,1 block:256,1,1 regs:32": what stands behind the key.
std::string_view detail(std::string_view details, std::string_view key) {
  for (std::size_t at = 0; at < details.size();) {
    const std::size_t end = std::min(details.find_first_of(" \n", at), details.size());
    const std::string_view word = details.substr(at, end - at);
    if (word.starts_with(key) && word.size() > key.size() && word[key.size()] == ':')
      return word.substr(key.size() + 1);
    at = end + 1;
  }
  return {};
}

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc() && stop == text.data() + text.size();
  return whole && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<Dim3> size(std::string_view text) {
  std::array<std::uint32_t, 3> parts{};
  for (std::uint32_t& part : parts) {
    const auto comma = text.find(',');
    const auto value = number(text.substr(0, comma), UINT32_MAX);
    if (!value || *value == 0) return std::nullopt;
    part = static_cast<std::uint32_t>(*value);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return Dim3{parts[0], parts[1], parts[2]};
}

bool is_copy(const TraceEvent& event) {
  const std::string_view name = event.name;
  if (!event.xla.kernel.empty()) return false;
  return !event.xla.copy.empty() || name.starts_with("Memcpy") || name.starts_with("Memset") ||
         name.starts_with("CopyDevice") || name.starts_with("CopyHost");
}

CopyKind kind_of_copy(std::string_view name) {
  const auto holds = [name](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  };
  if (holds("emset")) return CopyKind::memset;
  if (holds("H2D") || holds("HostToDevice")) return CopyKind::host_to_device;
  if (holds("D2H") || holds("DeviceToHost")) return CopyKind::device_to_host;
  if (holds("D2D") || holds("DeviceToDevice")) return CopyKind::device_to_device;
  if (holds("P2P") || holds("PeerToPeer")) return CopyKind::peer;
  return CopyKind::other;
}

HostMemory host_memory(std::string_view details, CopyKind kind) {
  const bool from = kind == CopyKind::host_to_device;
  if (!from && kind != CopyKind::device_to_host) return HostMemory::unknown;
  const std::string_view memory = detail(details, from ? "kind_src" : "kind_dst");
  if (memory == "pageable") return HostMemory::pageable;
  if (memory == "pinned") return HostMemory::pinned;
  if (memory.starts_with("managed")) return HostMemory::managed;
  return HostMemory::unknown;
}

// "jit(step)/jit(main)/transpose(jvp(MLP))/Dense_0/dot_general[…]": MLP, Dense_0, dot_general.
// What transforms a function is around its name.
std::vector<std::string_view> parts_of(std::string_view scope) {
  scope = scope.substr(0, scope.find_first_of("[;"));
  std::vector<std::string_view> parts;
  bool first = true;
  while (!scope.empty()) {
    const auto slash = scope.find('/');
    std::string_view part = scope.substr(0, slash);
    scope = slash == std::string_view::npos ? std::string_view() : scope.substr(slash + 1);
    const bool function = part.starts_with("jit(") || part.starts_with("pjit(");
    for (auto open = part.find('('); open != std::string_view::npos && part.ends_with(')');
         open = part.find('('))
      part = part.substr(open + 1, part.size() - open - 2);
    // The program's own name is that of its module.
    const bool program = function && (first || part == "main");
    first = first && program;
    if (!part.empty() && !program) parts.push_back(part);
  }
  return parts;
}

}  // namespace

void XlaTrace::name(const TraceEvent& event) {
  const std::string_view text = event.xla.name;
  if (event.name == "process_name") {
    constexpr std::string_view kGpu = "/device:GPU:";
    const auto at = text.find(kGpu);
    found_ = found_ || text.find("/device:") != std::string_view::npos ||
             text.find("/host:") != std::string_view::npos;
    if (at == std::string_view::npos) {
      other_device_ = other_device_ || text.find("/device:") != std::string_view::npos;
      return;
    }
    std::string_view id = text.substr(at + kGpu.size());
    id = id.substr(0, id.find_first_not_of("0123456789"));
    if (const auto device = number(id, 1u << 20))
      devices_[event.pid] = static_cast<std::int32_t>(*device);
  } else if (event.name == "thread_name" && devices_.contains(event.pid)) {
    // Other lanes have the same time again, by operators and modules.
    const Lane lane = text.starts_with("Stream #") ? Lane::stream
                      : text == "Steps"            ? Lane::steps
                                                   : Lane::other;
    lanes_[event.pid + '\n' + event.tid] = lane;
  }
}

void XlaTrace::take(const TraceEvent& event) {
  ++events_;
  const auto device = devices_.find(event.pid);
  if (device == devices_.end() || !event.has_start) return;
  const auto lane = lanes_.find(event.pid + '\n' + event.tid);
  if (lane == lanes_.end() || lane->second == Lane::other) return;
  const std::pair times(event.start_ns,
                        event.start_ns + static_cast<std::int64_t>(event.duration_ns));
  if (lane->second == Lane::steps) {
    steps_[device->second].push_back(times);
    return;
  }
  if (is_copy(event))
    take_copy(event, device->second);
  else
    take_kernel(event, device->second);
}

void XlaTrace::take_kernel(const TraceEvent& event, std::int32_t device) {
  ImportedKernel kernel;
  kernel.function = imported_.functions.intern(event.name.empty() ? "(unnamed)" : event.name);
  LaunchShape shape;
  const auto grid = size(detail(event.xla.kernel, "grid"));
  const auto block = size(detail(event.xla.kernel, "block"));
  if (grid && block) {
    shape.grid = *grid;
    shape.block = *block;
  }
  kernel.shape = imported_.shapes.intern(shape);
  const auto registers = number(detail(event.xla.kernel, "regs"), 255);
  const auto fixed = number(detail(event.xla.kernel, "static_shared"), INT32_MAX / 2);
  const auto dynamic = number(detail(event.xla.kernel, "dynamic_shared"), INT32_MAX / 2);
  if (registers && fixed && dynamic)
    imported_.resources.tell(
        kernel.function, kernel.shape,
        {static_cast<std::uint32_t>(*registers), static_cast<std::uint32_t>(*fixed + *dynamic)});
  kernel.device = device;
  kernel.layer = layer_of(event);
  kernel.start_ns = static_cast<std::uint64_t>(event.start_ns);
  kernel.end_ns = kernel.start_ns + event.duration_ns;
  kernels_.push_back(kernel);
}

void XlaTrace::take_copy(const TraceEvent& event, std::int32_t device) {
  ImportedCopy copy;
  copy.record.device = device;
  copy.record.kind = kind_of_copy(event.name);
  std::string_view bytes = detail(event.xla.copy, "size");
  if (bytes.empty()) bytes = detail(event.xla.copy, "num_bytes");
  if (const auto size = number(bytes, INT64_MAX)) copy.record.bytes = *size;
  copy.record.host = host_memory(event.xla.copy, copy.record.kind);
  copy.layer = layer_of(event);
  copy.placed = true;
  copy.record.start_ns = static_cast<std::uint64_t>(event.start_ns);
  copy.record.end_ns = copy.record.start_ns + event.duration_ns;
  copies_.push_back(copy);
}

LayerId XlaTrace::layer_of(const TraceEvent& event) {
  const TraceXla& xla = event.xla;
  // "XlaModule:" stands for no operator of TensorFlow.
  std::string_view scope = xla.name;
  if (scope.empty() && !xla.tf_op.starts_with("XlaModule"))
    scope = std::string_view(xla.tf_op).substr(0, xla.tf_op.rfind(':'));
  std::string key = xla.hlo_module + '\n' + std::string(scope) + '\n' + xla.hlo_op;
  const auto [known, fresh] = layers_.try_emplace(std::move(key), 0);
  if (!fresh) return known->second;
  const Direction direction = scope.find("transpose(") != std::string_view::npos
                                  ? Direction::backward
                              : scope.find("jvp(") != std::string_view::npos ? Direction::forward
                                                                             : Direction::none;
  LayerId layer = 0;
  const auto add = [&](std::string_view name, Direction way) {
    if (!name.empty())
      layer = imported_.layers.child(layer, std::string(name.substr(0, kLongestName)), way);
  };
  add(xla.hlo_module, Direction::none);
  for (const std::string_view part : parts_of(scope)) add(part, direction);
  add(xla.hlo_op, direction);
  known->second = layer;
  return layer;
}

void XlaTrace::finish(const std::string& file) {
  if (kernels_.empty())
    throw WrongUse(file + " is a trace of JAX's or TensorFlow's profiler with no GPU lane: " +
                   (other_device_ && devices_.empty() ? "it is of another kind of device."
                                                      : "nothing ran on a GPU while it was "
                                                        "recorded, or only the host was traced."));
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  if (!steps_.empty()) steps = steps_.begin()->second;
  std::sort(steps.begin(), steps.end());
  // Times may lie before the zero of the trace; 0 stands for an unknown one elsewhere.
  std::int64_t earliest = 1;
  const auto see = [&](std::uint64_t start) {
    earliest = std::min(earliest, static_cast<std::int64_t>(start));
  };
  for (const ImportedKernel& kernel : kernels_) see(kernel.start_ns);
  for (const ImportedCopy& copy : copies_) see(copy.record.start_ns);
  for (const auto& [start, end] : steps) earliest = std::min(earliest, start);
  const auto moved = [earliest](auto time) {
    return static_cast<std::uint64_t>(time) + 1 - static_cast<std::uint64_t>(earliest);
  };
  const auto step_of = [&](std::uint64_t start) -> std::uint32_t {
    const auto when = static_cast<std::int64_t>(start);
    const auto behind = std::upper_bound(steps.begin(), steps.end(), std::pair(when, INT64_MAX));
    if (behind == steps.begin() || std::prev(behind)->second <= when) return 0;
    return static_cast<std::uint32_t>(behind - steps.begin());
  };
  if (!steps.empty() && !imported_.steps.empty())
    throw WrongUse(file +
                   " has steps of its own, and so has a file before it: import each by itself.");
  for (const auto& [start, end] : steps) imported_.steps.push_back({moved(start), moved(end)});
  for (ImportedKernel& kernel : kernels_) {
    kernel.step = step_of(kernel.start_ns);
    kernel.start_ns = moved(kernel.start_ns);
    kernel.end_ns = moved(kernel.end_ns);
    imported_.kernels.add(kernel);
  }
  for (ImportedCopy& copy : copies_) {
    copy.step = step_of(copy.record.start_ns);
    copy.record.start_ns = moved(copy.record.start_ns);
    copy.record.end_ns = moved(copy.record.end_ns);
    copy.place = imported_.copies.size();
    imported_.copies.add(copy);
  }
  if (events_ >= kMostEvents)
    imported_.notes.emplace_back(
        "The trace has as many events as its profiler writes, a million: others are missing in "
        "it, and their times here. Record fewer steps.");
  imported_.times_from.push_back("JAX's or TensorFlow's profiler (" +
                                 std::filesystem::path(file).filename().string() + ")");
}

}  // namespace gable
