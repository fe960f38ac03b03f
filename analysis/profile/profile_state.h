// SPDX-License-Identifier: Apache-2.0
// What a Profile has accumulated. Internal to analysis/: written by Profile, read by the report
// builder.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/profile/correlation.h"
#include "analysis/profile/graphs.h"
#include "analysis/profile/key_table.h"
#include "analysis/profile/layer_stats.h"
#include "analysis/profile/profile.h"
#include "analysis/profile/range_rows.h"
#include "analysis/profile/step_classes.h"
#include "analysis/profile/step_recorder.h"
#include "analysis/profile/step_times.h"
#include "analysis/profile/window.h"

namespace gable {

struct MetricList {
  Phase phase;
  std::vector<std::string> names;
  // Indices and weights of the metrics used to compare windows.
  std::vector<std::pair<std::size_t, double>> flops, bytes;
  std::vector<bool> ratios;  // per metric: values of launches must not be added
  std::optional<std::size_t> duration;
  // Weighted sum; `of` has a value or a mean for each metric.
  template <typename Of>
  [[nodiscard]] static double sum(const std::vector<std::pair<std::size_t, double>>& places,
                                  Of&& of) {
    double total = 0;
    for (const auto& [place, weight] : places) total += weight * of(place);
    return total;
  }
};

// A copy whose call was not seen; its time decides its window.
struct StrayCopy {
  CopyGroup group;
  CopySum sum;
  std::uint64_t start_ns = 0;
};

// Sums over the kept windows of one class of steps.
struct ClassSums {
  explicit ClassSums(const LayerTree& layers) : layer_stats(layers) {}

  std::array<std::uint64_t, kMeasuringKinds> kept_windows{};  // by kind_index
  LayerStats layer_stats;
  // Times of time windows. On the GPU: steps with known times (step_times.h) and unions of kernels.
  // On the host: from border to border, and plain_host only from windows in which Gable switched
  // nothing.
  Moments wall, idle, busy, host, plain_host;
  // Steps with an idle GPU at both borders, whose host time equals the GPU time.
  Moments drained, drained_idle;
  [[nodiscard]] const Moments& length() const { return wall.count() > 0 ? wall : drained; }
  [[nodiscard]] const Moments& idle_time() const { return wall.count() > 0 ? idle : drained_idle; }
  // Copies in time windows whose records all came.
  CopySums copies;
  std::uint64_t copy_windows = 0;
};

// A step of 20,000 launches takes about 2 MB, and a record has three.
inline constexpr std::size_t kMaxStepRecords = 3;

struct Profile::State {
  State(LayerTree& layer_tree, FunctionTable& function_table, ProfileLimits profile_limits,
        JoinChecks join_checks);

  LayerTree& layers;
  FunctionTable& functions;
  const ProfileLimits limits;
  const JoinChecks checks;

  // --- set-up ---
  std::map<std::int32_t, DeviceInfo> devices;
  std::vector<MetricList> metrics;       // a phase's place is its phase index
  std::set<std::string> raw_metrics;     // metrics not used for operations and bytes
  std::set<std::string> roof_metrics;    // metrics from which CUPTI states roofs
  FunctionId range_function = 0;         // function of ranges' rows; 0: launches are counted alone
  std::vector<ModelDescription> models;  // one step each, with different launch sequences

