// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_trace.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analysis/base/text.h"
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
#include "tools/streams/sorted_records.h"

namespace gable {
namespace {

using Token = JsonStream::Token;
constexpr std::string_view kStep = "ProfilerStep#", kModule = "nn.Module: ";
constexpr std::uint32_t kNone = RangeNest::kNone;

// A kernel or copy, and what it says of where it came from. Set aside until all calls are known.
struct Work {
  std::uint64_t start_ns = 0, end_ns = 0;  // the trace's: they wrap below its zero
  std::uint64_t correlation = 0, external = 0;
  std::uint64_t graph_node = 0;
  std::uint64_t bytes = 0;                             // of a copy
  std::uint32_t function = 0, shape = 0, message = 0;  // of a kernel
  std::uint32_t stream = 0, context = 0;
  std::int32_t device = 0;
  bool kernel = true, sized = false;  // sized: its bytes are known
  CopyKind kind = CopyKind::other;
  HostMemory host = HostMemory::unknown;
};

using Works = SortedRecords<Work, AsTheyCome>;

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
    read_file();
    if (rank_again_ && !imported_.kernels.empty() && !kernels_.empty())
      throw WrongUse(json_.name() + " is of rank " + std::to_string(*imported_.rank) +
                     ", and so is a file before it: give the trace of each rank once.");
    if (xla_.found() && kernels_.empty()) return xla_.finish(json_.name());
    move_times();
    for (const NamedStep& step : named_) named_steps_.add(step.thread, step.start_ns, step.end_ns);
    check_parents(json_, parents_);
    decltype(parents_)().swap(parents_);
    operators_.name_layers();
    nest_.nest();
    if (named_steps_.asked())
      steps_ = steps_of_ranges(
          named_steps_, [this] { return outer_names(nest_); }, json_.name(), imported_.step_range);
    if (!steps_.empty() && !imported_.steps.empty())
      throw WrongUse(json_.name() +
                     " has steps of its own, and so has a file before it: import each by itself.");
    std::sort(steps_.begin(), steps_.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    if (operators_.number_layers()) nest_.nest();
    operators_.link_backward(imported_.layers);
    std::sort(externals_.begin(), externals_.end());
    number_calls();
    calls_.sort();
    place();
    add_spans();
    imported_.has_calls = imported_.has_calls || !calls_.all().empty();
    add_waits(
        waits(), nest_, [this](std::uint64_t when) { return step_at(steps_, when); }, imported_);
    nest_.finish(imported_);
    record_steps();
    operators_.describe(
        imported_, device_, [this](std::uint64_t when) { return step_at(steps_, when); },
        static_cast<std::uint32_t>(steps_.size()));
    imported_.steps.insert(imported_.steps.end(), steps_.begin(), steps_.end());
    const std::string name = std::filesystem::path(json_.name()).filename().string();
    if (!kernels_.empty()) imported_.times_from.push_back("PyTorch's profiler (" + name + ")");
    if (!counted_.empty()) add_counters(name);
    for (const std::int32_t id : used_) {
      if (const auto device = trace_device(devices_, id))
        add_device(*device, json_.name(), imported_);
    }
    if (kernels_.empty() && counted_.empty())
      throw WrongUse(trace_without_kernels(json_.name(), pytorch_, accelerator_, launches()));
    if (without_duration_ > 0)
      imported_.notes.push_back(
          std::to_string(without_duration_) +
          (without_duration_ == 1 ? " kernel or copy has" : " kernels and copies have") +
          " no duration in " + name + ", and " + (without_duration_ == 1 ? "is" : "are") +
          " left out.");
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
          pytorch_ = pytorch_ || json_.key_text() == "schemaVersion";
          json_.skip();
        }
      }
      if (!events)
        throw WrongUse(json_.name() +
                       " has no traceEvents: it is JSON, and no trace of PyTorch's, JAX's or "
                       "TensorFlow's profiler.");
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
      pytorch_ = pytorch_ || event.category != TraceCategory::other;
      if (accelerator_.empty()) accelerator_ = event.accelerator;
      if (event.metadata) {
        xla_.name(event);
      } else if (event.complete && event.category == TraceCategory::other) {
        xla_.take(event);
      } else if (event.complete) {
        take(event);
      }
    }
  }

  static bool is_gpu_work(TraceCategory category) {
    return category == TraceCategory::kernel || category == TraceCategory::memcpy ||
           category == TraceCategory::memset;
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
    const std::uint64_t by = moved_by_ = 1 - static_cast<std::uint64_t>(earliest_ns_);
    for (TracedCall& call : calls_.all()) call.start_ns += by;
    for (auto& [call, process] : unnumbered_) call.start_ns += by;
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
    if (is_gpu_work(event.category) && !event.has_duration) {
      ++without_duration_;
      return;
    }
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
    Work kernel = work_of(event);
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
    device_ = kernel.device;
    if (const auto message = collective_of(event.message)) {
      ImportedMessage& told = imported_.messages.emplace_back();
      static_cast<CollectiveCall&>(told) = *message;
      told.group = group_of(event.message);
      told.stream = handle(event.stream);
      told.sequence = event.message.sequence;
      kernel.message = static_cast<std::uint32_t>(imported_.messages.size());
    } else {
      kernel.message = name_message(imported_, kernel.function, 0, handle(event.stream));
    }
    kernel.graph_node = event.graph_node.value_or(0);
    kernels_.add(kernel);
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
    Work copy = work_of(event);
    copy.kernel = false;
    copy.sized = event.bytes.has_value();
    copy.bytes = event.bytes.value_or(0);
    copy.kind =
        event.category == TraceCategory::memset ? CopyKind::memset : kind_of_copy(event.name);
    copy.host = host_memory(event.name);
    copies_.add(copy);
  }

  static Work work_of(const TraceEvent& event) {
    Work work;
    work.start_ns = start_of(event);
    work.end_ns = end_of(event);
    work.correlation = event.correlation.value_or(0);
    work.external = event.external.value_or(0);
    work.stream = handle(event.stream);
    work.context = handle(event.context);
    work.device = static_cast<std::int32_t>(event.device.value_or(0));
    return work;
  }

  void take_call(const TraceEvent& event) {
    const auto& number = event.correlation ? event.correlation : event.external;
    if (!number) return;
    const NamedCall named = named_call(event.name);
    TracedCall call;
    call.correlation = *number;
    call.start_ns = start_of(event);
    call.duration_ns = event.duration_ns;
    call.thread = thread_of(event);
    call.what = named.what;
    call.asynchronous = named.asynchronous;
    if (event.correlation)
      calls_.add(call, process_of(event));
    else
      unnumbered_.emplace_back(call, process_of(event));
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
    range.name = nest_.name(fitting_name(name, kLongestRangeName));
    if (event.category == TraceCategory::operation && !range.neutral) {
      range.grouped = true;
      range.direction = Direction::forward;
      range.tag = operators_.add(event);
      if (event.external) externals_.emplace_back(*event.external, range.thread, range.start_ns);
    }
    nest_.add(range);
  }

  struct Place {
    std::uint32_t range = kNone, step = 0;
    std::uint32_t call = kNone;  // its place among the calls
    bool known = false, left_out = false;
  };

  // AMD's older profiler has no "correlation". Its "External id" is that of the call, where others'
  // is that of the operator around it.
  void number_calls() {
    if (calls_.all().empty()) {
      std::size_t launches = 0, of_operators = 0;
      for (const auto& [call, process] : unnumbered_) {
        if (call.what != CallName::launch) continue;
        ++launches;
        of_operators += is_of_operator(call) ? 1 : 0;
      }
      external_is_call_ = 2 * of_operators < launches;
    }
    if (external_is_call_)
      for (const auto& [call, process] : unnumbered_) calls_.add(call, process);
    decltype(unnumbered_)().swap(unnumbered_);
  }

  // Its number is that of an operator around it.
  [[nodiscard]] bool is_of_operator(const TracedCall& call) const {
    const auto& ranges = nest_.ranges();
    for (std::uint32_t at = nest_.at(call.thread, call.start_ns); at != kNone;
         at = ranges[at].parent)
      if (std::binary_search(externals_.begin(), externals_.end(),
                             std::tuple(call.correlation, call.thread, ranges[at].start_ns)))
        return true;
    return false;
  }

  // Of the call that launched it.
  [[nodiscard]] std::uint64_t number_of(const Work& work) const {
    return external_is_call_ ? work.external : work.correlation;
  }

  // By the call that has the same number, else by the operator that has.
  Place place_of(const Work& work) {
    const std::uint64_t number = number_of(work);
    if (const TracedCall* call = calls_.find(number, work.start_ns + moved_by_)) {
      calls_.used(work.device, *call);
      return {nest_.at(call->thread, call->start_ns), step_at(steps_, call->start_ns),
              static_cast<std::uint32_t>(call - calls_.all().data()), true};
    }
    const auto external = std::lower_bound(
        externals_.begin(), externals_.end(),
        std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>(work.external, 0, 0));
    if (!external_is_call_ && work.external != 0 && external != externals_.end() &&
        std::get<0>(*external) == work.external) {
      const auto& [id, thread, start] = *external;
      return {nest_.at(thread, start), step_at(steps_, start), kNone, true};
    }
    // A call that is missing was made between those with the numbers around its own.
    if (const auto around = calls_.around(number)) {
      const std::uint32_t step = step_at(steps_, around->first->start_ns);
      if (step == step_at(steps_, around->second->start_ns)) return {kNone, step};
    }
    return {kNone, step_at(steps_, work.start_ns + moved_by_)};
  }

  void place() {
    for (auto* each = kernels_.first(); each != nullptr; each = kernels_.next())
      kernel_places_.push_back(place_of(*each));
    for (auto* each = copies_.first(); each != nullptr; each = copies_.next())
      copy_places_.push_back(place_of(*each));
    decltype(externals_)().swap(externals_);
    leave_out_early();
    // A call that launched several kernels replayed a graph, whatever it is called.
    std::vector<bool> launched(calls_.all().size()), several(calls_.all().size());
    for (const Place& place : kernel_places_) {
      if (place.call == kNone || place.left_out) continue;
      if (launched[place.call]) several[place.call] = true;
      launched[place.call] = true;
    }
    sequences_.resize(steps_.size());
    each_kept(kernels_, kernel_places_, [&](const Work& work, const Place& place) {
      const ImportedKernel kernel = kernel_of(work, place);
      if (!place.known) ++imported_.without_call;
      const bool replayed =
          work.graph_node > 0 ||
          (place.call != kNone &&
           (calls_.all()[place.call].what == CallName::graph_launch || several[place.call]));
      operators_.launched(place.range, kernel, replayed, imported_.functions);
      nest_.project(place.range, kernel.device, kernel.start_ns, kernel.end_ns);
      used_.insert(kernel.device);
      if (kernel.step > 0) sequences_[kernel.step - 1] += work_hash(kernel);
      imported_.kernels.add(kernel);
    });
    each_kept(copies_, copy_places_, [&](const Work& work, const Place& place) {
      ImportedCopy copy = copy_of(work, place);
      nest_.project(place.range, work.device, copy.record.start_ns, copy.record.end_ns);
      copy.place = imported_.copies.size();
      imported_.copies.add(copy);
    });
  }

  template <typename Take>
  static void each_kept(Works& works, const std::vector<Place>& places, Take take) {
    std::size_t i = 0;
    for (auto* each = works.first(); each != nullptr; each = works.next())
      if (const Place& place = places[i++]; !place.left_out) take(*each, place);
  }

  [[nodiscard]] ImportedKernel kernel_of(const Work& work, const Place& place) const {
    ImportedKernel kernel;
    kernel.start_ns = work.start_ns + moved_by_;
    kernel.end_ns = work.end_ns + moved_by_;
    kernel.function = work.function;
    kernel.shape = work.shape;
    kernel.layer = nest_.layer(place.range);
    kernel.device = work.device;
    kernel.step = place.step;
    kernel.message = work.message;
    kernel.context = work.context;
    kernel.stream = work.stream;
    return kernel;
  }

  [[nodiscard]] ImportedCopy copy_of(const Work& work, const Place& place) const {
    ImportedCopy copy;
    copy.record.start_ns = work.start_ns + moved_by_;
    copy.record.end_ns = work.end_ns + moved_by_;
    if (work.sized) copy.record.bytes = work.bytes;
    copy.record.device = work.device;
    copy.record.kind = work.kind;
    copy.record.host = work.host;
    copy.layer = nest_.layer(place.range);
    copy.placed = place.known;
    copy.step = place.step;
    return copy;
  }

  // What was launched before the recording began is the end of a step that is not in the file. A
  // file without steps keeps it.
  void leave_out_early() {
    const bool steps = !steps_.empty();
    const auto count = [&](Works& works, std::vector<Place>& places) {
      std::uint64_t early = 0;
      std::size_t i = 0;
      for (auto* each = works.first(); each != nullptr; each = works.next()) {
        Place& place = places[i++];
        if (place.known || !calls_.before(number_of(*each), each->device)) continue;
        ++early;
        place.left_out = steps;
      }
      return early;
    };
    const std::uint64_t early_kernels = count(kernels_, kernel_places_);
    const std::uint64_t early_copies = count(copies_, copy_places_);
    if (early_kernels > 0)
      imported_.notes.push_back(early_note(early_kernels, "kernel", "kernels", steps));
    if (early_copies > 0)
      imported_.notes.push_back(early_note(early_copies, "copy", "copies", steps));
    if (steps && early_kernels > 0 && early_kernels == kernels_.size())
      throw WrongUse(json_.name() +
                     ": all of its kernels were launched before the recording began, and none in "
                     "its steps: record whole steps.");
  }

  void add_spans() {
    for (const RangeNest::Range& range : nest_.ranges()) {
      if (!range.is_layer) continue;
      imported_.spans.add(
          {step_at(steps_, range.start_ns), range.layer, 1, range.end_ns - range.start_ns, 0});
    }
  }

  [[nodiscard]] std::size_t launches() const {
    return static_cast<std::size_t>(
        std::count_if(calls_.all().begin(), calls_.all().end(), [](const TracedCall& call) {
          return call.what == CallName::launch || call.what == CallName::graph_launch;
        }));
  }

  [[nodiscard]] std::vector<TracedCall> waits() const {
    std::vector<TracedCall> waits;
    std::copy_if(calls_.all().begin(), calls_.all().end(), std::back_inserter(waits),
                 [](const TracedCall& call) { return synchronises(call.what); });
    return waits;
  }

  void record_steps() {
    std::set<std::uint32_t> contexts;  // whose legacy stream has work
    const auto see = [&](const Work& work, const Place&) {
      if (work.stream == kLegacyStream) contexts.insert(work.context);
    };
    each_kept(kernels_, kernel_places_, see);
    each_kept(copies_, copy_places_, see);
    for (const RecordWindow& window : record_windows(sequences_, steps_)) {
      TracedSteps steps;
      steps.starts = window.starts;
      std::copy_if(calls_.all().begin(), calls_.all().end(), std::back_inserter(steps.calls),
                   [&](const TracedCall& call) { return window.holds(call.start_ns); });
      steps.waits = waits_;
      steps.tells_waits = !waits_.empty();
      for (const std::uint32_t context : contexts)
        steps.streams.push_back({kLegacyStream, context, true, false});
      StepRecordMaker maker(imported_, std::move(steps));
      const auto add = [&](const Work& work, const Place& place) {
        if (!maker.wants(number_of(work))) return;
        const WorkOrigin origin{number_of(work), work.graph_node, work.stream, work.context};
        if (work.kernel)
          maker.add(kernel_of(work, place), origin);
        else
          maker.add(copy_of(work, place), origin);
      };
      each_kept(kernels_, kernel_places_, add);
      each_kept(copies_, copy_places_, add);
      maker.finish();
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
  std::vector<std::pair<TracedCall, std::uint32_t>> unnumbered_;  // have an external id alone
  bool external_is_call_ = false;                                 // and it is the call's own
  std::vector<TracedWait> waits_;
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> externals_;  // thread, start
  Works kernels_, copies_;
  std::vector<Place> kernel_places_, copy_places_;
  std::vector<std::uint64_t> sequences_;  // of steps
  std::vector<ImportedStep> steps_;
  std::vector<NamedStep> named_;  // by --step-range
  std::int64_t earliest_ns_ = INT64_MAX;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parents_;
  std::vector<Counted> counted_;
  std::map<std::int32_t, DeviceInfo> devices_;
  std::set<std::int32_t> used_;
  bool rank_again_ = false;  // a file before it is of the same
  std::uint64_t moved_by_ = 0, without_duration_ = 0;
  std::int32_t device_ = 0;
  bool pytorch_ = false;
  std::string_view accelerator_;
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
