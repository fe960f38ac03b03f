// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_trace.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_map>

#include "tools/base/wrong_use.h"
#include "tools/import/counters/ncu_merge.h"
#include "tools/import/counters/ncu_metrics.h"
#include "tools/import/kineto/kineto_calls.h"
#include "tools/import/kineto/kineto_operators.h"
#include "tools/import/kineto/kineto_parts.h"
#include "tools/import/kineto/trace_event.h"
#include "tools/import/kineto/xla_trace.h"
#include "tools/import/records/range_nest.h"
#include "tools/import/records/step_records.h"
#include "tools/streams/json_stream.h"

namespace gable {
namespace {

using Token = JsonStream::Token;
constexpr std::string_view kStep = "ProfilerStep#", kModule = "nn.Module: ";
constexpr std::size_t kLongestName = 4096;
constexpr std::uint32_t kNone = RangeNest::kNone;

// What a kernel or copy says of where it came from.
struct Origin {
  std::uint64_t correlation = 0, external = 0;
  std::uint32_t stream = 0, context = 0;
};

// Of the first context, which most programs have alone.
constexpr std::uint32_t kLegacyStream = 7;

// "ProfilerStep#12"
std::optional<std::uint64_t> step_number(std::string_view name) {
  const std::string_view text = name.substr(kStep.size());
  std::uint64_t number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = code == std::errc() && stop == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

// -1 and what is no 32 bits are none.
std::uint32_t handle(const std::optional<std::uint64_t>& number) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number.value_or(0), UINT32_MAX));
}

// "Memcpy HtoD (Pageable -> Device)". The device's side is never one of these words.
HostMemory host_memory(std::string_view name) {
  if (name.find("Pageable") != std::string_view::npos) return HostMemory::pageable;
  if (name.find("Pinned") != std::string_view::npos) return HostMemory::pinned;
  if (name.find("Managed") != std::string_view::npos) return HostMemory::managed;
  return HostMemory::unknown;
}

CopyKind kind_of_copy(std::string_view name) {
  if (name.find("HtoD") != std::string_view::npos) return CopyKind::host_to_device;
  if (name.find("DtoH") != std::string_view::npos) return CopyKind::device_to_host;
  if (name.find("DtoD") != std::string_view::npos) return CopyKind::device_to_device;
  if (name.find("PtoP") != std::string_view::npos) return CopyKind::peer;
  return CopyKind::other;
}

class Reader {
 public:
  Reader(ByteSource& source, Imported& imported)
      : json_(source),
        imported_(imported),
        nest_(imported.layers),
        operators_(nest_),
        xla_(imported),
        named_steps_(imported.step_range),
        metrics_(imported) {}

