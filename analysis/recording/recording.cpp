// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording/recording.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/base/input_file.h"
#include "analysis/recording/recording_line.h"

namespace gable {
namespace {

// Index of what has that id, or -1 where nothing (complete) has it yet.
using IndexOf = std::function<int(const std::string& id)>;

constexpr std::string_view kOpNames[] = {"push",          "pop",
                                         "start",         "end",
                                         "launch",        "graph_launch",
                                         "copy",          "sync",
                                         "event_record",  "stream_wait",
                                         "idle",          "sleep",
                                         "gable_step",    "profiler_start",
                                         "profiler_stop", "load_module",
                                         "context",       "destroy_context",
                                         "capture_begin", "capture_end",
                                         "graph_destroy", "play",
                                         "print",         "exit",
                                         "fault",         "switch"};
static_assert(std::size(kOpNames) == static_cast<std::size_t>(OpKind::set_switch) + 1);

std::uint32_t index(RecordingLine& line, const IndexOf& find, const char* what,
                    const std::string& id) {
  const int found = find(id);
  if (found < 0)
    line.fail("the " + std::string(what) + " " + RecordingLine::quoted(id) +
              " is not complete before this line");
  return found < 0 ? 0 : static_cast<std::uint32_t>(found);
}

OpKind kind_of(RecordingLine& line, const std::string& name) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(OpKind::fault); ++i) {
    if (kOpNames[i] == name) return static_cast<OpKind>(i);
  }
  line.fail("there is no operation \"" + name + "\"");
  return OpKind::idle;
}

Direction direction_of(RecordingLine& line) {
  const auto direction = value_of<Direction>(line.text("direction", "none"));
  if (!direction) line.fail("\"direction\" must be forward, backward, recompute or none");
  return direction.value_or(Direction::none);
}

constexpr std::array kCopies = {
    std::pair(CopyKind::host_to_device, "h2d"), std::pair(CopyKind::device_to_host, "d2h"),
    std::pair(CopyKind::device_to_device, "d2d"), std::pair(CopyKind::memset, "memset")};

CopyKind copy_of(RecordingLine& line) {
  const std::string text = line.text("kind", {}, true);
  for (const auto& [kind, word] : kCopies) {
    if (text == word) return kind;
  }
  line.fail("\"kind\" must be h2d, d2h, d2d or memset");
  return CopyKind::other;
}

HostMemory host_memory(RecordingLine& line) {
  const std::string text = line.text("host", "pinned");
  const auto memory = text == "unknown" ? HostMemory::unknown : value_of<HostMemory>(text);
  if (!memory) line.fail("\"host\" must be pinned, pageable, managed or unknown");
  return memory.value_or(HostMemory::pinned);
}

void read_launch(RecordingLine& line, RecordedOp& op, const IndexOf& kernel) {
  if (op.kind == OpKind::launch) {
    op.kernel = index(line, kernel, "kernel", line.text("kernel", {}, true));
    op.scale = line.number("scale", 1.0);
    if (!(op.scale >= 0)) line.fail("\"scale\" must not be negative");
    CounterValues values = line.counters("counters");
    if (!values.empty()) op.counters = std::make_shared<const CounterValues>(std::move(values));
    std::string api = line.text("api", "cuLaunchKernel");
    constexpr std::string_view suffix = "_ptsz";
    if (api.size() > suffix.size() && api.substr(api.size() - suffix.size()) == suffix) {
      op.per_thread = true;
      api.resize(api.size() - suffix.size());
    }
    if (api == "cuLaunchKernelEx") {
      op.api = LaunchApi::kernel_ex;
    } else if (api == "cuLaunchCooperativeKernel") {
      op.api = LaunchApi::cooperative;
    } else if (api != "cuLaunchKernel") {
      line.fail(
          "\"api\" must be cuLaunchKernel, cuLaunchKernelEx or cuLaunchCooperativeKernel, each "
          "also with _ptsz");
    }
  } else {
    for (const std::string& id : line.texts("kernels"))
      op.kernels.push_back(index(line, kernel, "kernel", id));
    op.id = line.whole<std::int64_t>("graph");
    if (op.kernels.empty() == (op.id == 0))
      line.fail("a graph_launch needs either \"kernels\" or \"graph\"");
  }
  if (line.has("time_ns")) op.time_ns = line.whole<std::uint64_t>("time_ns");
}

