// SPDX-License-Identifier: Apache-2.0
// gable dump: the raw events of a recording, one a line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <sstream>
#include <string>

#include "analysis/recording/recording.h"
#include "tools/commands/command.h"

namespace gable {
namespace {

std::string text_of(const Dim3& size) {
  return std::to_string(size.x) + "," + std::to_string(size.y) + "," + std::to_string(size.z);
}

// A name between quotes; print_line() keeps an event on one line, whatever is in its names.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\x0a" : c == '\r' ? "\\x0d" : "\\x09";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// As printf() has it, and one line.
[[gnu::format(printf, 1, 2)]] void put(const char* format, ...) {
  std::va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  std::string line(
      static_cast<std::size_t>(std::max(std::vsnprintf(nullptr, 0, format, values), 0)), '\0');
  (void)std::vsnprintf(line.data(), line.size() + 1, format, again);
  va_end(again);
  va_end(values);
  print_line(stdout, line);
}

std::string text_of(const CounterValues& counters) {
  std::ostringstream out;
  out.precision(17);
  for (const auto& [metric, value] : counters) out << ' ' << metric << '=' << value;
  return out.str();
}

std::string text_of(Direction direction) {
  return direction == Direction::none ? std::string() : " " + to_string(direction);
}

std::string api_name(const RecordedOp& op) {
  std::string name = op.api == LaunchApi::kernel_ex     ? "cuLaunchKernelEx"
                     : op.api == LaunchApi::cooperative ? "cuLaunchCooperativeKernel"
                                                        : "cuLaunchKernel";
  return op.per_thread ? name + "_ptsz" : name;
}

std::string text_of(const RecordedFault& fault) {
  std::string text = to_string(fault.fault);
  if (fault.fault == Fault::call) {
    text += " " + fault.call + " answers " + std::to_string(fault.code) + " after " +
            std::to_string(fault.after) + " good calls";
    if (fault.times >= 0) text += ", " + std::to_string(fault.times) + " times";
    if (!fault.holder.empty()) text += ", held by " + quoted(fault.holder);
  } else if (fault.fault == Fault::hang) {
    text += " in " + fault.call + " after " + std::to_string(fault.after) + " good calls";
  } else if (fault.count != 0) {
    text += " " + std::to_string(fault.count);
  }
  return text;
}

class Printer {
 public:
  explicit Printer(const Recording& recording) : recording_(recording) {}

  void print() const {
    put("recording    %s %s", recording_.origin.c_str(), quoted(recording_.note).c_str());
    for (const auto& [name, value] : recording_.switches) {
      put("switch       %s = %s", name.c_str(), value.c_str());
    }
    for (std::size_t i = 0; i < recording_.initial_faults; ++i) {
      put("fault        %s", text_of(recording_.faults[i]).c_str());
    }
    for (const DeviceInfo& device : recording_.devices) {
      put("device       %d %s %s, compute capability %d.%d, %d SMs", device.id,
          quoted(device.name).c_str(), device.chip.c_str(), device.compute_major,
          device.compute_minor, device.sm_count);
    }
    for (const RecordedKernel& kernel : recording_.kernels) print_kernel(kernel);
    for (const RecordedSequence& sequence : recording_.sequences) {
      put("sequence     %s", quoted(sequence.name).c_str());
      for (const RecordedOp& op : sequence.ops) print_op(op);
    }
    put("program");
    for (const RecordedOp& op : recording_.ops) print_op(op);
  }

 private:
  static void print_kernel(const RecordedKernel& kernel) {
    std::string unknown;
    for (const std::string& metric : kernel.unknown) unknown += " " + metric + "=unknown";
    put("kernel       %s %s grid %s block %s cluster %s shared %u B, %llu ns%s%s",
        kernel.id.c_str(), quoted(kernel.name).c_str(), text_of(kernel.grid).c_str(),
        text_of(kernel.block).c_str(), text_of(kernel.cluster).c_str(), kernel.dynamic_shared,
        static_cast<unsigned long long>(kernel.time_ns), text_of(kernel.counters).c_str(),
        unknown.c_str());
  }

