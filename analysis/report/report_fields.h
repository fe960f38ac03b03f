// SPDX-License-Identifier: Apache-2.0
// The report's fields, once: their names in the file, in the order in which they are written. The
// writer, the reader and the check of the schema visit them.
//
// `f` is one of those three. It has
//   f(name, member)           any value; std::nullopt is null in the file
//   f.needed(name, member)    a number or struct without which its struct says nothing: a file
//                             that has the struct and not this is damaged
//   f.known(name, member)     of which empty, or 0, means unknown: null
//   f.word(name, member)      an enum with words; null where its value has none: unknown
//   f.count(name, member)     how often something was, in a unit: 0.5 of a launch is possible
//   f.inside(name, visit)     an object of the file that is no struct: visit(f of its fields)
//   f.object(name, member)    a struct, or std::optional of one
//   f.list(name, members)     a list of structs
//   f.derived(name, value)    only written: it follows from other fields
#pragma once

#include <concepts>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "analysis/report/report.h"

namespace gable {

// A struct of the report, to be written from or read into.
template <typename T, typename Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

void fields(auto& f, Of<Flops> auto& flops) {
  f("fp64", flops.fp64);
  f("fp32", flops.fp32);
  f("fp16", flops.fp16);
  f("tensor", flops.tensor);
  f("total", flops.total);
}

void fields(auto& f, Of<Bytes> auto& bytes) {
  f("dram", bytes.dram);
  f("dram_read", bytes.dram_read);
  f("dram_write", bytes.dram_write);
  f("l2", bytes.l2);
  f("l1", bytes.l1);
}

void fields(auto& f, Of<Intensity> auto& intensity) {
  f("dram", intensity.dram);
  f("l2", intensity.l2);
  f("l1", intensity.l1);
}

void fields(auto& f, Of<Roof> auto& roof) {
  f("fraction", roof.fraction);
  f.word("bound", roof.bound);
  f.known("ceiling", roof.ceiling);
  f.word("level", roof.level);
  f.known("source", roof.source);
  f("compute_ns", roof.compute_ns);
  f("memory_ns", roof.memory_ns);
}

void fields(auto& f, Of<SetMetrics> auto& metrics) {
  f("occupancy", metrics.occupancy);
  f("warp_efficiency", metrics.warp_efficiency);
  f("warp_efficiency_predicated", metrics.warp_efficiency_predicated);
  f("branch_uniformity", metrics.branch_uniformity);
  f("l1_hit_rate", metrics.l1_hit_rate);
  f("l2_hit_rate", metrics.l2_hit_rate);
  f("sectors_per_load", metrics.sectors_per_load);
  f("sectors_per_store", metrics.sectors_per_store);
  f("l2_sectors_per_request", metrics.l2_sectors_per_request);
  f("compute_throughput", metrics.compute_throughput);
  f("memory_throughput", metrics.memory_throughput);
  f("dram_throughput", metrics.dram_throughput);
  f("mix", metrics.mix);
  f("memory_mix", metrics.memory_mix);
}

void fields(auto& f, Of<LostCounts> auto& lost) {
  f("records", lost.records);
  f("ranges", lost.ranges);
  f("zero_timestamps", lost.zero_timestamps);
  f("windows", lost.windows);
  f("unattributed_launches", lost.unattributed_launches);
  f("folded_keys", lost.folded_keys);
  f("folded_layers", lost.folded_layers);
}

void fields(auto& f, Of<CollectiveTimes> auto& times) {
  f.needed("time_ns", times.time_ns);
  f("wait_ns", times.wait_ns);
  f("transfer_ns", times.transfer_ns);
  f("others_wait_ns", times.others_wait_ns);
}

void fields(auto& f, Of<MergedProcess> auto& process) {
  f("hostname", process.hostname);
  f("pid", process.pid);
  f("rank", process.rank);
  f("step_wall_ns", process.step_wall_ns);
  f("step_host_ns", process.step_host_ns);
  f("gpu_time_ns", process.gpu_time_ns);
  f.object("collectives", process.collectives);
}

void fields(auto& f, Of<RunInfo> auto& run) {
  f("command", run.command);
  f("hostname", run.hostname);
  f("pid", run.pid);
  f("rank", run.rank);
  f("started_at", run.started_at);
  f("queue", run.queue);
  f("wall_time_s", run.wall_time_s);
  f.word("source", run.source);
  f.word("unit", run.unit);
  f.word("scope", run.scope);
  f("complete", run.complete);
  f.inside("total", [&](auto& in) {
    in("flops", run.total.flops);
    in("bytes_dram", run.total.bytes_dram);
    in("gpu_time_ns", run.total.gpu_time_ns);
    in("flops_per_s", run.total.flops_per_s);
    in.word("basis", run.total.basis);
    in("basis_note", run.total.basis_note);
  });
  f.inside("steps", [&](auto& in) {
    in("seen", run.steps.seen);
    in("hw", run.steps.hw);
    in("flops", run.steps.flops);
    in("time", run.steps.time);
    in("classes", run.steps.classes);
    in.known("border", run.steps.border);
    in("period", run.steps.period);
    in("needed", run.steps.needed);
  });
  f("ranks", run.ranks);
  f.list("processes", run.processes);
  f.inside("overhead", [&](auto& in) {
    in("callbacks_ns", run.overhead.callbacks_ns);
    in("window_wall_ns", run.overhead.window_wall_ns);
    in("counter_image_bytes", run.overhead.counter_image_bytes);
    in("gpu_memory_bytes", run.overhead.gpu_memory_bytes);
    in("slowdown", run.overhead.slowdown);
    in("budget_percent", run.overhead.budget_percent);
    in("added_ns", run.overhead.added_ns);
    in("added_percent", run.overhead.added_percent);
  });
  f.object("lost", run.lost);
  f("notes", run.notes);
}

void fields(auto& f, Of<StepSaving> auto& saving) {
  f.needed("low", saving.low_ns);
  f.needed("high", saving.high_ns);
}

void fields(auto& f, Of<PathTimes> auto& path) {
  f.needed("kernels_ns", path.kernels_ns);
  f.needed("communication_ns", path.communication_ns);
  f.needed("copies_ns", path.copies_ns);
  f.needed("host_ns", path.host_ns);
  f("input_ns", path.input_ns);
  f("waits_ns", path.waits_ns);
  f.needed("launches_ns", path.launches_ns);
  f.needed("gaps_ns", path.gaps_ns);
  f.needed("unexplained_ns", path.unexplained_ns);
}

void fields(auto& f, Of<ExposedTimes::Without> auto& without) {
  f.needed("compute", without.compute);
  f.needed("communication", without.communication);
  f.needed("copies", without.copies);
  f.needed("host", without.host);
  f.object("input", without.input);
  f.object("waits", without.waits);
}

void fields(auto& f, Of<ExposedTimes> auto& exposed) {
  f.needed("compute_ns", exposed.compute_ns);
  f.needed("communication_ns", exposed.communication_ns);
  f.needed("copies_ns", exposed.copies_ns);
  f.needed("idle_ns", exposed.idle_ns);
  f.needed("saving_ns", exposed.without);
}

void fields(auto& f, Of<StepGraphFacts> auto& graph) {
  f.needed("steps", graph.steps);
  f.needed("wall_ns", graph.wall_ns);
  f.needed("explained", graph.explained);
  f("replay_error", graph.replay_error);
  f.needed("overlapped", graph.overlapped);
  f.needed("edges", graph.edges);
  f.needed("violated_edges", graph.violated_edges);
  f("stream_waits_known", graph.stream_waits_known);
}

void fields(auto& f, Of<Step> auto& step) {
  f.inside("wall_ns", [&](auto& in) {
    in("mean", step.wall_mean_ns);
    in("stddev", step.wall_stddev_ns);
  });
  f.inside("host_ns", [&](auto& in) {
    in("mean", step.host_mean_ns);
    in("stddev", step.host_stddev_ns);
  });
  f("busy_ns", step.busy_ns);
  f("idle_ns", step.idle_ns);
  f("copy_ns", step.copy_ns);
  f("sync_ns", step.sync_ns);
  f("launch_latency_ns", step.launch_latency_ns);
  f("mfu", step.mfu);
  f("hfu", step.hfu);
  f("model_flops", step.model_flops);
  f.object("critical_path", step.critical_path);
  f.object("exposed", step.exposed);
  f.object("graph", step.graph);
}

void fields(auto& f, Of<GpuState::Throttled> auto& throttled) {
  f.needed("any", throttled.any);
  f.needed("power_cap", throttled.power_cap);
  f.needed("sw_thermal", throttled.sw_thermal);
  f.needed("hw_thermal", throttled.hw_thermal);
  f.needed("hw_slowdown", throttled.hw_slowdown);
  f.needed("power_brake", throttled.power_brake);
  f.needed("sync_boost", throttled.sync_boost);
}

void fields(auto& f, Of<GpuState> auto& state) {
  const auto clock = [&f](const char* name, auto& values) {
    f.inside(name, [&values](auto& in) {
      in("mean", values.mean);
      in("min", values.min);
      in("max", values.max);
    });
  };
  f.needed("samples", state.samples);
  f("idle_samples", state.idle_samples);
  clock("sm_clock_hz", state.sm_clock);
  clock("memory_clock_hz", state.memory_clock);
  f.inside("power_w", [&](auto& in) {
    in("mean", state.power_mean_w);
    in("max", state.power_max_w);
    in("limit", state.power_limit_w);
  });
  f("temperature_max_c", state.temperature_max_c);
  f.object("throttled", state.throttled);
  f("clocks_set", state.clocks_set);
}

// A device, and the clock that was measured on it (Report::sm_clock_measured_hz).
template <typename Device, typename Clock>
struct MeasuredDevice {
  Device& device;
  Clock& sm_clock_hz;
};

template <typename Device, typename Clock>
void fields(auto& f, MeasuredDevice<Device, Clock>& of) {
  auto& device = of.device;
  f("id", device.id);
  f.known("name", device.name);
  f.known("chip", device.chip);
  std::string capability;
  if (device.compute_major > 0)
    capability = std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
  f.known("compute_capability", capability);
  if constexpr (!std::is_const_v<Device>) {
    const auto dot = capability.find('.');
    if (dot != std::string::npos) {
      device.compute_major = std::atoi(capability.c_str());
      device.compute_minor = std::atoi(capability.c_str() + dot + 1);
    }
  }
  f.known("sm_count", device.sm_count);
  f.inside("clocks_hz", [&](auto& in) {
    in.known("sm_max", device.sm_clock_max_hz);
    in("sm_measured", of.sm_clock_hz);
    in.known("memory_max", device.memory_clock_max_hz);
  });
  f.known("memory_bus_bits", device.memory_bus_bits);
  f.known("memory_bytes", device.memory_bytes);
  f.known("l2_bytes", device.l2_bytes);
  f.inside("pcie", [&](auto& in) {
    in.known("generation", device.links.pcie.generation);
    in.known("width", device.links.pcie.width);
    in.known("generation_max", device.links.pcie_max.generation);
    in.known("width_max", device.links.pcie_max.width);
  });
  f.inside("nvlink", [&](auto& in) {
    in("links", device.links.nvlinks);
    in.known("version", device.links.nvlink_version);
  });
  f.object("state", device.state);
}

void fields(auto& f, Of<Ceiling> auto& ceiling) {
  f("device", ceiling.device);
  f.word("kind", ceiling.kind);
  f("name", ceiling.name);
  f("value", ceiling.value);
  f("source", ceiling.source);
  f.word("clock", ceiling.clock);
}

// The fields that layers and kernels share.
void work_fields(auto& f, auto& row) {
  f.object("flops", row.flops);
  f("ops", row.ops);
  f.object("bytes", row.bytes);
  f.object("intensity", row.intensity);
  f("flops_per_s", row.flops_per_s);
  f("bytes_per_s", row.bytes_per_s);
  f.object("roof", row.roof);
  f("saving_ns", row.saving_ns);
  f("path_ns", row.path_ns);
  f.object("step_saving_ns", row.step_saving);
}

void fields(auto& f, Of<TensorShape> auto& tensor) {
  f("shape", tensor.sizes);
  f("dtype", tensor.dtype);
}

void fields(auto& f, Of<LayerModel::Part> auto& part) {
  f("flops_analytic", part.flops);
  f("bytes_analytic", part.bytes);
  f("types", part.types);
}

void fields(auto& f, Of<LayerModel> auto& model) {
  f.list("inputs", model.inputs);
  f.list("outputs", model.outputs);
  f("dtypes", model.dtypes);
  f("parameters", model.parameters);
  f("operators", model.operators);
  fields(f, model.all);
  f.inside("coverage", [&](auto& in) {
    in("flops", model.flops_coverage);
    in("bytes", model.bytes_coverage);
  });
  f.object("self", model.self);
  f("flops_ratio", model.flops_ratio);
  f("bytes_ratio", model.bytes_ratio);
  f("intensity", model.intensity);
  f("flops_per_s", model.flops_per_s);
  f("bytes_per_s", model.bytes_per_s);
  f.object("roof", model.roof);
  f("saving_ns", model.saving_ns);
  f.inside("sources", [](auto& in) {
    in.derived("flops", "analytic");
    in.derived("bytes", "analytic");
    in.derived("time", "measured");
  });
  f("allocated_bytes", model.allocated_bytes);
}

void fields(auto& f, Of<SourceModule> auto& module) {
  f("name", module.name);
  f("class", module.kind);
  f("time_ns", module.time_ns);
}

void fields(auto& f, Of<CompiledRegion> auto& region) {
  f.list("modules", region.modules);
  f("left_out", region.left_out);
  f("fused", region.fused);
}

void fields(auto& f, Of<Tokens> auto& tokens) {
  f("forwards", tokens.forwards);
  f("per_forward", tokens.per_forward);
  f("per_sequence", tokens.per_sequence);
  f("wall_ns", tokens.wall_ns);
  f("host_ns", tokens.host_ns);
  f.derived("ns_each", tokens.ns_each());
  f.derived("per_s", tokens.per_second());
}

void fields(auto& f, Of<RankSpread> auto& spread) {
  f("gpus", spread.gpus);
  f("min_ns", spread.min_ns);
  f("mean_ns", spread.mean_ns);
  f("max_ns", spread.max_ns);
  f("stddev_ns", spread.stddev_ns);
  f("slowest", spread.slowest);
}

void fields(auto& f, Of<LayerRow> auto& row) {
  f("id", row.id);
  f("parent", row.parent);
  f("path", row.path);
  f.known("dotted", row.dotted);
  f.word("direction", row.direction);
  f("device", row.device);
  f("depth", row.depth);
  f.count("calls", row.calls);
  f.count("launches", row.launches);
  f.inside("time_ns", [&](auto& in) {
    in("self", row.time_self_ns);
    in("total", row.time_total_ns);
    in("busy", row.time_busy_ns);
  });
  f.word("time_source", row.time_source);
  f("cpu_ns", row.cpu_ns);
  f("span_ns", row.span_ns);
  f("sync_ns", row.sync_ns);
  work_fields(f, row);
  f.object("step_saving_self_ns", row.step_saving_self);
  f("host_path_ns", row.host_path_ns);
  f("time_share", row.time_share);
  f.inside("coverage", [&](auto& in) {
    in("time", row.coverage.time);
    in("flops", row.coverage.flops);
    in("bytes", row.coverage.bytes);
  });
  f.object("metrics", row.metrics);
  f.object("tokens", row.tokens);
  f("flops_over_forward", row.flops_over_forward);
  f.object("model", row.model);
  f.object("compiled", row.compiled);
  f.object("spread", row.spread);
  f.object("collectives", row.collectives);
}

void fields(auto& f, Of<LinkUse> auto& use) {
  f("fraction", use.fraction);
  f.known("ceiling", use.ceiling);
  f.known("source", use.source);
}

void fields(auto& f, Of<CollectiveRow> auto& row) {
  f.word("kind", row.kind);
  f("ranks", row.ranks);
  f("one_node", row.one_node);
  f("bytes", row.bytes);
  f("bus_bytes", row.bus_bytes);
  f("bus_bytes_per_s", row.bus_bytes_per_s);
  f.object("roof", row.roof);
  f("wait_ns", row.wait_ns);
  f("transfer_ns", row.transfer_ns);
  f("others_wait_ns", row.others_wait_ns);
}

void fields(auto& f, Of<KernelRow> auto& row) {
  f("layer", row.layer);
  f.word("direction", row.direction);
  f("device", row.device);
  f("name", row.name);
  f("symbol", row.symbol);
  f.known("place", row.place);
  f.known("grid", row.grid);
  f.known("block", row.block);
  f("cluster", row.cluster);
  f("dynamic_shared", row.dynamic_shared);
  f("registers", row.registers);
  f("shared_bytes", row.shared_bytes);
  f("blocks_per_sm", row.blocks_per_sm);
  f("waves", row.waves);
  f.count("launches", row.launches);
  f.inside("time_ns", [&](auto& in) {
    in("mean", row.time_mean_ns);
    in("median", row.time_median_ns);
    in("min", row.time_min_ns);
    in("max", row.time_max_ns);
    in("stddev", row.time_stddev_ns);
    in("total", row.time_total_ns);
  });
  f.word("time_source", row.time_source);
  work_fields(f, row);
  f.inside("samples", [&](auto& in) {
    in("hw", row.samples_hw);
    in("flops", row.samples_flops);
    in("time", row.samples_time);
  });
  f("counters", row.counters);
  f.object("metrics", row.metrics);
  f("flags", row.flags);
  f("graph", row.graph);
  f("nodes", row.nodes);
  f("ranges", row.ranges);
  f("overlap", row.overlap);
  f.object("collective", row.collective);
}

void fields(auto& f, Of<CopyRow> auto& row) {
  f.word("kind", row.kind);
  f.word("direction", row.direction);
  f("device", row.device);
  f("layer", row.layer);
  f.word("host_memory", row.host_memory);
  f.count("count", row.count);
  f("bytes", row.bytes);
  f("time_ns", row.time_ns);
  f.derived("bytes_per_s", row.bytes_per_s());
  f.object("roof", row.roof);
}

void fields(auto& f, Of<OperatorRow::Launched> auto& launched) {
  f("kernel", launched.kernel);
  f.count("launches", launched.launches);
}

void fields(auto& f, Of<OperatorRow> auto& row) {
  f("layer", row.layer);
  f.word("direction", row.direction);
  f("device", row.device);
  f("name", row.name);
  f.list("inputs", row.inputs);
  f.known("place", row.place);
  f.count("calls", row.calls);
  f.count("launches", row.launches);
  f("time_ns", row.time_ns);
  f("flops", row.flops);
  f("flops_analytic", row.flops_analytic);
  f("bytes_analytic", row.bytes_analytic);
  f("shared", row.shared);
  f.list("kernels", row.kernels);
}

void fields(auto& f, Of<MemoryOfStep::Point> auto& point) {
  f("at", point.at);
  f("layer", point.layer);
  f.known("operator", point.name);
  f("bytes", point.bytes);
}

void fields(auto& f, Of<MemoryOfStep::Held> auto& held) {
  f.word("for", held.held_for);
  f("layer", held.layer);
  f("path", held.path);
  f("bytes", held.bytes);
  f.count("tensors", held.tensors);
}

void fields(auto& f, Of<MemoryOfStep> auto& memory) {
  f("device", memory.device);
  f.word("source", memory.source);
  f.object("begin", memory.begin);
  f.object("peak", memory.peak);
  f.object("end", memory.end);
  f("allocator_peak_bytes", memory.allocator_peak);
  f("reserved_bytes", memory.reserved);
  f.derived("unexplained_bytes", memory.unexplained());
  f.list("timeline", memory.timeline);
  f.list("held", memory.held);
}

// The devices of a report with their clocks. A device's number is only known once it is read.
template <typename Report>
void device_fields(auto& f, Report& report) {
  auto& clocks = report.sm_clock_measured_hz;
  f.list("devices", report.devices, [&](auto& in, auto& device) {
    constexpr bool kReads = !std::is_const_v<Report>;
    Maybe clock;
    if constexpr (!kReads)
      if (const auto found = clocks.find(device.id); found != clocks.end()) clock = found->second;
    MeasuredDevice<std::remove_reference_t<decltype(device)>, Maybe> measured{device, clock};
    fields(in, measured);
    if constexpr (kReads)
      if (clock) clocks[device.id] = clock;
  });
}

void fields(auto& f, Of<Report> auto& report) {
  f.inside("gable", [&](auto& in) {
    in("schema", report.schema);
    in("version", report.version);
  });
  f.object("run", report.run);
  f.object("step", report.step);
  device_fields(f, report);
  f.list("ceilings", report.ceilings);
  f.list("layers", report.layers);
  f.list("kernels", report.kernels);
  f.list("copies", report.copies);
  f.list("operators", report.operators);
  f.object("memory", report.memory);
}

}  // namespace gable
