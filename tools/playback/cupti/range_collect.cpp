// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: what the range profiler counts between Start and Stop.
#include <algorithm>
#include <set>

#include "analysis/events/quantities.h"
#include "tools/playback/cupti/range_collect.h"

namespace gable::playback {
namespace {

// What a user range lasts longer than its kernel, as in PyTorch on an H200.
constexpr double kHostsShareNs = 64000;

void merge(Collected& into, const Collected& more) {
  for (std::size_t i = 0; i < into.values.size(); ++i) into.values[i] += more.values[i];
  into.launches += more.launches;
}

bool is(const char* name, const char* value) { return the_gpu().control().is(name, value); }

// Instrumented code counts only in modules that were patched.
double value_of(const CUpti_RangeProfiler_Object& object, const std::string& metric,
                const Work& work) {
  const Module* module = work.function == nullptr ? nullptr : work.function->module;
  const bool late = module != nullptr && module->id >= object.first_late_module;
  if (late && metric.find("_sass_") != std::string::npos && is("late_modules", "unpatched"))
    return 0;
  const auto& devices = the_gpu().recording().devices;
  return counter_value(work, metric, devices[static_cast<std::size_t>(object.context->device)]);
}

// Where a range counts whatever runs meanwhile, kernels that overlap are in both ranges.
void count_overlapping(CUpti_RangeProfiler_Object& object) {
  Collected& instance = object.instance;
  const std::vector<double> own = instance.values;
  for (Collected& other : object.collected) {
    if (other.last_end <= instance.first_start || other.first_start >= instance.last_end) continue;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (object.config.metrics[i] == "gpu__time_duration.sum") continue;
      instance.values[i] += other.values[i];
      other.values[i] += own[i];
    }
  }
}

void automatic_range(CUpti_RangeProfiler_Object& object, const Work& work) {
  // The program waits for every further run of the kernel.
  if (object.replays > 1) the_gpu().advance((object.replays - 1) * (work.end_ns - work.start_ns));
  begin_instance(object, std::to_string(object.automatic++));
  count(object, work);
  end_instance(object);
}

}  // namespace

std::set<CUpti_RangeProfiler_Object*>& range_objects() {
  static auto* all = new std::set<CUpti_RangeProfiler_Object*>;
  return *all;
}

std::recursive_mutex& range_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

CUpti_RangeProfiler_Object* started_object(const Context* context) {
  for (CUpti_RangeProfiler_Object* object : range_objects()) {
    if (object->context == context && object->started) return object;
  }
  return nullptr;
}

void begin_instance(CUpti_RangeProfiler_Object& object, const std::string& name) {
  object.instance = {};
  object.instance.name = name;
  object.instance.values.assign(object.config.metrics.size(), 0.0);
  object.counting = true;
}

void count(CUpti_RangeProfiler_Object& object, const Work& work) {
  Collected& instance = object.instance;
  for (std::size_t i = 0; i < instance.values.size(); ++i) {
    instance.values[i] += value_of(object, object.config.metrics[i], work);
  }
  const auto recorded = [](const CounterValues* values) {
    return values != nullptr && values->contains("gpu__time_duration.sum");
  };
  instance.counted_time = recorded(work.counters) ||
                          recorded(work.kernel == nullptr ? nullptr : &work.kernel->counters);
  ++instance.launches;
  instance.first_start = std::min(instance.first_start, work.start_ns);
  instance.last_end = std::max(instance.last_end, work.end_ns);
}

