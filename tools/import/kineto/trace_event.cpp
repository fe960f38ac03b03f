// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/trace_event.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "tools/base/wrong_use.h"
#include "tools/import/records/imported.h"

namespace gable {
namespace {

using Token = JsonStream::Token;
constexpr std::int64_t kMostNs = INT64_MAX;
constexpr std::size_t kMostInputs = 256, kLongestMembers = 4096;
constexpr std::uint64_t kMostDevices = 1u << 20, kMostOfMachine = 255;

struct Word {
  std::string_view text;
  TraceCategory category;
};
constexpr std::array<Word, 15> kCategories = {{{"kernel", TraceCategory::kernel},
                                               {"Kernel", TraceCategory::kernel},
                                               {"gpu_memcpy", TraceCategory::memcpy},
                                               {"Memcpy", TraceCategory::memcpy},
                                               {"gpu_memset", TraceCategory::memset},
                                               {"Memset", TraceCategory::memset},
                                               {"cuda_runtime", TraceCategory::call},
                                               {"cuda_driver", TraceCategory::call},
                                               {"Runtime", TraceCategory::call},
                                               {"cuda_sync", TraceCategory::wait},
                                               {"cpu_op", TraceCategory::operation},
                                               {"Operator", TraceCategory::operation},
                                               {"user_annotation", TraceCategory::annotation},
                                               {"python_function", TraceCategory::python},
                                               {"cuda_profiler_range", TraceCategory::counters}}};

TraceCategory category_of(std::string_view text) {
  for (const Word& word : kCategories) {
    if (text == word.text) return word.category;
  }
  return TraceCategory::other;
}

// "mtia_ccp_events", "xpu_runtime": PyTorch's names of what runs on other devices.
std::string_view accelerator_of(std::string_view category) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOthers = {
      {{"mtia_", "MTIA"},
       {"xpu_", "XPU"},
       {"hpu_", "HPU"},
       {"glow_", "Glow"},
       {"privateuse1_", "PrivateUse1"}}};
  for (const auto& [mark, name] : kOthers)
    if (category.starts_with(mark)) return name;
  return {};
}

std::optional<std::uint64_t> whole(JsonStream& json, const char* what,
                                   std::uint64_t most = INT64_MAX) {
  const Token token = json.next();
  if (token == Token::literal) return std::nullopt;
  // Some numbers are written as texts.
  if (token != Token::number && token != Token::text) {
    json.skip_rest(token);
    return std::nullopt;
  }
  std::int64_t value = 0;
  const std::string_view text = json.text();
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range ||
      (code == std::errc() && value >= 0 && static_cast<std::uint64_t>(value) > most))
    json.broken(std::string(what) + " is out of range");
  // -1 stands for none.
  if (code != std::errc() || stop != text.data() + text.size() || value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

// GPU work has its device as its process, and some traces say it nowhere else.
std::uint64_t device_of_process(std::string_view pid) {
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(pid.data(), pid.data() + pid.size(), value);
  const bool plain = code == std::errc() && stop == pid.data() + pid.size();
  return plain && value <= kMostOfMachine ? value : 0;
}

std::int64_t time(JsonStream& json, const char* what) {
  const Token token = json.next();
  if (token != Token::number && token != Token::text) {
    json.skip_rest(token);
    json.broken(std::string(what) + " is not a time");
  }
  const auto ns = trace_time(json.text());
  if (!ns) json.broken(std::string(what) + " is out of range");
  return *ns;
}

void text(JsonStream& json, std::string& to) {
  const Token token = json.next();
  if (token == Token::text || token == Token::number) {
    to = json.text();
  } else {
    json.skip_rest(token);
  }
}

std::optional<Dim3> size(JsonStream& json) {
  const Token token = json.next();
  if (token != Token::array) {
    json.skip_rest(token);
    return std::nullopt;
  }
  Dim3 size;
  std::size_t place = 0;
  bool known = true;  // AMD's profiler writes 0 where it does not know
  std::array<std::uint32_t*, 3> parts{&size.x, &size.y, &size.z};
  while (json.element()) {
    const auto value = whole(json, "a size of grid or block", UINT32_MAX);
    known = known && value.value_or(0) > 0;
    if (place < 3) *parts[place] = static_cast<std::uint32_t>(value.value_or(0));
    ++place;
  }
  return known && place == 3 ? std::optional<Dim3>(size) : std::nullopt;
}

// [[32, 3, 224, 224], [], [[2, 2], [2, 2]]]
void dims(JsonStream& json, TraceEvent& event) {
  const Token token = json.next();
  if (token != Token::array) return json.skip_rest(token);
  event.has_dims = true;
  while (json.element()) {
    const Token input = json.next();
    if (event.dims.size() >= kMostInputs || input != Token::array) {
      json.skip_rest(input);
      continue;
    }
    auto& sizes = event.dims.emplace_back();
    bool plain = true;
    while (json.element()) {
      const Token part = json.next();
      std::int64_t value = 0;
      const std::string_view text = json.text();
      if (part == Token::number &&
          std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
        sizes.push_back(value);
      } else {
        json.skip_rest(part);
        plain = false;
      }
    }
    if (!plain) sizes.clear();
  }
}

void texts(JsonStream& json, std::vector<std::string>& to) {
  const Token token = json.next();
  if (token != Token::array) return json.skip_rest(token);
  while (json.element()) {
    const Token part = json.next();
    if (to.size() < kMostInputs) to.emplace_back(part == Token::text ? json.text() : "");
    json.skip_rest(part);
  }
}

void counter(JsonStream& json, const std::string& name, TraceEvent& event) {
  const Token token = json.next();
  if (token != Token::number) {
    // Asked for, and not answered.
    if (token == Token::literal) event.counters.emplace_back(name, NAN);
    return json.skip_rest(token);
  }
  double value = 0;
  const std::string_view text = json.text();
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || value < 0 || value > 1e30)
    json.broken("the value of " + quoted_piece(name) + " is out of range");
  event.counters.emplace_back(name, value);
}

// "[128, 256]": how many elements each rank gets. A long list is written with its end left out.
bool splits_differ(JsonStream& json) {
  std::string list;
  text(json, list);
  std::set<std::string_view> sizes;
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto begin = rest.find_first_of("0123456789.");
    if (begin == std::string_view::npos) break;
    const auto size = rest.substr(begin).find_first_not_of("0123456789.");
    sizes.insert(rest.substr(begin, size));
    rest = size == std::string_view::npos ? std::string_view{} : rest.substr(begin + size);
  }
  return sizes.size() > 1;
}

