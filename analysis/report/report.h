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
  Maybe fraction;  // time_min / time; may exceed 1, then flagged, never clamped
  Bound bound = Bound::unknown;
  std::string ceiling;  // name of the ceiling that binds: "dram", "fp32", "bf16_tensor" …; empty
                        // when unknown
  MemoryLevel level = MemoryLevel::none;  // the level that binds, if memory does
  std::string source;                     // "theoretical" | "measured"; empty when unknown
  // The least times that the compute roofs and the memory roofs allow: per launch for a kernel; for
  // a layer sums over its kernels per unit, known if the fraction is.
  Maybe compute_ns, memory_ns;
};

// How a kernel or a layer uses the GPU, from --metrics mix, warps and cache or from ncu's files.
// Shares are 0 to 1; a sector is 32 bytes. analysis/roofline/set_metrics.h says how each follows
// from counters.
struct SetMetrics {
  Maybe occupancy;                                    // share of an active SM's warp slots in use
  Maybe warp_efficiency, warp_efficiency_predicated;  // share of 32 threads that are active
  Maybe branch_uniformity;                            // share of branch targets without divergence
  Maybe l1_hit_rate, l2_hit_rate;                     // share of sectors
  Maybe sectors_per_load, sectors_per_store;          // L1 sectors per global access of a warp
  Maybe l2_sectors_per_request;                       // sectors per L2 request of the SMs
  // Share of the peak of the SMs, of the memory units of all levels and of DRAM, as in ncu.
  Maybe compute_throughput, memory_throughput, dram_throughput;
  std::map<std::string, Maybe> mix;         // shares of thread instructions: "fp32", "integer" …
  std::map<std::string, Maybe> memory_mix;  // shares of warp instructions: "global", "local" …
};

// How much shorter a step would be with work at its roof; both are equal if that is certain. Low:
// work beside other kernels keeps that part of its time, and other ranks keep their pace.
struct StepSaving {
  double low_ns = 0, high_ns = 0;
};

// The critical path of a step, from its first kernel to the next step's; the parts add up to the
// step.
struct PathTimes {
  double kernels_ns = 0, communication_ns = 0, copies_ns = 0;  // copies and memsets
  double host_ns = 0;      // calls, the time between them, host functions, returning from waits
  Maybe input_ns;          // part of host_ns for fetching the program's next input
  double launches_ns = 0;  // from a call to the start of its kernel; a full launch queue
  double gaps_ns = 0;      // between operations of streams or graphs
  double unexplained_ns = 0;
  // Part of host_ns between the end of what the host waited for (.item(), synchronize, copies that
  // block) and its next launch: the GPU has nothing to do then. It may share time with input_ns.
  // Empty in reports that do not tell.
  Maybe waits_ns = std::nullopt;
};

// The parts of a step that nothing else hides. The first four add up to the step.
struct ExposedTimes {
  double compute_ns = 0, communication_ns = 0, copies_ns = 0, idle_ns = 0;
  // How much shorter the step would be if each took no time; these do not add up. Host: the time
  // between its calls.
  struct Without {
    StepSaving compute, communication, copies, host;
    std::optional<StepSaving> input;  // part of the host's; empty if input is not recorded
    // The host waits for no operation, and returns at once; empty as waits_ns.
    std::optional<StepSaving> waits = std::nullopt;
  };
  Without without;
};

// How reliable the graph of the recorded steps is (docs/step-graph.md).
struct StepGraphFacts {
  std::uint64_t steps = 0;  // steps analysed, each with its neighbours
  double wall_ns = 0;       // mean length of the steps
  double explained = 0;     // explained share of the path
  Maybe replay_error;       // error of a replay by the graph alone, as a share of wall_ns
  double overlapped = 0;    // share of the kernels' time that overlaps other kernels
  std::uint64_t edges = 0, violated_edges = 0;  // violated: the edge ends before it begins
  bool stream_waits_known = true;
};