  // --- accumulated ---
  KeyTable keys;
  StepClasses classes;
  std::vector<ClassSums> class_sums;                          // by the place in `classes`
  std::array<std::uint64_t, kMeasuringKinds> kept_windows{};  // by kind_index
  std::unordered_map<LayerId, std::uint64_t> calls;           // in all phases
  std::map<Phase, Moments> window_wall;                       // kept windows by phase, and warm-up
  std::map<std::pair<Phase, std::uint64_t>, Moments> class_wall;  // and by launch sequence
  StepTimes step_times;
  std::vector<StepRecord> step_records;  // at most kMaxStepRecords
  std::uint64_t step_records_ahead = 0;  // left out, as the launch queue was always full
  Moments launch_latency;                // from kept time windows whose kernels are all held
  // Tokens by layer, from kept time windows with only that layer's tokens.
  std::unordered_map<LayerId, TokenSums> tokens;
  bool copies_lost = false;  // records of unknown copies could not be read
  std::uint64_t overhead_ns = 0;
  std::uint64_t launches = 0, launches_inherited = 0;
  Graphs graphs;
  Overlaps overlaps;  // only where ranges are counted
  std::uint64_t unknown_graph_launches = 0, unplaced_kernels = 0;
  bool ranges_only = false;  // CUPTI was unavailable: nothing is known of the GPU
  LostCounts lost;
  // Windows that were not kept: those in `lost`, and those in which nothing was measured.
  struct Dropped {
    std::uint64_t lost = 0, empty = 0;
  };
  std::map<std::string, Dropped> reasons;  // by why

  // --- in flight ---
  std::list<Window> windows;  // open, or ended and waiting for records; oldest first
  PendingLaunches pending;
  std::unordered_map<std::uint32_t, PendingGraph> pending_graphs;  // by correlation
  RecentCorrelations known;  // launches whose records do not matter
  PendingCopies pending_copies;
  StepRecorder step_recorder;
  std::deque<StrayCopy> stray_copies;
  struct Closed {
    WindowId id = kNoWindow;
    bool kept_time = false, complete = false;
    std::size_t place = 0;  // in `classes`
    std::uint64_t start_ns = 0, end_ns = 0;
  };
  std::deque<Closed> closed;  // the last ones

  [[nodiscard]] Window* find(WindowId id);
  [[nodiscard]] WindowId oldest_open() const;
  [[nodiscard]] Closed closed_window(WindowId id) const;
  [[nodiscard]] const Closed* time_closed_at(std::uint64_t when_ns) const;  // null: none
  // The mean per step of what `of` takes from a class: a sum and its number of windows.
  template <typename Of>
  [[nodiscard]] std::optional<double> per_step(Of of) const {
    return classes.per_step([&](std::size_t place) {
      return place < class_sums.size() ? of(class_sums[place]) : StepClasses::Mean{};
    });
  }
  // Launches per kept window of that kind.
  [[nodiscard]] std::optional<double> launches_per_step(const KeyRow& row, PhaseKind kind) const;
  // The layer's spans in time windows of all classes.
  [[nodiscard]] SpanSum timed_spans(LayerId layer) const;
  ClassSums& sums_of(std::uint64_t sequence_hash);
  WindowKey& window_key(Window& window, KeyIndex key);
  [[nodiscard]] bool is_range(const LaunchKey& key) const {
    return range_function != 0 && key.function == range_function;
  }
  void keep(StepRecord record);
  void take_step_records() {
    while (auto record = step_recorder.take()) keep(std::move(*record));
  }
  // Adds a launch that is counted with its layer.
  void add_to_range(const LaunchKey& launch, Window* window);
  // Adds the duration of such a launch.
  void add_to_range(KeyIndex launch, Window& window, std::uint64_t duration_ns);
  // Counts the content of an ended window that waits for no record.
  void close(std::list<Window>::iterator window);
  // Gives up on the records that are still missing.
  void give_up(std::list<Window>::iterator window);
  void close_complete();
  // Gives up on the oldest waiting window if too many wait.
  void limit_waiting();

 private:
  void keep_counters(Window& window);
  void keep_times(Window& window, std::size_t place);
  void keep_host_time(const Window& window, ClassSums& sums);
  void keep_length(Window& window, std::size_t place);
  void measured(const TimedStep& step, const StepTime& time);
  void add_times(const Window& window);

  struct Took {
    std::uint64_t ns = 0, launches = 0;
  };
  std::vector<Took> took_;  // by key, all 0 between calls
};

}  // namespace gable