  void read() {
    first_kernel_ = imported_.kernels.size();
    first_copy_ = imported_.copies.size();
    read_file();
    if (rank_again_ && first_kernel_ > 0 && kernels_ > 0)
      throw WrongUse(json_.name() + " is of rank " + std::to_string(*imported_.rank) +
                     ", and so is a file before it: give the trace of each rank once.");
    if (xla_.found() && kernels_ == 0) return xla_.finish(json_.name());
    move_times();
    for (const NamedStep& step : named_) named_steps_.add(step.thread, step.start_ns, step.end_ns);
    check_parents(json_, parents_);
    parents_ = {};
    operators_.name_layers();
    nest_.nest();
    if (named_steps_.asked())
      steps_ = steps_of_ranges(named_steps_, nest_, json_.name(), imported_.step_range);
    if (!steps_.empty() && !imported_.steps.empty())
      throw WrongUse(json_.name() +
                     " has steps of its own, and so has a file before it: import each by itself.");
    std::sort(steps_.begin(), steps_.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    if (operators_.number_layers()) nest_.nest();
    operators_.link_backward(imported_.layers);
    calls_.sort();
    place();
    add_spans();
    imported_.has_calls = imported_.has_calls || !calls_.all().empty();
    add_waits(
        waits(), nest_, [this](std::uint64_t when) { return step_at(when); }, imported_);
    record_steps();
    operators_.describe(
        imported_, device_, [this](std::uint64_t when) { return step_at(when); },
        static_cast<std::uint32_t>(steps_.size()));
    nest_.finish(imported_);
    imported_.steps.insert(imported_.steps.end(), steps_.begin(), steps_.end());
    const std::string name = std::filesystem::path(json_.name()).filename().string();
    if (kernels_ > 0) imported_.times_from.push_back("PyTorch's profiler (" + name + ")");
    if (!counted_.empty()) add_counters(name);
    for (const std::int32_t id : used_) {
      if (const auto device = devices_.find(id); device != devices_.end())
        add_device(device->second, json_.name(), imported_);
    }
    if (kernels_ == 0 && counted_.empty())
      throw WrongUse(json_.name() +
                     " has no kernel: nothing ran on a GPU while it was recorded, or "
                     "ProfilerActivity.CUDA was not asked for.");
  }

 private:
  void read_file() {
    const Token token = json_.next();
    if (token == Token::array) {
      read_events();
    } else if (token == Token::object) {
      bool events = false;
      while (json_.key()) {
        if (json_.key_text() == "traceEvents") {
          const Token begun = json_.next();
          if (begun != Token::array) json_.broken("traceEvents is no list");
          read_events();
          events = true;
        } else if (json_.key_text() == "deviceProperties") {
          read_trace_devices(json_, devices_);
        } else if (json_.key_text() == "distributedInfo") {
          const TraceRank of = read_trace_rank(json_);
          if (of.rank) take_rank(*of.rank);
          if (of.world_size) imported_.world_size = of.world_size;
        } else {
          json_.skip();
        }
      }
      if (!events)
        throw WrongUse(json_.name() +
                       " has no traceEvents: it is JSON, and no trace of PyTorch's profiler.");
    } else {
      json_.broken("this is no trace of PyTorch's profiler");
    }
    if (json_.next() != Token::end) json_.broken("something follows the trace");
  }

  void take_rank(std::int64_t rank) {
    rank_again_ = imported_.rank == rank;
    imported_.rank = rank;
  }

  void read_events() {
    TraceEvent event;
    while (json_.element()) {
      const Token token = json_.next();
      if (token != Token::object) {
        json_.skip_rest(token);
        continue;
      }
      read_trace_event(json_, event);
      if (event.metadata) {
        xla_.name(event);
      } else if (event.complete && event.category == TraceCategory::other) {
        xla_.take(event);
      } else if (event.complete) {
        take(event);
      }
    }
  }

  std::uint32_t thread_of(const TraceEvent& event) {
    std::string key = event.pid + '\n' + event.tid;
    return threads_.try_emplace(std::move(key), static_cast<std::uint32_t>(threads_.size()))
        .first->second;
  }

  std::uint32_t process_of(const TraceEvent& event) {
    return processes_.try_emplace(event.pid, static_cast<std::uint32_t>(processes_.size()))
        .first->second;
  }

  FunctionId function_of(const std::string& name) {
    const auto known = functions_.find(name);
    if (known != functions_.end()) return known->second;
    const FunctionId function = imported_.functions.intern(name.empty() ? "(unnamed)" : name);
    functions_.emplace(name, function);
    return function;
  }

  // A time before the zero of the trace stays below it, and wraps, until all are moved.
  static std::uint64_t start_of(const TraceEvent& event) {
    return static_cast<std::uint64_t>(event.start_ns);
  }
  static std::uint64_t end_of(const TraceEvent& event) {
    return start_of(event) + event.duration_ns;
  }

  // So that no time is below 0, or is 0, which stands for an unknown one elsewhere.
  void move_times() {
    if (earliest_ns_ > 0) return;
    const std::uint64_t by = 1 - static_cast<std::uint64_t>(earliest_ns_);
    for (std::size_t i = first_kernel_; i < imported_.kernels.size(); ++i) {
      imported_.kernels[i].start_ns += by;
      imported_.kernels[i].end_ns += by;
    }
    for (std::size_t i = first_copy_; i < imported_.copies.size(); ++i) {
      imported_.copies[i].record.start_ns += by;
      imported_.copies[i].record.end_ns += by;
    }
    for (TracedCall& call : calls_.all()) call.start_ns += by;
    for (RangeNest::Range& range : nest_.ranges()) {
      range.start_ns += by;
      range.end_ns += by;
    }
    for (auto& [id, thread, start] : externals_) start += by;
    for (ImportedStep& step : steps_) {
      step.start_ns += by;
      step.end_ns += by;
    }
    for (NamedStep& step : named_) {
      step.start_ns += by;
      step.end_ns += by;
    }
    for (Counted& counted : counted_) counted.start_ns += by;
  }

  void take(const TraceEvent& event) {
    if (event.category != TraceCategory::other)
      earliest_ns_ = std::min(earliest_ns_, event.start_ns);
    switch (event.category) {
      case TraceCategory::kernel:
        return take_kernel(event);
      case TraceCategory::memcpy:
      case TraceCategory::memset:
        return take_copy(event);
      case TraceCategory::call:
        return take_call(event);
      case TraceCategory::wait:
        return take_wait(event);
      case TraceCategory::operation:
      case TraceCategory::annotation:
      case TraceCategory::python:
        return take_range(event);
      case TraceCategory::counters: {
        Counted& counted = counted_.emplace_back();
        counted.start_ns = start_of(event);
        counted.launch.function = function_of(event.name);
        for (const auto& [name, value] : event.counters) {
          if (const auto metric = metrics_.add(name))
            counted.launch.values.emplace_back(metric->index, metric->scale * value);
        }
        return;
      }
      case TraceCategory::other:
        return;
    }
  }

  void take_kernel(const TraceEvent& event) {
    ImportedKernel kernel;
    kernel.start_ns = start_of(event);
    kernel.end_ns = end_of(event);
    kernel.function = function_of(event.name);
    LaunchShape shape;
    if (event.grid && event.block) {
      shape.grid = *event.grid;
      shape.block = *event.block;
    }
    kernel.shape = imported_.shapes.intern(shape);
    if (event.registers && event.shared_bytes)
      imported_.resources.tell(kernel.function, kernel.shape,
                               {static_cast<std::uint32_t>(*event.registers),
                                static_cast<std::uint32_t>(*event.shared_bytes)});
    kernel.device = event.device;
    device_ = event.device;
    if (const auto message = collective_of(event.message)) {
      ImportedMessage& told = imported_.messages.emplace_back();
      static_cast<CollectiveCall&>(told) = *message;
      told.group = group_of(event.message);
      told.stream = handle(event.stream);
      told.sequence = event.message.sequence;
      kernel.message = static_cast<std::uint32_t>(imported_.messages.size());
    } else {
      name_message(imported_, kernel, 0, handle(event.stream));
    }
    imported_.kernels.push_back(kernel);
    if (event.graph_node && *event.graph_node > 0)
      graph_nodes_.emplace(origins_.size(), *event.graph_node);
    origins_.push_back(origin_of(event));
    ++kernels_;
  }

  std::uint32_t group_of(const TraceMessage& message) {
    if (message.group.empty()) return 0;
    const auto [known, fresh] = groups_.try_emplace(message.group + '\n' + message.members, 0);
    if (fresh) {
      imported_.groups.push_back(known->first);
      known->second = static_cast<std::uint32_t>(imported_.groups.size());
    }
    return known->second;
  }

  void take_copy(const TraceEvent& event) {
    ImportedCopy copy;
    copy.record.start_ns = start_of(event);
    copy.record.end_ns = end_of(event);
    copy.record.bytes = event.bytes;
    copy.record.device = event.device;
    copy.record.kind =
        event.category == TraceCategory::memset ? CopyKind::memset : kind_of_copy(event.name);
    copy.record.host = host_memory(event.name);
    imported_.copies.push_back(copy);
    copy_origins_.push_back(origin_of(event));
  }

  static Origin origin_of(const TraceEvent& event) {
    return {event.correlation.value_or(0), event.external.value_or(0), handle(event.stream),
            handle(event.context)};
  }

  void take_call(const TraceEvent& event) {
    if (!event.correlation) return;
    const NamedCall named = named_call(event.name);
    TracedCall call;
    call.correlation = *event.correlation;
    call.start_ns = start_of(event);
    call.duration_ns = event.duration_ns;
    call.thread = thread_of(event);
    call.what = named.what;
    call.asynchronous = named.asynchronous;
    calls_.add(call, process_of(event));
  }

  // Times of these are the host's, and their calls have them too.
  void take_wait(const TraceEvent& event) {
    if (!event.correlation) return;
    TracedWait wait;
    wait.correlation = *event.correlation;
    wait.context = wait.record_context = handle(event.context);
    if (event.stream && *event.stream < UINT32_MAX) wait.stream = *event.stream;
    if (event.wait_stream && *event.wait_stream < UINT32_MAX)
      wait.record_stream = *event.wait_stream;
    if (event.wait_record) wait.record = *event.wait_record;
    waits_.push_back(wait);
  }

  void take_range(const TraceEvent& event) {
    if (event.category == TraceCategory::python && event.python_id)
      parents_.emplace_back(*event.python_id, event.python_parent.value_or(0));
    const bool annotates = event.category != TraceCategory::python;
    const auto step = annotates ? named_steps_.step_name(event.name) : std::nullopt;
    if (step) named_.push_back({thread_of(event), start_of(event), end_of(event)});
    if (event.name.starts_with(kStep)) {
      steps_.push_back({start_of(event), end_of(event), step_number(event.name)});
      return;
    }
    std::string_view name = step ? *step : event.name;
    RangeNest::Range range;
    range.start_ns = start_of(event);
    range.end_ns = end_of(event);
    range.thread = thread_of(event);
    if (event.category == TraceCategory::python) {
      if (!name.starts_with(kModule)) return;
      name.remove_prefix(kModule.size());
      range.direction = Direction::forward;
      operators_.see_module();
    }
    range.neutral = name.starts_with("Optimizer.");
    range.name = nest_.name(name.substr(0, kLongestName));
    if (event.category == TraceCategory::operation && !range.neutral) {
      range.grouped = true;
      range.direction = Direction::forward;
      range.tag = operators_.add(event);
      if (event.external) externals_.emplace_back(*event.external, range.thread, range.start_ns);
    }
    nest_.add(range);
  }

  std::uint32_t step_at(std::uint64_t when) const {
    const auto behind = std::upper_bound(
        steps_.begin(), steps_.end(), when,
        [](std::uint64_t time, const ImportedStep& step) { return time < step.start_ns; });
    if (behind == steps_.begin() || std::prev(behind)->end_ns <= when) return 0;
    return static_cast<std::uint32_t>(behind - steps_.begin());
  }

  struct Place {
    std::uint32_t range = kNone, step = 0;
    bool known = false;
    const TracedCall* call = nullptr;
  };

  // By the call that has the same number, else by the operator that has.
  Place place_of(const Origin& origin, std::int32_t device, std::uint64_t start_ns) {
    if (const TracedCall* call = calls_.find(origin.correlation, start_ns)) {
      calls_.used(device, *call);
      return {nest_.at(call->thread, call->start_ns), step_at(call->start_ns), true, call};
    }
    const auto external = std::lower_bound(
        externals_.begin(), externals_.end(),
        std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>(origin.external, 0, 0));
    if (origin.external != 0 && external != externals_.end() &&
        std::get<0>(*external) == origin.external) {
      const auto& [id, thread, start] = *external;
      return {nest_.at(thread, start), step_at(start), true};
    }
    // A call that is missing was made between those with the numbers around its own.
    if (const auto around = calls_.around(origin.correlation)) {
      const std::uint32_t step = step_at(around->first->start_ns);
      if (step == step_at(around->second->start_ns)) return {kNone, step, false};
    }
    return {kNone, step_at(start_ns), false};
  }

  void place() {
    std::sort(externals_.begin(), externals_.end());
    std::vector<Place> kernels, copies;
    kernels.reserve(origins_.size());
    copies.reserve(copy_origins_.size());
    for (std::size_t i = 0; i < origins_.size(); ++i) {
      const ImportedKernel& kernel = imported_.kernels[first_kernel_ + i];
      kernels.push_back(place_of(origins_[i], kernel.device, kernel.start_ns));
    }
    for (std::size_t i = 0; i < copy_origins_.size(); ++i) {
      const CopyRecord& copy = imported_.copies[first_copy_ + i].record;
      copies.push_back(place_of(copy_origins_[i], copy.device, copy.start_ns));
    }
    leave_out_early(kernels, copies);
    // A call that launched several kernels replayed a graph, whatever it is called.
    std::vector<bool> launched(calls_.all().size()), several(calls_.all().size());
    const auto number = [this](const Place& place) {
      return static_cast<std::size_t>(place.call - calls_.all().data());
    };
    for (const Place& place : kernels) {
      if (place.call == nullptr) continue;
      if (launched[number(place)]) several[number(place)] = true;
      launched[number(place)] = true;
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      ImportedKernel& kernel = imported_.kernels[first_kernel_ + i];
      const Place& place = kernels[i];
      kernel.layer = nest_.layer(place.range);
      kernel.step = place.step;
      if (!place.known) ++imported_.without_call;
      const bool replayed = graph_nodes_.contains(i) ||
                            (place.call != nullptr && (place.call->what == CallName::graph_launch ||
                                                       several[number(place)]));
      operators_.launched(place.range, kernel, replayed, imported_.functions);
      nest_.project(place.range, kernel.device, kernel.start_ns, kernel.end_ns);
      used_.insert(kernel.device);
    }
    for (std::size_t i = 0; i < copies.size(); ++i) {
      ImportedCopy& copy = imported_.copies[first_copy_ + i];
      const Place& place = copies[i];
      copy.layer = nest_.layer(place.range);
      copy.placed = place.known;
      copy.step = place.step;
      nest_.project(place.range, copy.record.device, copy.record.start_ns, copy.record.end_ns);
    }
  }

  // What was launched before the recording began is the end of a step that is not in the file. A
  // file without steps keeps it.
  void leave_out_early(std::vector<Place>& kernels, std::vector<Place>& copies) {
    const auto early = [this](const Place& place, const Origin& origin, std::int32_t device) {
      return !place.known && calls_.before(origin.correlation, device);
    };
    std::uint64_t early_kernels = 0, early_copies = 0;
    std::size_t kept = 0, kept_copies = 0;
    std::unordered_map<std::size_t, std::uint64_t> nodes;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const ImportedKernel kernel = imported_.kernels[first_kernel_ + i];
      const bool keep = !early(kernels[i], origins_[i], kernel.device);
      if (!keep) ++early_kernels;
      if (!keep && !steps_.empty()) continue;
      imported_.kernels[first_kernel_ + kept] = kernel;
      kernels[kept] = kernels[i];
      origins_[kept] = origins_[i];
      if (const auto node = graph_nodes_.find(i); node != graph_nodes_.end())
        nodes.emplace(kept, node->second);
      ++kept;
    }
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const ImportedCopy copy = imported_.copies[first_copy_ + i];
      const bool keep = !early(copies[i], copy_origins_[i], copy.record.device);
      if (!keep) ++early_copies;
      if (!keep && !steps_.empty()) continue;
      imported_.copies[first_copy_ + kept_copies] = copy;
      copies[kept_copies] = copies[i];
      copy_origins_[kept_copies++] = copy_origins_[i];
    }
    if (kept < kernels.size()) graph_nodes_ = std::move(nodes);
    kernels.resize(kept);
    origins_.resize(kept);
    imported_.kernels.resize(first_kernel_ + kept);
    copies.resize(kept_copies);
    copy_origins_.resize(kept_copies);
    imported_.copies.resize(first_copy_ + kept_copies);
    const bool steps = !steps_.empty();
    if (early_kernels > 0)
      imported_.notes.push_back(early_note(early_kernels, "kernel", "kernels", steps));
    if (early_copies > 0)
      imported_.notes.push_back(early_note(early_copies, "copy", "copies", steps));
    if (kept == 0 && early_kernels > 0)
      throw WrongUse(json_.name() +
                     ": all of its kernels were launched before the recording began, and none in "
                     "its steps: record whole steps.");
  }

  void add_spans() {
    for (const RangeNest::Range& range : nest_.ranges()) {
      if (!range.is_layer) continue;
      ImportedSpan& span = imported_.spans[{step_at(range.start_ns), range.layer}];
      ++span.calls;
      span.cpu_ns += range.end_ns - range.start_ns;
    }
  }

  [[nodiscard]] std::vector<TracedCall> waits() const {
    std::vector<TracedCall> waits;
    std::copy_if(calls_.all().begin(), calls_.all().end(), std::back_inserter(waits),
                 [](const TracedCall& call) { return synchronises(call.what); });
    return waits;
  }

  void record_steps() {
    std::set<std::uint32_t> contexts;  // whose legacy stream has work
    for (const std::vector<Origin>* origins : {&origins_, &copy_origins_})
      for (const Origin& origin : *origins)
        if (origin.stream == kLegacyStream) contexts.insert(origin.context);
    StepRecords records(imported_, first_kernel_, first_copy_);
    for (const RecordWindow& window : records.windows(steps_)) {
      TracedSteps steps;
      steps.starts = window.starts;
      std::copy_if(calls_.all().begin(), calls_.all().end(), std::back_inserter(steps.calls),
                   [&](const TracedCall& call) { return window.holds(call.start_ns); });
      steps.waits = waits_;
      steps.tells_waits = !waits_.empty();
      for (const std::uint32_t context : contexts)
        steps.streams.push_back({kLegacyStream, context, true, false});
      records.add(std::move(steps), [this](bool kernel, std::size_t i) {
        const Origin& origin = kernel ? origins_[i] : copy_origins_[i];
        const auto node = kernel ? graph_nodes_.find(i) : graph_nodes_.end();
        return WorkOrigin{origin.correlation, node != graph_nodes_.end() ? node->second : 0,
                          origin.stream, origin.context};
      });
    }
  }

  // Counted kernels come in the order of their launches, and say nothing else of where they were
  // launched.
  void add_counters(const std::string& name) {
    std::stable_sort(counted_.begin(), counted_.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    std::vector<TracedCall> called;
    std::copy_if(calls_.all().begin(), calls_.all().end(), std::back_inserter(called),
                 [](const TracedCall& call) { return call.what == CallName::launch; });
    std::stable_sort(called.begin(), called.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    const bool same = called.size() == counted_.size();
    std::vector<Imported::CounterLaunch> launches;
    const std::uint32_t unknown = imported_.shapes.intern({});
    for (std::size_t i = 0; i < counted_.size(); ++i) {
      Imported::CounterLaunch& launch = launches.emplace_back(std::move(counted_[i].launch));
      launch.shape = unknown;
      if (same) launch.layer = nest_.layer(nest_.at(called[i].thread, called[i].start_ns));
    }
    used_.insert(0);
    if (!same)
      imported_.notes.push_back(name + " has counters of " + std::to_string(counted_.size()) +
                                " kernels and " + std::to_string(called.size()) +
                                " launches: which layers they belong to is unknown.");
    merge_counters(std::move(launches), json_.name(), imported_);
    imported_.counters_from.push_back("CUPTI through PyTorch's profiler (" + name + ")");
  }

  struct NamedStep {
    std::uint32_t thread = 0;
    std::uint64_t start_ns = 0, end_ns = 0;
  };
  struct Counted {
    std::uint64_t start_ns = 0;
    Imported::CounterLaunch launch;
  };

  JsonStream json_;
  Imported& imported_;
  RangeNest nest_;
  KinetoOperators operators_;
  XlaTrace xla_;
  StepRanges named_steps_;
  NcuMetrics metrics_;
  std::unordered_map<std::string, std::uint32_t> threads_, processes_;
  std::unordered_map<std::string, FunctionId> functions_;
  std::unordered_map<std::string, std::uint32_t> groups_;
  KinetoCalls calls_;
  std::vector<TracedWait> waits_;
  std::unordered_map<std::size_t, std::uint64_t> graph_nodes_;  // of kernels, by their place

  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> externals_;  // thread, start
  std::vector<Origin> origins_, copy_origins_;
  std::vector<ImportedStep> steps_;
  std::vector<NamedStep> named_;  // by --step-range
  std::int64_t earliest_ns_ = INT64_MAX;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parents_;
  std::vector<Counted> counted_;
  std::map<std::int32_t, DeviceInfo> devices_;
  std::set<std::int32_t> used_;
  std::size_t first_kernel_ = 0, first_copy_ = 0, kernels_ = 0;
  bool rank_again_ = false;  // a file before it is of the same
  std::int32_t device_ = 0;
};

}  // namespace

void read_kineto_trace(ByteSource& source, Imported& imported) { Reader(source, imported).read(); }

std::optional<std::int64_t> rank_of_trace(ByteSource& source) {
  JsonStream json(source);
  const Token token = json.next();
  if (token != Token::object) return std::nullopt;
  // PyTorch writes it before the events.
  while (json.key()) {
    if (json.key_text() == "distributedInfo") return read_trace_rank(json).rank;
    json.skip();
  }
  return std::nullopt;
}

}  // namespace gable