// "[0, 1]" as a text, or as a list. A long one is written with its end left out.
void members(JsonStream& json, std::string& to) {
  const Token token = json.next();
  to.clear();
  if (token == Token::text) {
    for (const char c : json.text())
      if (c != ' ' && to.size() < kLongestMembers) to += c;
    return;
  }
  if (token != Token::array) return json.skip_rest(token);
  while (json.element()) {
    const Token part = json.next();
    if (to.size() < kLongestMembers) to += (to.empty() ? "[" : ",") + std::string(json.text());
    json.skip_rest(part);
  }
  to += ']';
}

// As c10's ScalarTypes are called.
std::optional<std::uint64_t> bytes_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 13> kSizes = {{
      {"Byte", 1},
      {"Char", 1},
      {"Bool", 1},
      {"Short", 2},
      {"Int", 4},
      {"Long", 8},
      {"Half", 2},
      {"BFloat16", 2},
      {"Float", 4},
      {"Double", 8},
      {"ComplexHalf", 4},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
  }};
  if (type.starts_with("Float8_")) return 1;
  for (const auto& [name, size] : kSizes)
    if (type == name) return size;
  return std::nullopt;
}

void read_args(JsonStream& json, TraceEvent& event) {
  const Token token = json.next();
  if (token != Token::object) return json.skip_rest(token);
  while (json.key()) {
    const std::string_view key = json.key_text();
    if (key == "correlation") {
      event.correlation = whole(json, "correlation");
    } else if (key == "External id" || key == "external id") {
      event.external = whole(json, "External id");
    } else if (key == "device") {
      event.device = whole(json, "device", kMostDevices);
    } else if (key == "stream") {
      event.stream = whole(json, "stream");
    } else if (key == "context") {
      event.context = whole(json, "context", UINT32_MAX);
    } else if (key == "graph node id") {
      event.graph_node = whole(json, "graph node id");
    } else if (key == "wait_on_stream") {
      event.wait_stream = whole(json, "wait_on_stream");
    } else if (key == "wait_on_cuda_event_record_corr_id") {
      event.wait_record = whole(json, "wait_on_cuda_event_record_corr_id");
    } else if (key == "grid") {
      event.grid = size(json);
    } else if (key == "block") {
      event.block = size(json);
    } else if (key == "registers per thread") {
      event.registers = whole(json, "registers per thread", UINT16_MAX);
    } else if (key == "shared memory") {
      event.shared_bytes = whole(json, "shared memory", INT32_MAX);
    } else if (key == "bytes") {
      event.bytes = whole(json, "bytes");
    } else if (key == "Input Dims" || key == "Input dims") {
      dims(json, event);
    } else if (key == "Input type") {
      texts(json, event.types);
    } else if (key == "Concrete Inputs") {
      texts(json, event.values);
    } else if (key == "Collective name") {
      text(json, event.message.collective);
    } else if (key == "dtype") {
      text(json, event.message.type);
    } else if (key == "In msg nelems") {
      event.message.in = whole(json, "In msg nelems");
    } else if (key == "Out msg nelems") {
      event.message.out = whole(json, "Out msg nelems");
    } else if (key == "Group size") {
      event.message.ranks = whole(json, "Group size", UINT32_MAX);
    } else if (key == "Process Group Name") {
      text(json, event.message.group);
    } else if (key == "Process Group Ranks") {
      members(json, event.message.members);
    } else if (key == "Seq" || key == "seq_num") {
      event.message.sequence = whole(json, "Seq");
    } else if (key == "In split size" || key == "Out split size") {
      event.message.uneven = splits_differ(json) || event.message.uneven;
    } else if (key == "Sequence number") {
      event.sequence = whole(json, "Sequence number");
    } else if (key == "Fwd thread id") {
      event.forward_thread = whole(json, "Fwd thread id").value_or(0);
    } else if (key == "Python id") {
      event.python_id = whole(json, "Python id");
    } else if (key == "Python parent id") {
      event.python_parent = whole(json, "Python parent id");
    } else if (key == "correlation_id") {
      event.xla.correlation = whole(json, "correlation_id");
    } else if (key == "step_num") {
      event.xla.numbered_step = true;
      json.skip();
    } else if (key == "cuda_graph_exec_id") {
      event.xla.whole_graph = true;
      json.skip();
    } else if (std::string* xla = event.xla.find(key)) {
      text(json, *xla);
    } else if (key.find("__") != std::string_view::npos &&
               key.find('.') != std::string_view::npos) {
      counter(json, std::string(key), event);
    } else {
      json.skip();
    }
  }
}

}  // namespace

