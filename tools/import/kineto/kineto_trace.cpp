// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/kineto_trace.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <set>
#include <unordered_map>

#include "analysis/base/text.h"
#include "tools/base/wrong_use.h"
#include "tools/import/kineto/counted_kernels.h"
#include "tools/import/kineto/kineto_operators.h"
#include "tools/import/kineto/kineto_parts.h"
#include "tools/import/kineto/launch_places.h"
#include "tools/import/kineto/trace_event.h"
#include "tools/import/kineto/traced_work.h"
#include "tools/import/kineto/xla_trace.h"
#include "tools/import/records/range_nest.h"
#include "tools/import/records/step_records.h"
#include "tools/streams/json_stream.h"
#include "tools/streams/sorted_records.h"

namespace gable {
namespace {

using Token = JsonStream::Token;
using Place = LaunchPlaces::Place;
constexpr std::string_view kStep = "ProfilerStep#", kModule = "nn.Module: ";
constexpr std::uint32_t kNone = RangeNest::kNone;

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

class Reader {
 public:
  Reader(ByteSource& source, Imported& imported)
      : json_(source),
        imported_(imported),
        nest_(imported.layers),
        operators_(nest_),
        xla_(imported),
        named_steps_(imported.step_range),
        work_(imported),
        places_(nest_, steps_),
        counted_(imported) {}

  void read() {
    read_file();
    if (rank_again_ && !imported_.kernels.empty() && !work_.kernels().empty())
      throw WrongUse(json_.name() + " is of rank " + std::to_string(*imported_.rank) +
                     ", and so is a file before it: give the trace of each rank once.");
    if (xla_.found() && work_.kernels().empty()) return xla_.finish(json_.name());
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
    places_.finish();
    place();
    add_spans();
    imported_.has_calls = imported_.has_calls || !places_.calls().empty();
    add_waits(
        waits(), nest_, [this](std::uint64_t when) { return step_at(steps_, when); }, imported_);
    nest_.finish(imported_);
    record_steps();
    operators_.describe(
        imported_, work_.device(), [this](std::uint64_t when) { return step_at(steps_, when); },
        static_cast<std::uint32_t>(steps_.size()));
    imported_.steps.insert(imported_.steps.end(), steps_.begin(), steps_.end());
    const std::string name = std::filesystem::path(json_.name()).filename().string();
    if (!work_.kernels().empty())
      imported_.times_from.push_back("PyTorch's profiler (" + name + ")");
    if (!counted_.empty()) {
      used_.insert(0);
      counted_.finish(places_.calls(), nest_, json_.name());
    }
    for (const std::int32_t id : used_) {
      if (const auto device = trace_device(devices_, id))
        add_device(*device, json_.name(), imported_);
    }
    if (work_.kernels().empty() && counted_.empty())
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
          if (begun != Token::array) json_.broken("traceEvents is not a list");
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
                       " has no traceEvents: it is JSON, but not a trace of PyTorch's, JAX's or "
                       "TensorFlow's profiler.");
    } else {
      json_.broken("this is not a trace of PyTorch's profiler");
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

  // So that no time is below 0, or is 0, which stands for an unknown one elsewhere.
  void move_times() {
    if (earliest_ns_ > 0) return;
    const std::uint64_t by = moved_by_ = 1 - static_cast<std::uint64_t>(earliest_ns_);
    places_.move(by);
    for (RangeNest::Range& range : nest_.ranges()) {
      range.start_ns += by;
      range.end_ns += by;
    }
    for (ImportedStep& step : steps_) {
      step.start_ns += by;
      step.end_ns += by;
    }
    for (NamedStep& step : named_) {
      step.start_ns += by;
      step.end_ns += by;
    }
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
        return work_.take_kernel(event);
      case TraceCategory::memcpy:
      case TraceCategory::memset:
        return work_.take_copy(event);
      case TraceCategory::call:
        return take_call(event);
      case TraceCategory::wait:
        return take_wait(event);
      case TraceCategory::operation:
      case TraceCategory::annotation:
      case TraceCategory::python:
        return take_range(event);
      case TraceCategory::counters:
        return counted_.take(event);
      case TraceCategory::other:
        return;
    }
  }

  void take_call(const TraceEvent& event) {
    const auto& number = event.correlation ? event.correlation : event.external;
    if (!number) return;
    const NamedCall named = named_call(event.name);
    TracedCall call;
    call.correlation = *number;
    call.start_ns = event.wrapped_start_ns();
    call.duration_ns = event.duration_ns;
    call.thread = thread_of(event);
    call.what = named.what;
    call.asynchronous = named.asynchronous;
    places_.add_call(call, process_of(event), event.correlation.has_value());
  }

  // Times of these are the host's, and their calls have them too.
  void take_wait(const TraceEvent& event) {
    if (!event.correlation) return;
    TracedWait wait;
    wait.correlation = *event.correlation;
    wait.context = wait.record_context = trace_handle(event.context);
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
    if (step)
      named_.push_back({thread_of(event), event.wrapped_start_ns(), event.wrapped_end_ns()});
    if (event.name.starts_with(kStep)) {
      steps_.push_back({event.wrapped_start_ns(), event.wrapped_end_ns(), step_number(event.name)});
      return;
    }
    std::string_view name = step ? *step : event.name;
    RangeNest::Range range;
    range.start_ns = event.wrapped_start_ns();
    range.end_ns = event.wrapped_end_ns();
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
      if (event.external) places_.add_operator(*event.external, range.thread, range.start_ns);
    }
    nest_.add(range);
  }