// A line with "op". Its line number is the caller's to set.
RecordedOp read_operation(RecordingLine& line, const IndexOf& kernel, const IndexOf& sequence) {
  RecordedOp op;
  op.kind = kind_of(line, line.text("op", {}, true));
  op.thread = line.whole<std::int32_t>("thread", 0, false, 0, 1023);
  switch (op.kind) {
    case OpKind::push:
    case OpKind::start:
      op.name = line.text("name", {}, true);
      op.direction = direction_of(line);
      op.has_domain = line.has("domain");
      op.domain = line.text("domain");
      if (op.kind == OpKind::start) op.id = line.whole<std::int64_t>("id", 0, true);
      break;
    case OpKind::pop:
    case OpKind::end:
      op.has_domain = line.has("domain");
      op.domain = line.text("domain");
      if (op.kind == OpKind::end) op.id = line.whole<std::int64_t>("id", 0, true);
      break;
    case OpKind::launch:
    case OpKind::graph_launch:
      read_launch(line, op, kernel);
      break;
    case OpKind::copy:
      op.copy = copy_of(line);
      op.host = host_memory(line);
      op.amount = line.whole<std::uint64_t>("bytes", 0, true);
      op.time_ns = line.whole<std::uint64_t>("time_ns", 1000);
      break;
    case OpKind::sync:
      op.id = line.whole<std::int64_t>("event", 0, false, 1);
      op.whole_context = !line.has("stream") && op.id == 0;
      break;
    case OpKind::event_record:
    case OpKind::stream_wait:
      op.id = line.whole<std::int64_t>("event", 0, true, 1);
      break;
    case OpKind::idle:
      op.amount = line.whole<std::uint64_t>("ns", 0, true);
      break;
    case OpKind::sleep:
      op.amount = line.whole<std::uint64_t>("ms", 0, true);
      break;
    case OpKind::context:
      op.device = line.whole<std::int32_t>("device", 0, false, 0, 63);
      op.context = line.whole<std::uint32_t>("context", 0, true, 1);
      break;
    case OpKind::capture_end:
      op.update = line.has("update");
      op.id = line.whole<std::int64_t>(op.update ? "update" : "graph");
      break;
    case OpKind::load_module:
      op.update = line.whole<std::int32_t>("unload", 0, false, 0, 1) != 0;
      break;
    case OpKind::graph_destroy:
      op.id = line.whole<std::int64_t>("graph", 0, true);
      break;
    case OpKind::play:
      op.index = index(line, sequence, "sequence", line.text("sequence", {}, true));
      op.amount = line.whole<std::uint64_t>("times", 1);
      break;
    case OpKind::print:
      op.name = line.text("text", {}, true);
      break;
    case OpKind::exit: {
      static const std::set<std::string> ways = {"return", "exit",  "_exit", "quick_exit",
                                                 "abort",  "throw", "signal"};
      op.name = line.text("how", "return");
      op.code = line.whole<std::int32_t>("code", 0, false, 0, 255);
      if (ways.count(op.name) == 0)
        line.fail("\"how\" must be return, exit, _exit, quick_exit, abort, throw or signal");
      break;
    }
    default:
      break;
  }
  const bool on_stream = op.kind == OpKind::launch || op.kind == OpKind::graph_launch ||
                         op.kind == OpKind::copy || op.kind == OpKind::sync ||
                         op.kind == OpKind::event_record || op.kind == OpKind::stream_wait ||
                         op.kind == OpKind::capture_begin || op.kind == OpKind::capture_end;
  if (on_stream) op.stream = line.whole<std::uint32_t>("stream", 0, false, 0, 100000);
  if (on_stream || op.kind == OpKind::destroy_context || op.kind == OpKind::load_module) {
    op.context = line.whole<std::uint32_t>("context", 0);
  }
  if (op.kind == OpKind::launch || op.kind == OpKind::graph_launch || op.kind == OpKind::copy) {
    op.host_ns = line.whole<std::uint64_t>("host_ns", op.host_ns);
  }
  return op;
}