std::optional<CollectiveCall> collective_of(const TraceMessage& message) {
  if (message.collective.empty()) return std::nullopt;
  CollectiveCall call;
  call.kind = collective_named(message.collective);
  call.ranks = static_cast<std::uint32_t>(message.ranks.value_or(0));
  // A rank's whole buffer: where it gathers, that is what comes out.
  const auto& elements = call.kind == Collective::all_gather ? message.out : message.in;
  const auto size = bytes_of(message.type);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  if (elements && size && *elements < kMost && !message.uneven) call.bytes = *elements * *size;
  return call;
}

std::uint32_t trace_handle(const std::optional<std::uint64_t>& number) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number.value_or(0), UINT32_MAX));
}

std::optional<std::int64_t> trace_time(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view size = text.substr(negative ? 1 : 0);
  std::uint64_t us = 0, ns = 0;
  const char* end = size.data() + size.size();
  const auto [stop, code] = std::from_chars(size.data(), end, us);
  if (code != std::errc() || us > kMostNs / 1000 - 1) return std::nullopt;
  const char* at = stop;
  if (at != end && *at == '.') {
    std::uint64_t scale = 100;
    for (++at; at != end && *at >= '0' && *at <= '9'; ++at, scale /= 10) {
      const auto digit = static_cast<std::uint64_t>(*at - '0');
      if (scale > 0) {
        ns += digit * scale;
      } else {
        // The first digit behind the last ns decides.
        if (digit >= 5) ++ns;
        while (at != end && *at >= '0' && *at <= '9') ++at;
        break;
      }
    }
  }
  if (at != end) {
    double value = 0;
    const auto parsed = std::from_chars(size.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(value >= 0) || value > 9e15)
      return std::nullopt;
    const auto rounded = static_cast<std::int64_t>(std::llround(value * 1e3));
    return negative ? -rounded : rounded;
  }
  const auto whole = static_cast<std::int64_t>(us * 1000 + ns);
  return negative ? -whole : whole;
}