  void place() {
    kernel_places_ = places_.of(work_.kernels());
    copy_places_ = places_.of(work_.copies());
    places_.forget_operators();
    leave_out_early();
    // A call that launched several kernels replayed a graph, whatever it is called.
    const std::vector<TracedCall>& calls = places_.calls();
    std::vector<bool> launched(calls.size()), several(calls.size());
    for (const Place& place : kernel_places_) {
      if (place.call == kNone || place.left_out) continue;
      if (launched[place.call]) several[place.call] = true;
      launched[place.call] = true;
    }
    sequences_.resize(steps_.size());
    each_kept(work_.kernels(), kernel_places_, [&](const TracedWork& work, const Place& place) {
      const ImportedKernel kernel = kernel_of(work, place);
      if (!place.known) ++imported_.without_call;
      const bool replayed =
          work.graph_node > 0 ||
          (place.call != kNone &&
           (calls[place.call].what == CallName::graph_launch || several[place.call]));
      operators_.launched(place.range, kernel, replayed, imported_);
      nest_.project(place.range, kernel.device, kernel.start_ns, kernel.end_ns);
      used_.insert(kernel.device);
      if (kernel.step > 0) sequences_[kernel.step - 1] += work_hash(kernel);
      imported_.kernels.add(kernel);
    });
    each_kept(work_.copies(), copy_places_, [&](const TracedWork& work, const Place& place) {
      ImportedCopy copy = copy_of(work, place);
      nest_.project(place.range, work.device, copy.record.start_ns, copy.record.end_ns);
      copy.place = imported_.copies.size();
      imported_.copies.add(copy);
    });
  }

  [[nodiscard]] ImportedKernel kernel_of(const TracedWork& work, const Place& place) const {
    ImportedKernel kernel = work.as_kernel(moved_by_);
    kernel.layer = nest_.layer(place.range);
    kernel.step = place.step;
    return kernel;
  }

  [[nodiscard]] ImportedCopy copy_of(const TracedWork& work, const Place& place) const {
    ImportedCopy copy = work.as_copy(moved_by_);
    copy.layer = nest_.layer(place.range);
    copy.placed = place.known;
    copy.step = place.step;
    return copy;
  }

  void leave_out_early() {
    const bool steps = !steps_.empty();
    const auto early_kernels = places_.leave_out_early(work_.kernels(), kernel_places_);
    const auto early_copies = places_.leave_out_early(work_.copies(), copy_places_);
    if (early_kernels > 0)
      imported_.notes.push_back(early_note(early_kernels, "kernel", "kernels", steps));
    if (early_copies > 0)
      imported_.notes.push_back(early_note(early_copies, "copy", "copies", steps));
    if (steps && early_kernels > 0 && early_kernels == work_.kernels().size())
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
        std::count_if(places_.calls().begin(), places_.calls().end(), [](const TracedCall& call) {
          return call.what == CallName::launch || call.what == CallName::graph_launch;
        }));
  }

  [[nodiscard]] std::vector<TracedCall> waits() const {
    std::vector<TracedCall> waits;
    std::copy_if(places_.calls().begin(), places_.calls().end(), std::back_inserter(waits),
                 [](const TracedCall& call) { return synchronises(call.what); });
    return waits;
  }

  void record_steps() {
    std::set<std::uint32_t> contexts;  // whose legacy stream has work
    const auto see = [&](const TracedWork& work, const Place&) {
      if (work.stream == kLegacyStream) contexts.insert(work.context);
    };
    each_kept(work_.kernels(), kernel_places_, see);
    each_kept(work_.copies(), copy_places_, see);
    for (const RecordWindow& window : record_windows(sequences_, steps_)) {
      TracedSteps steps;
      steps.starts = window.starts;
      std::copy_if(places_.calls().begin(), places_.calls().end(), std::back_inserter(steps.calls),
                   [&](const TracedCall& call) { return window.holds(call.start_ns); });
      steps.waits = waits_;
      steps.tells_waits = !waits_.empty();
      steps.inputs = nest_.inputs(window.starts.front(), window.starts.back());
      for (const std::uint32_t context : contexts)
        steps.streams.push_back({kLegacyStream, context, true, false});
      StepRecordMaker maker(imported_, std::move(steps));
      const auto add = [&](const TracedWork& work, const Place& place) {
        if (!maker.wants(places_.number_of(work))) return;
        const WorkOrigin origin{places_.number_of(work), work.graph_node, work.stream,
                                work.context};
        if (work.kernel)
          maker.add(kernel_of(work, place), origin);
        else
          maker.add(copy_of(work, place), origin);
      };
      each_kept(work_.kernels(), kernel_places_, add);
      each_kept(work_.copies(), copy_places_, add);
      maker.finish();
    }
  }

  struct NamedStep {
    std::uint32_t thread = 0;
    std::uint64_t start_ns = 0, end_ns = 0;
  };
  JsonStream json_;
  Imported& imported_;
  RangeNest nest_;
  KinetoOperators operators_;
  XlaTrace xla_;
  StepRanges named_steps_;
  std::unordered_map<std::string, std::uint32_t> threads_, processes_;
  WorkReader work_;
  std::vector<ImportedStep> steps_;
  LaunchPlaces places_;
  CountedKernels counted_;
  std::vector<TracedWait> waits_;
  std::vector<Place> kernel_places_, copy_places_;
  std::vector<std::uint64_t> sequences_;  // of steps
  std::vector<NamedStep> named_;          // by --step-range
  std::int64_t earliest_ns_ = INT64_MAX;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parents_;
  std::map<std::int32_t, DeviceInfo> devices_;
  std::set<std::int32_t> used_;
  bool rank_again_ = false;  // a file before it is of the same
  std::uint64_t moved_by_ = 0, without_duration_ = 0;
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