  void print_op(const RecordedOp& op) const {
    put("%7u  thread %-3d %-15s %s", op.line, op.thread, std::string(to_string(op.kind)).c_str(),
        details(op).c_str());
  }

  [[nodiscard]] std::string kernel_id(std::uint32_t index) const {
    return index < recording_.kernels.size() ? recording_.kernels[index].id : "?";
  }

  [[nodiscard]] std::string details(const RecordedOp& op) const {
    const std::string domain = op.has_domain ? " in domain " + quoted(op.domain) : "";
    std::string where =
        "stream " + std::to_string(op.stream) + " context " + std::to_string(op.context);
    const std::string time = op.time_ns ? ", " + std::to_string(*op.time_ns) + " ns" : "";
    switch (op.kind) {
      case OpKind::push:
        return quoted(op.name) + text_of(op.direction) + domain;
      case OpKind::pop:
        return domain.empty() ? domain : domain.substr(1);
      case OpKind::start:
        return std::to_string(op.id) + " " + quoted(op.name) + text_of(op.direction) + domain;
      case OpKind::end:
        return std::to_string(op.id) + domain;
      case OpKind::launch:
        return launch(op, where, time);
      case OpKind::graph_launch: {
        std::string text = where + time;
        for (const std::uint32_t kernel : op.kernels) text += " " + kernel_id(kernel);
        return text;
      }
      case OpKind::copy:
        return std::string(recorded_copy(op.copy)) + " " + std::to_string(op.amount) + " B " +
               where + time;
      case OpKind::sync:
        if (op.id != 0) return "event " + std::to_string(op.id);
        return op.whole_context ? "context " + std::to_string(op.context) : where;
      case OpKind::event_record:
      case OpKind::stream_wait:
        return "event " + std::to_string(op.id) + " " + where;
      case OpKind::idle:
        return std::to_string(op.amount) + " ns";
      case OpKind::sleep:
        return std::to_string(op.amount) + " ms";
      case OpKind::context:
        return std::to_string(op.context) + " on device " + std::to_string(op.device);
      case OpKind::destroy_context:
        return std::to_string(op.context);
      case OpKind::capture_begin:
        return where;
      case OpKind::capture_end:
        return where + (op.update ? " updates graph " : " graph ") + std::to_string(op.id);
      case OpKind::graph_destroy:
        return std::to_string(op.id);
      case OpKind::play:
        return std::to_string(op.amount) + " times " +
               (op.index < recording_.sequences.size() ? quoted(recording_.sequences[op.index].name)
                                                       : "?");
      case OpKind::print:
        return quoted(op.name);
      case OpKind::exit:
        return op.name + " " + std::to_string(op.code);
      case OpKind::fault:
        return op.index < recording_.faults.size() ? text_of(recording_.faults[op.index]) : "?";
      case OpKind::set_switch:
        return op.name + " = " + op.value;
      case OpKind::gable_step:
      case OpKind::profiler_start:
      case OpKind::profiler_stop:
      case OpKind::load_module:
        break;
    }
    return {};
  }

  [[nodiscard]] std::string launch(const RecordedOp& op, const std::string& where,
                                   const std::string& time) const {
    std::string text = kernel_id(op.kernel) + " " + api_name(op) + " " + where + time;
    if (op.scale != 1) {
      std::ostringstream scale;
      scale << " scale " << op.scale;
      text += scale.str();
    }
    if (op.counters) text += text_of(*op.counters);
    return text;
  }

  const Recording& recording_;
};

class DumpCommand final : public Command {
 public:
  void declare(CLI::App& app) override { app.add_option("REC", file_)->required(); }

  int run() override {
    const RecordingResult result = read_recording(file_);
    if (!result.recording) throw WrongUse(result.error);
    Printer(*result.recording).print();
    return kExitGood;
  }

 private:
  std::string file_;
};

}  // namespace

std::unique_ptr<Command> make_dump_command() { return std::make_unique<DumpCommand>(); }

}  // namespace gable