struct Step {
  // Step times on the GPU, from a step's first kernel to the next step's, and on the host.
  Maybe wall_mean_ns, wall_stddev_ns, host_mean_ns, host_stddev_ns;
  Maybe busy_ns, idle_ns, copy_ns, sync_ns, launch_latency_ns, mfu, hfu;
  Maybe model_flops;  // by formula, without recomputation, on all GPUs
  // From recorded steps; empty if none was recorded.
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

// For a layer that is a forward pass of text generation: means over timed steps with only that
// pass, if possible over those with a known GPU time.
struct Tokens {
  std::uint64_t forwards = 0;  // number of timed forward passes
  double per_forward = 0;      // tokens of all sequences
  double per_sequence = 0;     // tokens per sequence: a prompt's length, or 1 in decoding
  Maybe wall_ns, host_ns;  // per forward pass, as in Step; wall / per_sequence: a token's latency
  [[nodiscard]] Maybe ns_each() const {
    return wall_ns ? Maybe(*wall_ns / per_sequence) : std::nullopt;
  }
  [[nodiscard]] Maybe per_second() const {
    return wall_ns && *wall_ns > 0 ? Maybe(per_forward / *wall_ns * 1e9) : std::nullopt;
  }
};

// What the framework knows of a layer: its tensors, and its operators' work by formula in the
// described step. All is analytic except the times.
struct LayerModel {
  // From the module's first call in that step; empty in backward and for layers that are no module.
  std::optional<std::vector<TensorShape>> inputs, outputs;
  std::vector<std::string> dtypes;  // types of its parameters
  Maybe parameters;                 // elements
  struct Part {
    Maybe flops, bytes;                  // empty if some operator's are unknown
    std::map<std::string, Maybe> types;  // FLOP by type: "fp32", "tf32", "bf16" …
  };
  Part all, self;  // with and without the layers below it
  // How complete `all` is: the share of the row's time in layers whose own parts are known. 1 if
  // all are known; unknown if some are not and the times are not from such steps.
  Maybe flops_coverage, bytes_coverage;
  double operators = 0;
  Maybe flops_ratio, bytes_ratio;  // measured / analytic
  Maybe intensity, flops_per_s, bytes_per_s, saving_ns;
  Roof roof;
  Maybe allocated_bytes;
};

// A layer of a merged report: its time per unit on each of the GPUs that have it.
struct RankSpread {
  std::uint64_t gpus = 0;  // GPUs that have the layer with a known time
  double min_ns = 0, mean_ns = 0, max_ns = 0, stddev_ns = 0;
  std::int64_t slowest = 0;  // index in RunInfo::processes
};

// Times of collectives per unit. Waiting and transfer are sums over the kernels for which both are
// known; empty if there are none.
struct CollectiveTimes {
  double time_ns = 0;
  Maybe wait_ns, transfer_ns;
  Maybe others_wait_ns;  // sum of other ranks' waits in collectives that this one joined last
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
  TimeSource time_source = TimeSource::unknown;  // hw if at least one of its kernels has it
  Flops flops;
  std::map<std::string, Maybe> ops;  // integer operations by type
  Bytes bytes;
  Intensity intensity;
  Maybe flops_per_s, bytes_per_s;
  Roof roof;
  Maybe saving_ns, time_share;
  Maybe path_ns;       // time of its kernels and copies on the critical path
  Maybe host_path_ns;  // host time on that path until it launches them
  std::optional<StepSaving> step_saving, step_saving_self;
  Coverage coverage;
  std::optional<SetMetrics> metrics;  // empty if none is known
  std::optional<Tokens> tokens;
  Maybe flops_over_forward;  // backward layers: measured FLOPs / the forward's
  std::optional<LayerModel> model;
  std::optional<CompiledRegion> compiled;      // layers that the framework compiled
  std::optional<RankSpread> spread;            // in a merged report
  std::optional<CollectiveTimes> collectives;  // empty if it has none with a known time
};

// The share of a link's roof that is reached.
struct LinkUse {
  Maybe fraction;
  std::string ceiling, source;  // empty if the link is unknown
};

// What a collective's kernel exchanges, as means per launch.
struct CollectiveRow {
  Collective kind = Collective::unknown;  // or not always the same
  std::optional<std::int64_t> ranks;      // empty: unknown, or not always the same
  bool one_node = false;                  // known to involve no network
  Maybe bytes, bus_bytes;                 // see CollectiveCall and bus_bytes()
  // Over the transfer time if known, else over the kernel's time, which includes waiting.
  Maybe bus_bytes_per_s;
  LinkUse roof;
  // Parts of the kernel's time: until the last rank came, and after. Only if the files of all ranks
  // of the group were read together.
  Maybe wait_ns, transfer_ns;
  // Mean per launch of what all others waited; a launch to which another rank came last counts 0.
  Maybe others_wait_ns;
};

struct KernelRow {
  std::int64_t layer = 0;
  Direction direction = Direction::none;
  std::int32_t device = 0;
  std::string name, symbol;
  std::string place;  // "kernels.py:12": where it is written; empty: unknown
  Dim3 grid, block;
  Dim3 cluster;
  std::uint32_t dynamic_shared = 0;
  // Registers per thread, shared memory per block (static and dynamic), and what follows from them
  // (occupancy.h).
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
  Maybe saving_ns;  // per launch times launches per unit
  Maybe path_ns;    // time of its launches in a step on the critical path
  std::optional<StepSaving> step_saving;
  std::uint64_t samples_hw = 0, samples_flops = 0, samples_time = 0;
  std::map<std::string, Maybe> counters;  // raw metrics by full name, mean of one launch
  std::optional<SetMetrics> metrics;      // derived from the counters; empty if none is
  std::vector<std::string>
      flags;  // "above_roof", "tensor_inferred", "hfma_moves", "launches_differ" …
  // A CUDA graph as a whole: its counters, and the sum of the times of its kernels, which have rows
  // of their own. Empty for kernels.
  std::optional<std::int64_t> graph, nodes;
  // For launches of a layer counted together: the number of ranges, and the share of their time in
  // which other layers' kernels ran too. `ranges` is empty for kernels and graphs.
  std::optional<std::int64_t> ranges;
  Maybe overlap;
  std::optional<CollectiveRow> collective;
  // Whether its time is already in other rows.
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
  HostMemory host_memory = HostMemory::unknown;  // for copies from and to the host
  double count = 0;
  Maybe bytes, time_ns;
  LinkUse roof;
  [[nodiscard]] Maybe bytes_per_s() const {
    return bytes && time_ns && *time_ns > 0 ? Maybe(*bytes / *time_ns * 1e9) : std::nullopt;
  }
};

// Calls of one of the framework's operators in one layer, with inputs of the same shapes and from
// the same place; per unit, in steps like those that were described.
struct OperatorRow {
  std::int64_t layer = 0;
  Direction direction = Direction::none;
  std::int32_t device = 0;
  std::string name;                 // "aten::addmm"
  std::vector<TensorShape> inputs;  // tensors among the arguments
  std::string place;                // "train.py:31 in step"; empty: unknown
  double calls = 0;
  double launches = 0;
  Maybe time_ns;         // of its kernels, as the report has them; empty if one's is unknown
  Maybe flops;           // counted, of its kernels; empty if one's are unknown
  Maybe flops_analytic;  // by formula; empty without one
  Maybe bytes_analytic;  // of its tensors
  bool shared = false;  // other operators launch some of its kernels, too, which have one mean time
  struct Launched {
    std::int64_t kernel = 0;  // place in Report::kernels
    double launches = 0;
  };
  std::vector<Launched> kernels;
};

// What holds a device's memory in a described step, in bytes: after each operator, and when it was
// most.
struct MemoryOfStep {
  std::int32_t device = 0;
  MemorySource source = MemorySource::tensors;
  struct Point {
    std::int64_t at = 0;  // operators before it; 0 is before the first one
    std::optional<std::int64_t> layer;
    std::string name;  // of the operator; empty: unknown, or none
    double bytes = 0;
  };
  Point begin, peak, end;
  // Of the allocator: the most since the program began, and what it has of the device's memory.
  Maybe allocator_peak, reserved;
  std::vector<Point> timeline;  // of the step's stretches the highest, begin and end included
  struct Held {
    HeldFor held_for = HeldFor::activations;
    std::optional<std::int64_t> layer;  // whose they are, or where they were made
    // Of the layer or module; empty: none, or unknown. {"(others)"}: of rows that are left out.
    std::vector<std::string> path;
    double bytes = 0, tensors = 0;
  };
  std::vector<Held> held;  // at the peak, largest first
  // Of the peak, what no tensor seen explains; empty if they explain more than there is.
  [[nodiscard]] Maybe unexplained() const {
    double sum = 0;
    for (const Held& each : held) sum += each.bytes;
    return sum <= peak.bytes ? Maybe(peak.bytes - sum) : std::nullopt;
  }
};

// A process of a merged report.
struct MergedProcess {
  std::string hostname;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  Maybe step_wall_ns, step_host_ns;            // as in Step
  Maybe gpu_time_ns;                           // per unit; the kernels' time summed over its GPUs
  std::optional<CollectiveTimes> collectives;  // summed in the same way
};

struct RunInfo {
  std::vector<std::string> command;  // already masked
  std::string hostname;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::string started_at;  // ISO 8601, UTC
  // Which of the process's queues of windows this is of, from 1 on; empty where there was none.
  std::optional<std::int64_t> queue;
  Maybe wall_time_s;
  Source source = Source::cupti;
  Unit unit = Unit::run;
  Scope scope = Scope::kernel;
  bool complete = false;  // false in snapshots of a running program
  struct {
    Maybe flops, bytes_dram, gpu_time_ns, flops_per_s;
    Basis basis = Basis::measured;
    std::string basis_note;  // a sentence on how
  } total;
  struct {
    std::uint64_t seen = 0, hw = 0, flops = 0, time = 0, classes = 0;
    // What ends a step: "range" | "call" | "optimizer" | "forward" | "profiler" | "period";
    // "launches": windows are no steps; empty if there are none or it is unknown
    std::string border;
    std::optional<std::int64_t> period;  // launches of the period by which steps were found
    // Steps that a program with one launch sequence needs for the first windows of every phase.
    std::optional<std::int64_t> needed;
  } steps;
  std::vector<std::int64_t> ranks;       // ranks of a merged report's processes
  std::vector<MergedProcess> processes;  // of a merged report; empty if of one process
  struct {
    Maybe callbacks_ns;
    std::map<std::string, Maybe> window_wall_ns;  // mean wall time of one window, by phase
    Maybe counter_image_bytes;                    // host memory of CUPTI's counter images
    Maybe gpu_memory_bytes;
    std::map<std::string, Maybe> slowdown;  // by phase, against warm-up windows
    Maybe budget_percent;                   // --budget
    Maybe added_ns, added_percent;          // upper bound of what measuring added
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
  std::map<std::int32_t, Maybe> sm_clock_measured_hz;  // by device; cycles / time in hw windows
  std::vector<Ceiling> ceilings;
  std::vector<LayerRow> layers;
  std::vector<KernelRow> kernels;
  std::vector<CopyRow> copies;
  std::vector<OperatorRow> operators;  // longest first; empty if the model was not described
  std::optional<MemoryOfStep> memory;  // of a described step, if it was asked for
  // Number of kernel rows with the flag.
  [[nodiscard]] std::uint64_t flagged(std::string_view flag) const {
    return static_cast<std::uint64_t>(
        std::count_if(kernels.begin(), kernels.end(),
                      [flag](const KernelRow& row) { return row.has_flag(flag); }));
  }
};

}  // namespace gable