// What NVML would tell; it does not tell what the line does not say.
void read_recorded_links(RecordingLine& line, DeviceLinks& links) {
  const auto pcie = [&](const char* key) {
    const auto pair = line.pair(key);
    return DeviceLinks::Pcie{pair.first, pair.second};
  };
  if (line.has("pcie")) links.pcie = links.pcie_max = pcie("pcie");
  if (line.has("pcie_max")) links.pcie_max = pcie("pcie_max");
  if (!line.has("nvlink")) return;
  const auto nvlink = line.pair("nvlink");
  links.nvlinks = nvlink.first;
  links.nvlink_version = nvlink.second;
}

constexpr auto kReasons = std::to_array<std::pair<std::string_view, GpuReading::Reason>>({
    {"idle", GpuReading::kIdle},
    {"clocks_set", GpuReading::kSetByUser},
    {"power_cap", GpuReading::kPowerCap},
    {"hw_slowdown", GpuReading::kHwSlowdown},
    {"sync_boost", GpuReading::kSyncBoost},
    {"sw_thermal", GpuReading::kSwThermal},
    {"hw_thermal", GpuReading::kHwThermal},
    {"power_brake", GpuReading::kPowerBrake},
    {"display", GpuReading::kDisplay},
});

GpuReading read_recorded_reading(RecordingLine& line) {
  const auto amount = [&line](const char* key) {
    return line.has(key) ? Maybe(line.number(key, 0)) : std::nullopt;
  };
  GpuReading reading;
  reading.sm_clock_hz = amount("sm_clock_hz");
  reading.memory_clock_hz = amount("memory_clock_hz");
  reading.power_w = amount("power_w");
  reading.power_limit_w = amount("power_limit_w");
  reading.temperature_c = amount("temperature_c");
  if (!line.has("reasons")) return reading;
  reading.reasons = 0;
  for (const auto& word : line.texts("reasons")) {
    const auto known = std::find_if(kReasons.begin(), kReasons.end(),
                                    [&](const auto& each) { return each.first == word; });
    if (known == kReasons.end()) {
      line.fail("there is no reason \"" + word + "\"");
    } else {
      *reading.reasons |= known->second;
    }
  }
  return reading;
}

// A line with "device"; what it does not say is the default device's.
DeviceInfo read_recorded_device(RecordingLine& line) {
  DeviceInfo device = default_device();
  device.id = line.whole<std::int32_t>("device", 0, true, 0, 63);
  device.name = line.text("name", device.name);
  device.chip = line.text("chip", device.chip);
  if (line.has("compute_capability")) {
    const auto pair = line.pair("compute_capability");
    device.compute_major = pair.first;
    device.compute_minor = pair.second;
  }
  device.sm_count = line.whole<int>("sm_count", device.sm_count, false, 1);
  device.sm_clock_max_hz = line.whole<std::uint64_t>("sm_clock_max_hz", device.sm_clock_max_hz);
  device.memory_clock_max_hz =
      line.whole<std::uint64_t>("memory_clock_max_hz", device.memory_clock_max_hz);
  device.memory_bus_bits = line.whole<std::uint32_t>("memory_bus_bits", device.memory_bus_bits);
  device.memory_bytes = line.whole<std::uint64_t>("memory_bytes", device.memory_bytes);
  device.l2_bytes = line.whole<std::uint64_t>("l2_bytes", device.l2_bytes);
  read_recorded_links(line, device.links);
  return device;
}