void TraceEvent::clear() {
  category = TraceCategory::other;
  complete = has_start = has_duration = has_dims = false;
  accelerator = {};
  name.clear();
  pid.clear();
  tid.clear();
  start_ns = 0;
  duration_ns = forward_thread = 0;
  correlation.reset();
  external.reset();
  bytes.reset();
  sequence.reset();
  stream.reset();
  context.reset();
  graph_node.reset();
  wait_stream.reset();
  wait_record.reset();
  python_id.reset();
  python_parent.reset();
  device.reset();
  grid.reset();
  block.reset();
  registers.reset();
  shared_bytes.reset();
  dims.clear();
  types.clear();
  values.clear();
  counters.clear();
  message = {};
  metadata = false;
  xla.clear();
}

void read_trace_event(JsonStream& json, TraceEvent& event) {
  event.clear();
  bool useful = true;  // until a category says that it is not
  while (json.key()) {
    const std::string_view key = json.key_text();
    if (!useful) {
      json.skip();
    } else if (key == "ph") {
      const Token token = json.next();
      event.complete = token == Token::text && json.text() == "X";
      event.metadata = token == Token::text && json.text() == "M";
      useful = event.complete || event.metadata;
      json.skip_rest(token);
    } else if (key == "cat") {
      const Token token = json.next();
      if (token == Token::text) {
        event.category = category_of(json.text());
        event.accelerator = accelerator_of(json.text());
      }
      useful = event.category != TraceCategory::other;
      json.skip_rest(token);
    } else if (key == "name") {
      text(json, event.name);
    } else if (key == "pid") {
      text(json, event.pid);
    } else if (key == "tid") {
      text(json, event.tid);
    } else if (event.metadata && (key == "ts" || key == "dur")) {
      json.skip();
    } else if (key == "ts") {
      event.start_ns = time(json, "ts");
      event.has_start = true;
    } else if (key == "dur") {
      const std::int64_t duration = time(json, "dur");
      if (duration < 0) json.broken("dur is out of range");
      event.duration_ns = static_cast<std::uint64_t>(duration);
      event.has_duration = true;
    } else if (key == "args") {
      read_args(json, event);
    } else {
      json.skip();
    }
  }
  if (!event.complete) return;
  if (!event.has_start) {
    if (event.category == TraceCategory::other) return;
    json.broken("the event has no ts");
  }
  if (!event.device) event.device = device_of_process(event.pid);
  if (event.start_ns > kMostNs - static_cast<std::int64_t>(event.duration_ns))
    json.broken("dur is out of range");
}

}  // namespace gable
