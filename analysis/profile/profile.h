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
  std::size_t max_pending = 1u << 20;  // launches that wait for their activity record
  // Records held per time window for unions; more: the unions are unknown.
  std::size_t max_window_records = 1u << 20;
  std::size_t max_waiting_windows = 1024;      // time windows that ended and wait for records
  std::size_t max_waiting_records = 1u << 19;  // and the records that they may hold together
  std::size_t max_graphs = 1024;               // of different shapes
  std::size_t max_graph_keys = 1u << 16;       // their kernels together
  std::size_t max_pending_graphs = 1u << 16;   // graph launches that wait for their records
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
  // How the devices are connected, by id from 0.
  void set_links(const std::vector<DeviceLinks>& links);
  // What they did meanwhile, by id from 0; only of those that the program launches on.
  void set_states(const std::vector<std::optional<GpuState>>& states);
  // Metric names of a counter phase, in the order of CounterSample::values. Said once per phase
  // before its samples.
  void set_metrics(Phase phase, std::vector<std::string> metric_names);
  // Metrics of those that were collected for their own sake: they are in `counters` of the report
  // and take no part in operations and bytes, whatever they count.
  void set_raw_metrics(const std::vector<std::string>& metric_names);

  // Counters are taken of ranges: the launches marked so count in the rows of their layers too.
  void count_ranges();

  // The same shape is the same graph, however often a program captures it. 0 when there are too
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
  // After the launch itself.
  void add(const CollectiveCall& call);
  // Counter samples of window `window`, before its end_window.
  void add(Phase phase, WindowId window, const CounterSample& sample);
  void begin_window(WindowId window, Phase phase);
  // Whether the calls of this time window's step, which is about to begin, are to be added. Said of
  // every window; `wanted`: it could be.
  [[nodiscard]] bool records_calls(WindowId window, bool wanted);
  // Whether calls are still of use, until the next window begins.
  [[nodiscard]] bool takes_calls() const;
  void end_window(const WindowEnd& end);
  // No further records will come: closes the time windows that still wait for theirs.
  void finish_records();
  // Records could not be read: which copies there were is unknown.
  void lose_copies();
  // Not all copies of that window were recorded; before it ends. Copies are those of the others.
  void lose_copies(WindowId window);
  // The record of a launch may never come: no window waits for it.
  void expect_no_record(std::uint32_t correlation);
  // Time records a window still waits for; 0 when all have arrived.
  [[nodiscard]] std::uint64_t pending_records() const;

  // --- steps
  // From the first border on the unit of the report is the step. A step seen in any phase.
  void count_step(std::uint64_t sequence_hash);
  // Forget all samples and counts, keep devices and metrics: the first step border came after
  // windows of launches. `put_aside`: these may be wanted again, if only steps come from now on.
  void restart(bool put_aside = false);
  // Forget them because counters are of ranges from here on, or no longer; what was lost stays.
  void count_anew(bool ranges);
  // Where a phase was measured before that was not measured since: what was put aside takes the
  // place of what came since, whose launches count with its own. True if so.
  bool take_back();

  // Steps that were recorded call by call; few of them are kept. Not those whose launches waited
  // for room in a queue that was full of launches from before them.
  void add(StepRecord record);

  // What the framework says of the model in one step; kept over restart(). Of steps of the same
  // launch sequence the mean counts: their kernels may work on other sizes.
  void describe(ModelDescription model);

  void add_lost(const LostCounts& more);

  struct State;  // read by the report builder (profile_state.h)
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  // A record of what was put aside.
  bool awaited_aside(const KernelRecord& record);

  std::unique_ptr<State> state_, aside_;
};

}  // namespace gable