constexpr std::string_view kWhitespace = " \t\r";

class Parser {
 public:
  explicit Parser(std::string name)
      : name_(std::move(name)), recording_(std::make_unique<Recording>()) {
    recording_->path = name_;
  }

  RecordingResult run(std::string_view text) {
    for_each_line(text, [&](std::string_view line) { return read_line(line, true); });
    if (error_.empty() && !header_seen_)
      error_ = name_ + ": it is not a recording: the header line is missing.";
    if (error_.empty() && current_ >= 0) {
      error_ = name_ + ": the sequence \"" + recording_->sequences[current()].name +
               "\" has no end_sequence.";
    }
    if (error_.empty()) complete_devices();
    if (!error_.empty()) return {nullptr, error_};
    return {std::move(recording_), {}};
  }

  std::string run_faults(std::string_view text, std::vector<RecordedFault>& faults,
                         std::map<std::string, std::string>& switches) {
    for_each_line(text, [&](std::string_view line) { return read_line(line, false); });
    if (!error_.empty()) return error_;
    faults.insert(faults.end(), recording_->faults.begin(), recording_->faults.end());
    for (const auto& [key, value] : recording_->switches) switches[key] = value;
    return {};
  }

 private:
  [[nodiscard]] std::size_t current() const { return static_cast<std::size_t>(current_); }

