// SPDX-License-Identifier: Apache-2.0
// Accumulates events into what the report is made of. Streaming: its memory grows with distinct
// launch keys (bounded by ProfileLimits::max_keys; beyond, the rarest fold into one row "(other)"),
// never with launches. One thread at a time: the collector holds a lock around every call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/events/collective.h"
#include "analysis/events/events.h"
#include "analysis/events/function_table.h"
#include "analysis/events/join_checks.h"
#include "analysis/events/layer_model.h"
#include "analysis/events/layer_tree.h"
#include "analysis/profile/step_call.h"
#include "analysis/profile/step_record.h"

namespace gable {

struct ProfileLimits {
  std::size_t max_keys = 20000;
  std::size_t max_pending = 1u << 20;  // launches waiting for their activity record
  // Records held per time window for unions; beyond, the unions are unknown.
  std::size_t max_window_records = 1u << 20;
  std::size_t max_waiting_windows = 1024;      // ended time windows waiting for records
  std::size_t max_waiting_records = 1u << 19;  // records held by all of these together
  std::size_t max_graphs = 1024;               // graphs of different shapes
  std::size_t max_graph_keys = 1u << 16;       // kernels of all graphs together
  std::size_t max_pending_graphs = 1u << 16;   // graph launches waiting for their records
};

class Profile {
 public:
  Profile(LayerTree& layers, FunctionTable& functions, ProfileLimits limits = {},
          JoinChecks checks = {});
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // --- the run's set-up
  void add_device(const DeviceInfo& device);  // a second call with the same id replaces it
  // Sets how the devices are connected, by id from 0.
  void set_links(const std::vector<DeviceLinks>& links);
  // Sets the devices' states during the run, by id from 0, only for devices that the program
  // launches on.
  void set_states(const std::vector<std::optional<GpuState>>& states);
  // Sets the metric names of a counter phase, in the order of CounterSample::values; once per
  // phase, before its samples.
  void set_metrics(Phase phase, std::vector<std::string> metric_names);
  // Names the metrics collected on request: they appear in the report's `counters` and are not used
  // for operations and bytes.
  void set_raw_metrics(const std::vector<std::string>& metric_names);

  // Names the collected metrics from which CUPTI states roofs (roof_metrics.h): they tell of the
  // GPU and not of a kernel, so the report's `counters` have only those that are raw metrics, too.
  void set_roof_metrics(const std::vector<std::string>& metric_names);

  // Says that counters are taken of ranges: launches marked so also count in their layers' rows.
  void count_ranges();

  // Adds a graph; equal shapes are one graph, however often captured. Returns 0 if there are too
  // many.
  GraphId add_graph(const GraphShape& shape);

  // --- events
  // Every launch while the collector watches, in any phase (wait and warm-up too).
  void add(const LaunchEvent& launch);
  void add(const CopyCall& call);
  void add(const CallAfterWait& call);  // before the record of its kernel
  void add(const TokenCount& tokens);
  void add(const LayerSpan& span);
  void add(const GraphLaunch& launch);
  void add(const StepCall& call);
  void add(const InputCall& call);
  void add(const StreamMade& made);
  // Activity records, in any order, also after their window ended.
  void add(const KernelRecord& record);
  void add(const GraphKernelRecord& record);
  void add(const CopyRecord& record);
  // Added after the launch itself.
  void add(const CollectiveCall& call);
  // Counter samples of window `window`, before its end_window.
  void add(Phase phase, WindowId window, const CounterSample& sample);
  void begin_window(WindowId window, Phase phase);
  // Whether to add the calls of this time window's step, which is about to begin. Called for every
  // window; `wanted`: recording is possible.
  [[nodiscard]] bool records_calls(WindowId window, bool wanted);
  // Whether further calls are still useful before the next window begins.
  [[nodiscard]] bool takes_calls() const;
  void end_window(const WindowEnd& end);
  // No further records will come: closes the time windows that still wait for theirs.
  void finish_records();
  // Says that records could not be read, so the copies are unknown.
  void lose_copies();
  // Says, before the window ends, that some of its copies were not recorded; copies are then taken
  // from other windows.
  void lose_copies(WindowId window);
  // Says that a launch's record may never come, so no window waits for it.
  void expect_no_record(std::uint32_t correlation);
  // Number of records that windows still wait for; 0 if all have arrived.
  [[nodiscard]] std::uint64_t pending_records() const;

  // --- steps
  // From the first border on the unit of the report is the step. count_step() counts a step in any
  // phase.
  void count_step(std::uint64_t sequence_hash);
  // Forget all samples and counts, keep devices and metrics: the first step border came after
  // windows of launches. `put_aside`: these may be wanted again, if only steps come from now on.
  void restart(bool put_aside = false);
  // Forgets them because counters are now taken of ranges, or no longer; losses are kept.
  void count_anew(bool ranges);
  // If a phase was measured before but not since, restores what was put aside in place of what came
  // since, whose launches are added. Returns whether it did.
  bool take_back();

  // Adds steps recorded call by call; few are kept, and none whose launches waited for room in a
  // queue full of earlier launches.
  void add(StepRecord record);

  // Adds what the framework says of the model in one step; kept over restart(). Steps with the same
  // launch sequence are averaged, since their kernels may work on other sizes.
  void describe(ModelDescription model);

  void add_lost(const LostCounts& more);

  struct State;  // read by the report builder (profile_state.h)
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  // If the record belongs to what was put aside, adds it there and returns true.
  bool awaited_aside(const KernelRecord& record);

  std::unique_ptr<State> state_, aside_;
};

}  // namespace gable
