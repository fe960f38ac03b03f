// SPDX-License-Identifier: Apache-2.0
// Makes StepRecords from events in time windows of steps: the calls of three neighbouring steps,
// and when the GPU ran what they launched. Events may come in any order; calls and times are joined
// by correlation id when the three steps are closed. Bounded: steps with more calls or operations
// than that are left out and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/events/function_table.h"
#include "analysis/profile/step_call.h"
#include "analysis/profile/step_record.h"

namespace gable {

class StepRecorder {
 public:
  static constexpr std::size_t kSteps = 3;  // steps of a record
  static constexpr std::size_t kMostCalls = kSteps * 40000;
  static constexpr std::size_t kMostStreams = 4096;  // streams whose flags are remembered
  static constexpr std::size_t kMostInputs = 4096;   // inputs of a step

  explicit StepRecorder(const FunctionTable& functions, std::size_t most = kMostCalls)
      : functions_(functions), most_(most) {}

  // --- windows
  // Begins recording this window's step and what comes between it and the next. A window that is
  // not recorded ends the row of neighbours.
  void begin(WindowId window);
  void end(WindowId window);
  void end_row();
  // Closes a window: all its kernels have come, or the missing ones never will. `good`: it counts,
  // and all its kernels have times.
  void close(const WindowEnd& end, bool good);
  // Says that no further records will come.
  void finish();

  // --- what happens
  void add(const StreamMade& made);
  void add(const StepCall& call);
  void add(const InputCall& call);
  // Adds a launch between two windows, which its kernel's record is joined to.
  void add_between(const LaunchEvent& launch);
  void add_between(const KernelRecord& record);
  // Adds a kernel launched in that window.
  void add(const KernelRecord& record, const LaunchKey& key, WindowId window,
           std::uint64_t node = 0);
  void add(const CopyRecord& record, LayerId layer);

  // Takes the next complete record.
  [[nodiscard]] std::optional<StepRecord> take();
  // Number of records left out because they were too large.
  [[nodiscard]] std::uint64_t too_large() const { return too_large_; }
  // Number of records in which the host was further ahead than three steps can show.
  [[nodiscard]] std::uint64_t too_far_ahead() const { return too_far_ahead_; }
  // Whether calls of the newest step are still useful.
  [[nodiscard]] bool takes_calls() const { return active() && !steps_.back().cut; }
  [[nodiscard]] bool active() const { return !steps_.empty(); }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

  // Takes over the streams, which outlive any collection.
  void take_streams(StepRecorder& from) { non_blocking_ = std::move(from.non_blocking_); }

 private:
  struct Step {
    WindowId window = kNoWindow;
    bool closed = false, good = false;
    bool last = false;                // the next window is not recorded
    bool ended = false, cut = false;  // cut: not all calls after its end are here
    std::uint64_t step = 0, sequence_hash = 0, end_ns = 0;
    bool changed = false;
    std::vector<RecordedCall> calls;
    std::size_t calls_at_end = 0;
    std::vector<InputWait> inputs;
    // Correlation ids of copies and of launches after its end: no window waits for their records.
    std::vector<std::uint32_t> copies, between;
    std::unordered_set<std::uint64_t> non_blocking;
  };
  struct Operation {
    RecordedOperation recorded;
    RecordedWork work;
    std::uint64_t size = 0;  // bytes of a copy
    WindowId window = kNoWindow;
  };

  Step* find(WindowId window);
  void keep(const Operation& operation);
  [[nodiscard]] static bool follows(const Step& before, const Step& step);
  void drop(std::size_t steps);
  // Drops steps that are known not to be part of three neighbours.
  void settle();
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool records_missing() const;
  [[nodiscard]] std::optional<StepRecord> build();

  const FunctionTable& functions_;
  const std::size_t most_;
  std::deque<Step> steps_;  // by window
  std::vector<Operation> operations_;
  std::unordered_map<std::uint32_t, LaunchKey> between_;  // by correlation
  std::unordered_set<std::uint64_t> non_blocking_;        // existing non-blocking streams
  std::unordered_set<std::uint32_t> come_;  // correlations of records that no window awaits
  std::size_t calls_ = 0;
  bool urged_ = false;  // records that have not come by now will not
  std::uint64_t too_large_ = 0, too_far_ahead_ = 0;
};

}  // namespace gable