  template <typename Read>
  void for_each_line(std::string_view text, Read&& read) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++line_;
      const std::size_t first = line.find_first_not_of(kWhitespace);
      if (first == std::string_view::npos || line[first] == '#') continue;
      if (!read(line)) return;
    }
  }

  bool read_line(std::string_view text, bool whole_recording) {
    const std::string where = name_ + ":" + std::to_string(line_);
    nlohmann::json object;
    try {
      object = nlohmann::json::parse(text);
    } catch (const nlohmann::json::exception&) {
      error_ = where + ": this line is not one JSON object.";
      return false;
    }
    if (!object.is_object()) {
      error_ = where + ": this line is not one JSON object.";
      return false;
    }
    RecordingLine line(std::move(object), where);
    if (whole_recording && !header_seen_) {
      read_header(line);
    } else if (line.has("fault")) {
      read_fault(line, whole_recording);
    } else if (line.has("switch")) {
      read_switch(line, whole_recording);
    } else if (!whole_recording) {
      line.fail("only \"fault\" and \"switch\" lines can stand here");
    } else if (line.has("op")) {
      add(read_op(line));
    } else if (line.has("kernel")) {
      read_kernel(line);
    } else if (line.has("device")) {
      read_device(line);
    } else if (line.has("sequence")) {
      begin_sequence(line);
    } else if (line.has("end_sequence")) {
      end_sequence(line);
    } else {
      line.fail(
          "a line needs one of \"op\", \"kernel\", \"device\", \"sequence\", \"end_sequence\", "
          "\"fault\", \"switch\"");
    }
    line.no_other_fields();
    error_ = line.error();
    return error_.empty();
  }

  void read_header(RecordingLine& line) {
    if (!line.has("gable_recording")) {
      line.fail(
          "it is not a recording: the first line must be the header {\"gable_recording\": 1, …}");
      return;
    }
    const int version = line.whole<int>("gable_recording", 0, true, 1);
    if (version > kRecordingVersion) {
      line.fail("this recording has format " + std::to_string(version) +
                ", this Gable reads up to " + std::to_string(kRecordingVersion));
    }
    recording_->origin = line.text("origin", {}, true);
    static const std::set<std::string> origins = {"recorded", "playback", "converted", "generated",
                                                  "hand-written"};
    if (line.error().empty() && origins.count(recording_->origin) == 0) {
      line.fail("\"origin\" must be recorded, playback, converted, generated or hand-written");
    }
    recording_->note = line.text("note");
    if (line.has("metrics")) {
      const auto metrics = line.texts("metrics");
      recording_->metrics.emplace(metrics.begin(), metrics.end());
    }
    header_seen_ = true;
  }

  void read_device(RecordingLine& line) {
    const DeviceInfo device = read_recorded_device(line);
    for (const DeviceInfo& other : recording_->devices) {
      if (other.id == device.id)
        line.fail("device " + std::to_string(device.id) + " is defined twice");
    }
    line.each("readings", [&](RecordingLine& reading) {
      recording_->readings[device.id].push_back(read_recorded_reading(reading));
    });
    recording_->devices.push_back(device);
  }

  void read_kernel(RecordingLine& line) {
    RecordedKernel kernel;
    kernel.id = line.text("kernel", {}, true);
    kernel.name = line.text("name", kernel.id);
    kernel.grid = line.dim("grid");
    kernel.block = line.dim("block");
    kernel.cluster = line.dim("cluster");
    kernel.dynamic_shared = line.whole<std::uint32_t>("dynamic_shared");
    kernel.registers = line.whole<std::uint16_t>("registers");
    kernel.static_shared = line.whole<std::uint32_t>("static_shared");
    kernel.time_ns = line.whole<std::uint64_t>("time_ns", kernel.time_ns);
    kernel.counters = line.counters("counters");
    kernel.unknown = line.texts("unknown");
    const auto index = static_cast<std::uint32_t>(recording_->kernels.size());
    if (!kernel_ids_.emplace(kernel.id, index).second)
      line.fail("the kernel \"" + kernel.id + "\" is defined twice");
    recording_->kernels.push_back(std::move(kernel));
  }

  void begin_sequence(RecordingLine& line) {
    const std::string name = line.text("sequence", {}, true);
    if (current_ >= 0) line.fail("a sequence cannot begin inside another");
    const auto index = static_cast<std::uint32_t>(recording_->sequences.size());
    if (!sequence_ids_.emplace(name, index).second)
      line.fail("the sequence \"" + name + "\" is defined twice");
    current_ = static_cast<int>(recording_->sequences.size());
    recording_->sequences.push_back({name, {}});
  }

  void end_sequence(RecordingLine& line) {
    const std::string name = line.text("end_sequence", {}, true);
    if (current_ < 0 || recording_->sequences[current()].name != name) {
      line.fail("no sequence \"" + name + "\" is open");
    }
    current_ = -1;
  }

  void read_fault(RecordingLine& line, bool whole_recording) {
    static const std::set<std::string> reasons = {
        "architecture",           "sli", "vgpu", "vgpu_disabled",
        "confidential_computing", "cmp", "wsl",  "mig"};
    RecordedFault fault;
    const std::string word = line.text("fault", {}, true);
    const auto known = value_of<Fault>(word);
    if (!known) line.fail("there is no fault \"" + word + "\"");
    fault.fault = known.value_or(Fault::call);
    const auto read_call = [&] {
      fault.call = line.text("call", {}, true);
      fault.after = line.whole<std::uint64_t>("after");
      fault.times = line.whole<std::int64_t>("times", -1, false, -1);
    };
    switch (fault.fault) {
      case Fault::call:
        read_call();
        fault.code = line.whole<std::int32_t>("code", 999, true, 1);
        fault.holder = line.text("holder");
        break;
      case Fault::hang:
        read_call();
        break;
      case Fault::delay:
        read_call();
        fault.count = line.whole<std::uint64_t>("ms", 1000, true);
        break;
      case Fault::lose_records:
      case Fault::zero_timestamps:
      case Fault::drop_ranges:
      case Fault::wrong_ctas:
        fault.count = line.whole<std::uint64_t>("count", 1, true);
        break;
      case Fault::no_permission:
        break;
      case Fault::unsupported:
        fault.why = line.text("why", {}, true);
        if (reasons.count(fault.why) == 0) line.fail("there is no reason \"" + fault.why + "\"");
        break;
    }
    recording_->faults.push_back(std::move(fault));
    if (!whole_recording || (!operations_seen_ && current_ < 0)) {
      recording_->initial_faults = recording_->faults.size();
      return;
    }
    RecordedOp op;
    op.kind = OpKind::fault;
    op.index = static_cast<std::uint32_t>(recording_->faults.size() - 1);
    add(std::move(op));
  }

  void read_switch(RecordingLine& line, bool whole_recording) {
    RecordedOp op;
    op.kind = OpKind::set_switch;
    op.name = line.text("switch", {}, true);
    op.value = line.text("value", {}, true);
    if (!whole_recording || (!operations_seen_ && current_ < 0)) {
      recording_->switches[op.name] = op.value;
    } else {
      add(std::move(op));
    }
  }

  // What an operation names must stand before it.
  RecordedOp read_op(RecordingLine& line) {
    return read_operation(
        line, [&](const std::string& id) { return index_of(kernel_ids_, id); },
        [&](const std::string& id) {
          const int index = index_of(sequence_ids_, id);
          return index == current_ ? -1 : index;
        });
  }

  static int index_of(const std::unordered_map<std::string, std::uint32_t>& ids,
                      const std::string& id) {
    const auto it = ids.find(id);
    return it == ids.end() ? -1 : static_cast<int>(it->second);
  }

  void add(RecordedOp op) {
    op.line = line_;
    if (current_ >= 0) {
      recording_->sequences[current()].ops.push_back(std::move(op));
    } else {
      recording_->ops.push_back(std::move(op));
      operations_seen_ = true;
    }
  }

  void complete_devices() {
    auto& devices = recording_->devices;
    if (devices.empty()) devices.push_back(default_device());
    std::sort(devices.begin(), devices.end(),
              [](const DeviceInfo& a, const DeviceInfo& b) { return a.id < b.id; });
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].id != static_cast<std::int32_t>(i)) {
        error_ = name_ + ": device " + std::to_string(i) + " is not defined, but a later one is.";
        return;
      }
    }
  }

  std::string name_, error_;
  std::unique_ptr<Recording> recording_;
  std::unordered_map<std::string, std::uint32_t> kernel_ids_, sequence_ids_;
  std::uint32_t line_ = 0;
  int current_ = -1;  // the sequence being defined
  bool header_seen_ = false, operations_seen_ = false;
};

}  // namespace

