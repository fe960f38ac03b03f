// SPDX-License-Identifier: Apache-2.0
// Collects a run for a recording (docs/recordings.md) while it is analysed: launches, graph
// launches and copies with their step, layer, thread, duration and counters. Bounded by
// RecorderLimits; whatever exceeds them is counted. Fed with the profile, under its lock, never on
// the launch path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/profile/key_table.h"

namespace gable {

struct RecorderLimits {
  std::size_t max_calls = 100000;      // launches, graph launches and copies together
  std::size_t max_values = 1u << 20;   // counter values of single launches
  std::size_t max_kinds = 8192;        // launch keys
  std::size_t max_records = 1u << 16;  // records of kernels in graphs
  std::size_t max_windows = 1u << 14;  // measuring windows
  std::size_t max_bytes = 2'000'000;   // size of the recording
};

class RunRecorder {
 public:
  enum class CallKind : std::uint8_t { launch, graph, copy };
  struct Call {
    std::uint64_t order = 0;  // correlation ids count up over all threads; here they do not wrap
    std::uint64_t start_ns = 0, end_ns = 0;  // 0: no record
    std::optional<std::uint64_t> bytes;      // copy
    std::uint32_t step = 0;
    WindowId window = kNoWindow;
    std::uint32_t what = 0;  // launch: the kind; graph: its id; copy: the layer
    std::uint32_t context = 0, stream = 0;
    std::uint16_t thread = 0;
    bool inherited = false;  // the thread had no range open: the layer is the main thread's
    CallKind kind = CallKind::launch;
    CopyKind copy = CopyKind::other;
    HostMemory host = HostMemory::unknown;
  };
  // One metric over all launches of a kind.
  struct Value {
    double sum = 0, first = 0;
    std::uint64_t known = 0;  // values that were no NaN
    bool varies = false;
    [[nodiscard]] double mean() const {
      return varies && known > 0 ? sum / static_cast<double>(known) : first;
    }
  };
  // What is launched: one kernel in one layer with one shape.
  struct Kind {
    LaunchKey key;
    std::uint64_t launches = 0, timed = 0, time_ns = 0;
    std::uint32_t context = 0, stream = 0;  // from its last record
    KernelResources resources;
    std::map<std::string, Value> values;  // by metric
    bool pushed = false;                  // they are of ranges that were pushed
  };
  // The values of one launch, by the metrics of its phase.
  struct Sample {
    std::uint32_t kind = 0;
    std::size_t first = 0;  // in values()
  };
  struct Window {
    Phase phase;
    const std::vector<std::string>* metrics = nullptr;  // null: no counters
    std::vector<Sample> samples;
    std::uint64_t start_ns = 0, end_ns = 0;  // 0: unknown
    bool ended = false, kept = false;
  };
  // A kernel that a graph launched.
  struct GraphKernel {
    std::uint32_t graph = 0, kind = 0;
  };
  struct Lost {
    std::uint64_t calls = 0;           // beyond max_calls
    std::uint64_t other_kinds = 0;     // launches beyond max_kinds
    std::uint64_t unknown_graphs = 0;  // launches of graphs that nothing is known of
    std::uint64_t range_samples = 0;   // counters of several launches together
    std::uint64_t values = 0;          // launches whose own values found no room
  };

  explicit RunRecorder(RecorderLimits limits = {}) : limits_(limits) {}

  // Sets the thread of the calls added from now on. The main thread is number 0.
  void set_thread(const void* thread, bool main);
  void add(std::uint32_t step, const LaunchEvent& launch);
  void add(std::uint32_t step, const GraphLaunch& launch);
  void add(std::uint32_t step, const CopyCall& copy);
  void add(const KernelRecord& record);
  void add(const GraphKernelRecord& record);
  void add(const CopyRecord& record);
  void set_metrics(Phase phase, const std::vector<std::string>& metrics);
  void add(Phase phase, WindowId window, const CounterSample& sample);
  void end_window(const WindowEnd& end);
  // Says that what came before was no step, or does not count.
  void restart();

  // --- what was collected
  [[nodiscard]] const RecorderLimits& limits() const { return limits_; }
  [[nodiscard]] std::vector<Call> calls() const;  // in the order of steps, and in them of launches
  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }
  [[nodiscard]] std::optional<std::uint32_t> find_kind(const LaunchKey& key) const {
    const auto found = kind_index_.find(key);
    return found == kind_index_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] const std::map<WindowId, Window>& windows() const { return windows_; }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<GraphKernel>& graph_kernels() const { return graph_kernels_; }
  [[nodiscard]] std::vector<std::string> metrics() const;  // metrics of all phases with a sample
  // The last step number before steps were known; 0: they were known from the beginning.
  [[nodiscard]] std::uint32_t last_before_steps() const { return before_steps_; }
  [[nodiscard]] const Lost& lost() const { return lost_; }
  // Copies in kept time windows whose calls were not seen.
  [[nodiscard]] std::uint64_t stray_copies() const;

 private:
  struct HashKey {
    std::size_t operator()(const LaunchKey& key) const { return hash_of(key); }
  };
  static constexpr std::uint32_t kNoKind = 0xffffffff;

  std::uint32_t kind_of(const LaunchKey& key);
  void add(Call call, std::uint32_t step, WindowId window, std::uint32_t correlation);
  bool make_room();
  Call* awaiting(std::uint32_t correlation, CallKind kind);

  const RecorderLimits limits_;
  std::vector<Call> calls_;
  std::vector<Kind> kinds_;
  std::unordered_map<LaunchKey, std::uint32_t, HashKey> kind_index_;
  // Calls of time windows, by correlation.
  std::unordered_map<std::uint32_t, std::size_t> awaiting_;
  std::deque<std::pair<Phase, std::vector<std::string>>> metrics_;  // windows point into it
  std::map<WindowId, Window> windows_;
  std::vector<double> values_;
  std::vector<GraphKernel> graph_kernels_;
  std::unordered_map<std::uint32_t, std::uint32_t> sampled_graphs_;  // graph: correlation
  std::unordered_map<const void*, std::uint16_t> threads_;
  std::vector<std::uint64_t> stray_copies_;  // start times
  std::uint16_t thread_ = 0;
  std::uint64_t last_order_ = 0;
  std::uint32_t last_step_ = 0, before_steps_ = 0;
  bool squeezed_ = false;  // unmeasured steps were dropped once
  Lost lost_;
};

}  // namespace gable
