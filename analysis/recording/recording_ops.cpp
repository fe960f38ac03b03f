// SPDX-License-Identifier: Apache-2.0
// The operations of a recording: one JSON object each.
#include <array>
#include <utility>

#include "analysis/recording/recording_line.h"

namespace gable {
namespace {

constexpr std::string_view kOpNames[] = {
    "push",          "pop",          "start",         "end",
    "launch",        "graph_launch", "copy",          "sync",
    "idle",          "sleep",        "gable_step",    "profiler_start",
    "profiler_stop", "load_module",  "context",       "destroy_context",
    "capture_begin", "capture_end",  "graph_destroy", "play",
    "print",         "exit",         "fault",         "switch"};
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
  const std::string text = line.text("direction", "none");
  if (text == "none") return Direction::none;
  if (text == "forward") return Direction::forward;
  if (text == "backward") return Direction::backward;
  if (text == "recompute") return Direction::recompute;
  line.fail("\"direction\" must be forward, backward, recompute or none");
  return Direction::none;
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

}  // namespace

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
      op.amount = line.whole<std::uint64_t>("bytes", 0, true);
      op.time_ns = line.whole<std::uint64_t>("time_ns", 1000);
      break;
    case OpKind::sync:
      op.whole_context = !line.has("stream");
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

std::string_view recorded_copy(CopyKind kind) {
  for (const auto& [known, word] : kCopies) {
    if (known == kind) return word;
  }
  return {};
}

std::string_view to_string(OpKind kind) { return kOpNames[static_cast<std::size_t>(kind)]; }

}  // namespace gable