DeviceInfo default_device() {
  DeviceInfo device;
  device.id = 0;
  device.name = "NVIDIA H200";
  device.chip = "GH100";
  device.compute_major = 9;
  device.compute_minor = 0;
  device.sm_count = 132;
  device.sm_clock_max_hz = 1980000000;
  device.memory_clock_max_hz = 3201000000;
  device.memory_bus_bits = 6144;
  device.memory_bytes = 150754820096;
  device.l2_bytes = 62914560;
  return device;
}

std::string_view recorded_copy(CopyKind kind) {
  for (const auto& [known, word] : kCopies) {
    if (known == kind) return word;
  }
  return {};
}

std::string_view to_string(OpKind kind) { return kOpNames[static_cast<std::size_t>(kind)]; }

RecordingResult parse_recording(std::string_view text, const std::string& name) {
  return Parser(name).run(text);
}

std::string parse_faults(std::string_view text, const std::string& name,
                         std::vector<RecordedFault>& faults,
                         std::map<std::string, std::string>& switches) {
  return Parser(name).run_faults(text, faults, switches);
}

RecordingResult read_recording(const std::string& path) {
  InputFile file(path, "a recording");
  const auto text = file.read_all();
  if (!text) return {nullptr, file.error()};
  return parse_recording(*text, path);
}

}  // namespace gable