void end_instance(CUpti_RangeProfiler_Object& object) {
  object.counting = false;
  Collected& instance = object.instance;
  const DeviceInfo& device =
      the_gpu().recording().devices[static_cast<std::size_t>(object.context->device)];
  // A range of several launches lasts from the first start to the last end, gaps included.
  const auto span =
      static_cast<double>(instance.last_end - std::min(instance.first_start, instance.last_end));
  for (std::size_t i = 0; i < instance.values.size() && instance.launches > 1; ++i) {
    const std::string& metric = object.config.metrics[i];
    // The mean of the launches: a peak per cycle is no larger because more was launched.
    if (is_ratio(metric)) instance.values[i] /= static_cast<double>(instance.launches);
    if (metric == "gpu__time_duration.sum") instance.values[i] = span;
    if (metric.rfind("sm__cycles_elapsed", 0) == 0) {
      instance.values[i] = span * static_cast<double>(device.sm_clock_max_hz) / 1e9;
    }
  }
  const bool exact = instance.launches == 1 && instance.counted_time;
  if (object.mode == CUPTI_UserRange && !exact && is("user_range_time", "longer")) {
    for (std::size_t i = 0; i < instance.values.size(); ++i) {
      const std::string& metric = object.config.metrics[i];
      if (metric == "gpu__time_duration.sum") instance.values[i] += kHostsShareNs;
      if (metric.rfind("sm__cycles_elapsed", 0) == 0)
        instance.values[i] += kHostsShareNs * static_cast<double>(device.sm_clock_max_hz) / 1e9;
    }
  }
  for (std::size_t i = 0; i < instance.values.size(); ++i) {
    if (object.config.metrics[i].find("ctas_launched") != std::string::npos &&
        the_gpu().control().take_wrong_ctas()) {
      instance.values[i] += 1;
    }
  }
  const bool user = object.mode == CUPTI_UserRange;
  if ((user && instance.launches == 1 && is("user_ranges", "several_launches")) ||
      (!user && is("auto_ranges", "uncounted")))
    instance.values.assign(instance.values.size(), 0.0);
  if (is("user_ranges", "overlapping") && object.mode == CUPTI_UserRange) count_overlapping(object);
  // "A metric is collected separately per unique range-stack": ranges of one name are one
  // (cupti_profiler_target.h).
  if (is("same_name_ranges", "merged")) {
    const auto same = object.by_name.find(instance.name);
    if (same != object.by_name.end()) return merge(object.collected[same->second], instance);
  }
  if (object.collected.size() >= object.max_ranges) {
    if (is("range_overflow", "counted")) ++object.dropped;
    return;
  }
  object.by_name.emplace(instance.name, object.collected.size());
  object.collected.push_back(instance);
}

void range_submitted(const Work& work) {
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  CUpti_RangeProfiler_Object* object = started_object(work.context);
  if (object == nullptr) return;
  if (work.thread != object->starter && is("ranged_threads", "starter")) return;
  if (object->mode != CUPTI_AutoRange) {
    if (object->counting && work.kind == Work::Kind::kernel) count(*object, work);
  } else if (work.kind != Work::Kind::kernel) {
    if (is("copies_in_auto_ranges", "ranged")) automatic_range(*object, work);
  } else if (work.graph == 0 ||
             is(object->replays == 0 ? "graphs_in_auto_ranges" : "graphs_in_replay", "ranged")) {
    automatic_range(*object, work);
  } else if (object->replays == 0 && is("graphs_in_auto_ranges", "dropped")) {
    ++object->dropped;
  } else if (object->replays == 0) {
    object->cannot_stop = true;
  }
}

void range_captured(const Work& work) {
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  CUpti_RangeProfiler_Object* object = started_object(work.context);
  if (object == nullptr) return;
  if (is("capture_in_window", "drops_ranges")) ++object->dropped;
  if (object->mode == CUPTI_AutoRange) {
    broken(
        "a stream captured a launch while automatic ranges were on, which wait after every launch");
  }
}

void range_context_gone(Context* context) {
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  for (CUpti_RangeProfiler_Object* object : range_objects()) {
    if (object->context != context) continue;
    object->context_gone = true;
    if (!object->started) continue;
    broken("a context was destroyed between Start and Stop of its range profiler");
    object->started = false;
    armed_profilers().fetch_sub(1);
  }
}

}  // namespace gable::playback
