// SPDX-License-Identifier: Apache-2.0
#include "analysis/recording/recording.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/base/input_file.h"
#include "analysis/recording/recording_line.h"

namespace gable {
namespace {

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
      error_ = name_ + ": it is no recording: the header line is missing.";
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
      error_ = where + ": this is not one JSON object.";
      return false;
    }
    if (!object.is_object()) {
      error_ = where + ": this is not one JSON object.";
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
          "it is no recording: the first line must be the header {\"gable_recording\": 1, …}");
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
    static const std::set<std::string> kinds = {
        "call",        "hang",       "delay",         "lose_records", "zero_timestamps",
        "drop_ranges", "wrong_ctas", "no_permission", "unsupported"};
    static const std::set<std::string> reasons = {
        "architecture",           "sli", "vgpu", "vgpu_disabled",
        "confidential_computing", "cmp", "wsl",  "mig"};
    RecordedFault fault;
    fault.fault = line.text("fault", {}, true);
    if (kinds.count(fault.fault) == 0) line.fail("there is no fault \"" + fault.fault + "\"");
    if (fault.fault == "call" || fault.fault == "hang" || fault.fault == "delay") {
      fault.call = line.text("call", {}, true);
      fault.after = line.whole<std::uint64_t>("after");
      fault.times = line.whole<std::int64_t>("times", -1, false, -1);
    }
    if (fault.fault == "call") {
      fault.code = line.whole<std::int32_t>("code", 999, true, 1);
      fault.holder = line.text("holder");
    } else if (fault.fault == "delay") {
      fault.count = line.whole<std::uint64_t>("ms", 1000, true);
    } else if (fault.fault == "unsupported") {
      fault.why = line.text("why", {}, true);
      if (reasons.count(fault.why) == 0) line.fail("there is no reason \"" + fault.why + "\"");
    } else if (fault.fault != "hang" && fault.fault != "no_permission") {
      fault.count = line.whole<std::uint64_t>("count", 1, true);
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
