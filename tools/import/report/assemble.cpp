// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/assemble.h"

#include <cmath>
#include <memory>
#include <optional>

#include "analysis/builder/report_builder.h"
#include "analysis/profile/profile.h"
#include "tools/base/wrong_use.h"
#include "tools/import/counters/derived.h"
#include "tools/import/counters/ncu_metrics.h"
#include "tools/import/counters/stated_peaks.h"
#include "tools/import/report/finish.h"
#include "tools/import/report/join.h"

namespace gable {
namespace {

constexpr Phase kTime{PhaseKind::time, 0}, kCounters{PhaseKind::hw, 0};

ProfileLimits limits() {
  ProfileLimits limits;
  limits.max_keys = kMostLaunchKeys;
  limits.max_window_records = 1u << 23;
  return limits;
}

// What one file says was measured together: nothing is there to be compared between windows.
JoinChecks checks() {
  JoinChecks checks;
  checks.launches_agree = false;
  checks.flops_agree = false;
  checks.spread = false;
  return checks;
}

class Assembly {
 public:
  explicit Assembly(Imported& imported)
      : imported_(imported), profile_(imported.layers, imported.functions, limits(), checks()) {}

  Report report(const StoredRoofs& roofs) {
    if (imported_.kernels.empty() && imported_.counters.empty())
      throw WrongUse(
          "There is no kernel in these files: nothing ran on a GPU while they were "
          "recorded, or kernels were not traced.");
    derive_quantities(imported_);
    state_peaks(imported_);
    const bool counted = !imported_.counters.empty(), timed = !imported_.kernels.empty();
    for (const auto& [id, device] : imported_.devices) profile_.add_device(device);
    if (counted) profile_.set_metrics(kCounters, imported_.metrics);
    if (counted) profile_.set_raw_metrics(parts_of_sums(imported_.metrics));
    if (timed) {
      std::optional<Join> join;
      if (counted) join.emplace(imported_);
      add_times(join ? &*join : nullptr);
      for (StepRecord& record : imported_.step_records) profile_.add(std::move(record));
      imported_.step_records.clear();
    } else {
      add_counters();
    }
    return finish_report(imported_, profile_, roofs, counted, timed);
  }

 private:
  // Where the records are read: by step, each once.
  struct Places {
    const ImportedKernel* kernel;
    const ImportedCopy* copy;
    std::optional<ImportedSpan> span;
    Join* join;  // nullptr: nothing was counted
  };

  void add_sample(const LaunchKey& key, const Imported::CounterLaunch& launch, WindowId window) {
    values_.assign(imported_.metrics.size(), NAN);
    for (const auto& [metric, value] : launch.values) values_[metric] = value;
    CounterSample sample;
    sample.key = key;
    sample.values = values_.data();
    sample.resources = imported_.resources.find(launch.function, launch.shape);
    profile_.add(kCounters, window, sample);
  }

  void end(WindowId window, Phase phase, std::uint64_t sequence, const ImportedStep& whole = {},
           std::uint64_t step = 0) {
    WindowEnd end;
    end.window = window;
    end.phase = phase;
    end.sequence_hash = sequence;
    end.start_ns = whole.start_ns;
    end.end_ns = whole.end_ns;
    end.step = step;
    profile_.end_window(end);
  }

  // Each step is a window of its own; without steps all that ran is one.
  void add_times(Join* join) {
    drop_stubs();
    const auto steps = static_cast<std::uint32_t>(imported_.steps.size());
    Places at{imported_.kernels.first(), imported_.copies.first(), imported_.spans.first(), join};
    if (steps > 0) leave_out(at);
    WindowId window = kNoWindow;
    for (std::uint32_t step = steps > 0 ? 1 : 0; step <= steps; ++step)
      add_window(at, step, window);
  }

  // PyTorch's profiler begins a step when the program says that one is over, also after the last. A
  // step at the end in which nothing ran is none.
  void drop_stubs() {
    const std::size_t steps = imported_.steps.size(), last = imported_.kernels.last_step();
    if (last == 0 || last == steps) return;
    imported_.steps.resize(last);
    imported_.notes.push_back(steps - last == 1 ? "The last step has no kernel, and is left out."
                                                : "The last " + std::to_string(steps - last) +
                                                      " steps have no kernel, and are left out.");
  }

