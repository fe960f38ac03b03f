// SPDX-License-Identifier: Apache-2.0
// The report: the contract between a run and every tool that reads it. Fields that are unknown are
// std::nullopt here and null in the file; absent by detection is 0. Times ns, sizes byte, rates per
// second, work FLOP; no prefixes. Sums in `layers` include children (except time_self_ns) and are
// per RunInfo::unit; values in `kernels` are means of one launch. docs/report.md explains every
// field; docs/report.schema.json validates the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/maybe.h"
#include "analysis/events/collective.h"
#include "analysis/events/events.h"
#include "analysis/events/layer_model.h"
#include "analysis/report/report_words.h"

namespace gable {

inline constexpr int kReportSchema = 2;

struct Flops {  // FLOP by type; tensor by input type ("tf32", "bf16", "fp16", "fp8", "fp64" …)
  Maybe fp64, fp32, fp16;
  std::map<std::string, Maybe> tensor;
  Maybe total;
};

struct Bytes {
  Maybe dram, dram_read, dram_write, l2, l1;
};

struct Intensity {  // FLOP/byte at each level
  Maybe dram, l2, l1;
};

struct Roof {
  Maybe fraction;  // time_min / time; above 1 is possible and flagged, never clamped
  Bound bound = Bound::unknown;
  std::string ceiling;  // name of the ceiling that binds: "dram", "fp32", "bf16_tensor" …; empty
                        // when unknown
  MemoryLevel level = MemoryLevel::none;  // when memory binds
  std::string source;                     // "theoretical" | "measured"; empty when unknown
  // The least time that the compute roofs and the memory roofs allow each: of one launch of a
  // kernel; of a layer per unit, sums over its kernels, known where the fraction is.
  Maybe compute_ns, memory_ns;
};

// What --metrics mix, warps and cache, or ncu's files, tell of how a kernel or a layer uses the
// GPU. Shares are 0 to 1; a sector is 32 bytes. analysis/roofline/set_metrics.h says how each
// follows from counters.
struct SetMetrics {
  Maybe occupancy;  // of the warps that an SM holds, while it is active
  Maybe warp_efficiency, warp_efficiency_predicated;  // of 32 threads, those that are active
  Maybe branch_uniformity;                            // branch targets without divergence
  Maybe l1_hit_rate, l2_hit_rate;                     // of sectors
  Maybe sectors_per_load, sectors_per_store;          // of L1, by a warp's access to global memory
  Maybe l2_sectors_per_request;                       // of the SMs
  // Of the most that the SMs, the memory units of all levels and DRAM can do, as ncu has it.
  Maybe compute_throughput, memory_throughput, dram_throughput;
  std::map<std::string, Maybe> mix;         // of thread instructions: "fp32", "integer" …
  std::map<std::string, Maybe> memory_mix;  // of warp instructions: "global", "local" …
};

// How much shorter a step would be if work was done at its roof: both are the same where one can
// know. Low: what ran beside other kernels keeps that part of its time, and other ranks keep their
// pace.
struct StepSaving {
  double low_ns = 0, high_ns = 0;
};

// The longest chain of a step, from its first kernel to the next step's: these add up to the step.
struct PathTimes {
  double kernels_ns = 0, communication_ns = 0, copies_ns = 0;  // copies and memsets
  double host_ns = 0;      // calls, the time between them, host functions, returning from waits
  Maybe input_ns;          // of host_ns: the program fetched its next input
  double launches_ns = 0;  // from a call to the start of its kernel; a full launch queue
  double gaps_ns = 0;      // between operations of streams or graphs
  double unexplained_ns = 0;
};

// What of a step nothing else hides. The first four add up to the step.
struct ExposedTimes {
  double compute_ns = 0, communication_ns = 0, copies_ns = 0, idle_ns = 0;
  // How much shorter the step would be if they took no time; these do not add up. Host: the time
  // between its calls.
  struct Without {
    StepSaving compute, communication, copies, host;
    std::optional<StepSaving> input;  // of the host's; empty where nobody said when it is fetched
  };
  Without without;
};

// How far the graph of the recorded steps is to be believed (docs/step-graph.md).
struct StepGraphFacts {
  std::uint64_t steps = 0;  // looked at, each with its neighbours
  double wall_ns = 0;       // their mean length
  double explained = 0;     // share of the path
  Maybe replay_error;       // what a replay by the graph alone gets wrong, as a share of wall_ns
  double overlapped = 0;    // share of the kernels' time beside other kernels
  std::uint64_t edges = 0, violated_edges = 0;  // violated: its end lies before its beginning
  bool stream_waits_known = true;
};

struct Step {
  // On the GPU's timeline, from a step's first kernel to the next one's; and on the host's.
  Maybe wall_mean_ns, wall_stddev_ns, host_mean_ns, host_stddev_ns;
  Maybe busy_ns, idle_ns, copy_ns, sync_ns, launch_latency_ns, mfu, hfu;
  Maybe model_flops;  // by formula, without what is computed again; of all GPUs
  // Of recorded steps; empty where none was recorded.
  std::optional<PathTimes> critical_path;
  std::optional<ExposedTimes> exposed;
  std::optional<StepGraphFacts> graph;
};

struct Ceiling {
  std::int32_t device = 0;
  CeilingKind kind = CeilingKind::compute;
  std::string name;  // "fp32", "fp32_no_fma", "bf16_tensor", "bf16_tensor_sparse", "dram", "l2" …
  double value = 0;  // FLOP/s or byte/s
  std::string source;
  SmClock clock = SmClock::none;
};

struct Coverage {  // share of the row's time whose kernels have the part; 0 to 1
  Maybe time, flops, bytes;
};

// Of a layer that is a forward of text generation: means over the timed steps of such a forward
// alone; over those whose time on the GPU is known, where there are any.
struct Tokens {
  std::uint64_t forwards = 0;  // timed
  double per_forward = 0;      // tokens of all sequences
  double per_sequence = 0;     // of one: a prompt's length; 1 where one token after another is made
  Maybe wall_ns, host_ns;  // of a forward, as in Step; wall over per_sequence: a token's latency
  [[nodiscard]] Maybe ns_each() const {
    return wall_ns ? Maybe(*wall_ns / per_sequence) : std::nullopt;
  }
  [[nodiscard]] Maybe per_second() const {
    return wall_ns && *wall_ns > 0 ? Maybe(per_forward / *wall_ns * 1e9) : std::nullopt;
  }
};

// What the framework knows of a layer: its tensors, and what its operators have to do by formula in
// the step that was described. Everything here is analytic; only times are measured.
struct LayerModel {
  // Of the module's first call in that step; empty in backward, and where the layer is no module.
  std::optional<std::vector<TensorShape>> inputs, outputs;
  std::vector<std::string> dtypes;  // of its parameters
  Maybe parameters;                 // elements
  struct Part {
    Maybe flops, bytes;                  // empty when some operator's are not known
    std::map<std::string, Maybe> types;  // FLOP by type: "fp32", "tf32", "bf16" …
  };
  Part all, self;  // with and without the layers below it
  // What `all` is a sum of: the share of the row's time whose layers' own parts are known. 1 where
  // all are; unknown where some are not and the times are not those of such steps.
  Maybe flops_coverage, bytes_coverage;
  double operators = 0;
  Maybe flops_ratio, bytes_ratio;  // measured / analytic
  Maybe intensity, flops_per_s, bytes_per_s, saving_ns;
  Roof roof;
  Maybe allocated_bytes;
};

// Of a layer in a merged report: its time per unit on each of the GPUs that have it.
struct RankSpread {
  std::uint64_t gpus = 0;  // that have the layer, with a known time
  double min_ns = 0, mean_ns = 0, max_ns = 0, stddev_ns = 0;
  std::int64_t slowest = 0;  // of RunInfo::processes
};

// Of collectives, per unit. Waiting and transfer are sums over the kernels of which both are known;
// empty where they are known of none.
struct CollectiveTimes {
  double time_ns = 0;
  Maybe wait_ns, transfer_ns;
  Maybe others_wait_ns;  // sum of what other ranks waited in those to which this one came last
};

struct LayerRow {
  std::int64_t id = 0;
  std::optional<std::int64_t> parent;
  std::vector<std::string> path;
  std::string dotted;  // as PyTorch names the module, where known
  Direction direction = Direction::none;
  std::int32_t device = 0;
  int depth = 0;  // root 0
  Maybe calls, launches;
  Maybe time_self_ns, time_total_ns, time_busy_ns, cpu_ns, span_ns, sync_ns;
  TimeSource time_source = TimeSource::unknown;  // of its kernels: hw when at least one has it
  Flops flops;
  std::map<std::string, Maybe> ops;  // integer operations by type
  Bytes bytes;
  Intensity intensity;
  Maybe flops_per_s, bytes_per_s;
  Roof roof;
  Maybe saving_ns, time_share;
  Maybe path_ns;       // of its kernels and copies, on the critical path
  Maybe host_path_ns;  // the host's time on that path until it launches them
  std::optional<StepSaving> step_saving, step_saving_self;
  Coverage coverage;
  std::optional<SetMetrics> metrics;  // empty where none of them is known
  std::optional<Tokens> tokens;
  Maybe flops_over_forward;  // of a backward layer: its measured FLOPs / its forward's
  std::optional<LayerModel> model;
  std::optional<CompiledRegion> compiled;      // of a forward layer that the framework compiled
  std::optional<RankSpread> spread;            // of a merged report
  std::optional<CollectiveTimes> collectives;  // empty where it has none with a known time
};

// How much of its link's roof something reaches.
struct LinkUse {
  Maybe fraction;
  std::string ceiling, source;  // empty where the link is not known
};

// What the launches of a collective's kernel exchange: means of one launch.
struct CollectiveRow {
  Collective kind = Collective::unknown;  // or not always the same
  std::optional<std::int64_t> ranks;      // empty: unknown, or not always the same
  bool one_node = false;                  // known to be: no network is in between
  Maybe bytes, bus_bytes;                 // see CollectiveCall and bus_bytes()
  // Over the transfer where that is known, else over the kernel's time, which has waiting in it.
  Maybe bus_bytes_per_s;
  LinkUse roof;
  // Of the kernel's time: until the last rank had come, and what was left then. Only where the
  // files of all ranks of the group were there together.
  Maybe wait_ns, transfer_ns;
  Maybe others_wait_ns;  // the mean of what all others waited: 0 in those where another came last
};

struct KernelRow {
  std::int64_t layer = 0;
  Direction direction = Direction::none;
  std::int32_t device = 0;
  std::string name, symbol;
  Dim3 grid, block;
  Dim3 cluster;
  std::uint32_t dynamic_shared = 0;
  // Registers of a thread, shared memory of a block (static and dynamic), and what follows from
  // them: occupancy.h.
  Maybe registers, shared_bytes, blocks_per_sm, waves;
  double launches = 0;  // per unit, may be fractional
  Maybe time_mean_ns, time_median_ns, time_min_ns, time_max_ns, time_stddev_ns, time_total_ns;
  TimeSource time_source = TimeSource::unknown;
  Flops flops;
  std::map<std::string, Maybe> ops;
  Bytes bytes;
  Intensity intensity;
  Maybe flops_per_s, bytes_per_s;
  Roof roof;
  Maybe saving_ns;  // of one launch times launches per unit
  Maybe path_ns;    // of its launches in a step, on the critical path
  std::optional<StepSaving> step_saving;
  std::uint64_t samples_hw = 0, samples_flops = 0, samples_time = 0;
  std::map<std::string, Maybe> counters;  // raw metrics by full name, mean of one launch
  std::optional<SetMetrics> metrics;      // what follows from them; empty where nothing does
  std::vector<std::string>
      flags;  // "above_roof", "tensor_inferred", "hfma_moves", "launches_differ" …
  // A CUDA graph as a whole: its counters, and the sum of the times of its kernels, which have rows
  // of their own. Empty for kernels.
  std::optional<std::int64_t> graph, nodes;
  // What the launches of a layer counted together: how many ranges, and for which share of their
  // time other layers' kernels ran too. `ranges` is empty for kernels and graphs.
  std::optional<std::int64_t> ranges;
  Maybe overlap;
  std::optional<CollectiveRow> collective;
  // Its time is that of other rows.
  [[nodiscard]] bool counts_again() const { return graph || ranges; }
  [[nodiscard]] bool has_flag(std::string_view flag) const {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  }
};

struct CopyRow {
  CopyKind kind = CopyKind::other;
  Direction direction = Direction::none;
  std::int32_t device = 0;
  std::optional<std::int64_t> layer;
  HostMemory host_memory = HostMemory::unknown;  // of copies from and to the host
  double count = 0;
  Maybe bytes, time_ns;
  LinkUse roof;
  [[nodiscard]] Maybe bytes_per_s() const {
    return bytes && time_ns && *time_ns > 0 ? Maybe(*bytes / *time_ns * 1e9) : std::nullopt;
  }
};

// A process of a merged report.
struct MergedProcess {
  std::string hostname;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  Maybe step_wall_ns, step_host_ns;            // as in Step
  Maybe gpu_time_ns;                           // per unit; the kernels' time summed over its GPUs
  std::optional<CollectiveTimes> collectives;  // summed likewise
};

struct RunInfo {
  std::vector<std::string> command;  // masked already
  std::string hostname;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::string started_at;  // ISO 8601, UTC
  Maybe wall_time_s;
  Source source = Source::cupti;
  Unit unit = Unit::run;
  Scope scope = Scope::kernel;
  bool complete = false;  // false in snapshots of a running program
  struct {
    Maybe flops, bytes_dram, gpu_time_ns, flops_per_s;
    Basis basis = Basis::measured;
    std::string basis_note;  // a sentence how
  } total;
  struct {
    std::uint64_t seen = 0, hw = 0, flops = 0, time = 0, classes = 0;
    // What ends a step: "range" | "call" | "optimizer" | "forward" | "profiler" | "period";
    // "launches": windows are no steps; empty where there are none, or not known
    std::string border;
    std::optional<std::int64_t> period;  // launches of the period by which steps were found
    // How many a program of one launch sequence takes until every phase had its first windows.
    std::optional<std::int64_t> needed;
  } steps;
  std::vector<std::int64_t> ranks;       // of the processes of a merged report
  std::vector<MergedProcess> processes;  // of a merged report; empty where it is of one process
  struct {
    Maybe callbacks_ns;
    std::map<std::string, Maybe> window_wall_ns;  // mean wall time of one window, by phase
    Maybe counter_image_bytes;  // memory of the host that CUPTI's counter images take
    Maybe gpu_memory_bytes;
    std::map<std::string, Maybe> slowdown;  // by phase, against warm-up windows
    Maybe budget_percent;                   // --budget
    Maybe added_ns, added_percent;          // what measuring added, at most
  } overhead;
  LostCounts lost;
  std::vector<std::string> notes;
};

struct Report {
  int schema = kReportSchema;
  std::string version;  // of gable
  RunInfo run;
  Step step;
  std::vector<DeviceInfo> devices;
  std::map<std::int32_t, Maybe> sm_clock_measured_hz;  // by device; cycles over time of hw windows
  std::vector<Ceiling> ceilings;
  std::vector<LayerRow> layers;
  std::vector<KernelRow> kernels;
  std::vector<CopyRow> copies;
  // Rows of kernels that have it.
  [[nodiscard]] std::uint64_t flagged(std::string_view flag) const {
    return static_cast<std::uint64_t>(
        std::count_if(kernels.begin(), kernels.end(),
                      [flag](const KernelRow& row) { return row.has_flag(flag); }));
  }
};

}  // namespace gable