  // What ran outside of the steps comes first.
  void leave_out(Places& at) {
    std::uint64_t kernels = 0;
    for (; at.kernel != nullptr && at.kernel->step == 0; at.kernel = imported_.kernels.next()) {
      ++kernels;
      if (at.join != nullptr) (void)at.join->of(*at.kernel);
    }
    if (at.kernel == nullptr)
      throw WrongUse(
          "No kernel in these files was launched within a step: record whole steps, or "
          "without steps.");
    std::uint64_t copies = 0;
    for (; at.copy != nullptr && at.copy->step == 0; at.copy = imported_.copies.next()) ++copies;
    while (at.span && at.span->step == 0) at.span = imported_.spans.next();
    tell_outside(kernels, imported_.kernels.size(), "kernels");
    tell_outside(copies, imported_.copies.size(), "copies and memsets");
  }

  void tell_outside(std::uint64_t count, std::uint64_t all, const char* what) {
    if (count == 0) return;
    imported_.notes.push_back(std::to_string(count) + " of " + std::to_string(all) + " " + what +
                              " ran outside of the steps, and are left out.");
  }

  void add_window(Places& at, std::uint32_t step, WindowId& window) {
    const WindowId timed = ++window;
    const WindowId counted = at.join == nullptr ? kNoWindow : ++window;
    profile_.begin_window(timed, kTime);
    if (counted != kNoWindow) profile_.begin_window(counted, kCounters);
    std::uint64_t hash = 1;
    for (; at.kernel != nullptr && at.kernel->step == step; at.kernel = imported_.kernels.next()) {
      const ImportedKernel& kernel = *at.kernel;
      const LaunchKey key = launch_key(imported_, kernel);
      LaunchEvent launch;
      launch.key = key;
      launch.window = timed;
      if (++correlation_ == 0) ++correlation_;
      launch.correlation = correlation_;
      profile_.add(launch);
      if (kernel.message > 0 && imported_.messages[kernel.message - 1].told) {
        CollectiveCall& call = imported_.messages[kernel.message - 1];
        call.key = key;
        profile_.add(call);
      }
      KernelRecord record;
      record.start_ns = kernel.start_ns;
      record.end_ns = kernel.end_ns;
      record.correlation = correlation_;
      record.device = kernel.device;
      record.context = kernel.context;
      record.stream = kernel.stream;
      record.resources = imported_.resources.find(kernel.function, kernel.shape);
      profile_.add(record);
      hash = (hash ^ key.function) * 0x9E3779B97F4A7C15ull + key.grid.x;
      if (at.join == nullptr) continue;
      if (const Imported::CounterLaunch* of = at.join->of(kernel)) add_sample(key, *of, counted);
    }
    for (; at.copy != nullptr && at.copy->step == step; at.copy = imported_.copies.next())
      add_copy(*at.copy, timed);
    for (; at.span && at.span->step == step; at.span = imported_.spans.next())
      add_span(*at.span, timed);
    // Without steps nobody asks how long the window was.
    const ImportedStep whole = step > 0 ? imported_.steps[step - 1] : ImportedStep{};
    for (auto& [of, model] : imported_.models) {
      if (of != step) continue;
      model.sequence_hash = hash;
      profile_.describe(std::move(model));
    }
    profile_.count_step(hash);
    end(timed, kTime, hash, whole, step);
    if (counted != kNoWindow) end(counted, kCounters, hash);
  }

  void add_copy(const ImportedCopy& copy, WindowId window) {
    if (++correlation_ == 0) ++correlation_;
    CopyRecord record = copy.record;
    record.correlation = correlation_;
    profile_.add(CopyCall{copy.layer, window, correlation_});
    profile_.add(record);
  }

  void add_span(const ImportedSpan& of, WindowId window) {
    LayerSpan span;
    span.layer = of.layer;
    span.window = window;
    span.cpu_ns = of.cpu_ns;
    span.wait_ns = of.wait_ns;
    span.calls = span.timed = of.calls;
    profile_.add(span);
  }

  void add_counters() {
    const WindowId window = 1;
    profile_.begin_window(window, kCounters);
    for (const Imported::CounterLaunch& each : imported_.counters) {
      ImportedKernel kernel;
      kernel.function = each.function;
      kernel.shape = each.shape;
      kernel.device = each.device;
      kernel.layer = each.layer;
      const LaunchKey key = launch_key(imported_, kernel);
      LaunchEvent launch;
      launch.key = key;
      launch.window = window;
      profile_.add(launch);
      add_sample(key, each, window);
    }
    const std::uint64_t sequence = 1;
    profile_.count_step(sequence);
    end(window, kCounters, sequence);
  }

  Imported& imported_;
  Profile profile_;
  std::vector<double> values_;
  std::uint32_t correlation_ = 0;
};

}  // namespace

Report assemble(Imported& imported, const StoredRoofs& roofs) {
  return Assembly(imported).report(roofs);
}

}  // namespace gable
