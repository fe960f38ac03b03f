// SPDX-License-Identifier: Apache-2.0
// A report in which every field has a value, each another one.
#pragma once

#include "tests/unit/analysis/kept_report.h"

namespace gable::tests {

class Values {
 public:
  operator double() { return static_cast<double>(++next_) + 0.25; }  // NOLINT: for brevity below
  operator Maybe() { return static_cast<double>(*this); }            // NOLINT
  std::uint64_t whole() { return ++next_; }

 private:
  std::uint64_t next_ = 1000;
};

inline void fill(Values& v, Flops& flops, std::map<std::string, Maybe>& ops, Bytes& bytes,
                 Intensity& intensity, Roof& roof) {
  flops = {v, v, v, {{"bf16", v}, {"tf32", v}}, v};
  ops = {{"int8", v}};
  bytes = {v, v, v, v, v};
  intensity = {v, v, v};
  roof = {v, Bound::memory, "dram", MemoryLevel::dram, "theoretical", v, v};
}

inline SetMetrics full_metrics(Values& v) {
  return {v, v, v, v, v, v, v, v, v, v, v, v, {{"fp32", v}, {"integer", v}}, {{"global", v}}};
}

inline LayerRow full_layer(Values& v) {
  LayerRow row;
  row.id = 1;
  row.parent = 0;
  row.path = {"ResNet", "a/b"};
  row.dotted = "a.b";
  row.direction = Direction::backward;
  row.device = 1;
  row.depth = 2;
  row.calls = v;
  row.launches = v;
  row.time_self_ns = v;
  row.time_total_ns = v;
  row.time_busy_ns = v;
  row.time_source = TimeSource::hw;
  row.cpu_ns = v;
  row.span_ns = v;
  row.sync_ns = v;
  fill(v, row.flops, row.ops, row.bytes, row.intensity, row.roof);
  row.flops_per_s = v;
  row.bytes_per_s = v;
  row.saving_ns = v;
  row.path_ns = v;
  row.step_saving = {v, v};
  row.step_saving_self = {v, v};
  row.host_path_ns = v;
  row.time_share = v;
  row.coverage = {v, v, v};
  row.metrics = full_metrics(v);
  row.tokens = Tokens{v.whole(), v, v, v, v};
  row.flops_over_forward = v;
  LayerModel& model = row.model.emplace();
  model.inputs = {{"float32", {2, 3}}, {"int64", {2}}};
  model.outputs = {{"bfloat16", {2, 5}}};
  model.dtypes = {"float32"};
  model.parameters = v;
  model.all = {v, v, {{"fp32", v}}};
  model.self = {v, v, {{"tf32", v}}};
  model.operators = v;
  model.flops_coverage = v;
  model.bytes_coverage = v;
  model.flops_ratio = v;
  model.bytes_ratio = v;
  model.intensity = v;
  model.flops_per_s = v;
  model.bytes_per_s = v;
  model.saving_ns = v;
  model.roof = {v, Bound::compute, "dram", MemoryLevel::dram, "theoretical", v, v};
  model.allocated_bytes = v;
  row.compiled = CompiledRegion{{{"a.b.0", "Linear", v}, {"a.b.1", "ReLU", v}}, v.whole(), true};
  row.spread = RankSpread{v.whole(), v, v, v, v, 1};
  row.collectives = CollectiveTimes{v, v, v, v};
  return row;
}

inline KernelRow full_kernel(Values& v) {
  KernelRow row;
  row.layer = 1;
  row.direction = Direction::backward;
  row.device = 1;
  row.name = "kernel(float*)";
  row.symbol = "_Z6kernelPf";
  row.place = "kernels.py:12";
  row.grid = {2, 3, 4};
  row.block = {5, 6, 7};
  row.cluster = {8, 9, 10};
  row.dynamic_shared = 11;
  row.registers = v;
  row.shared_bytes = v;
  row.blocks_per_sm = v;
  row.waves = v;
  row.launches = v;
  row.time_mean_ns = v;
  row.time_median_ns = v;
  row.time_min_ns = v;
  row.time_max_ns = v;
  row.time_stddev_ns = v;
  row.time_total_ns = v;
  row.time_source = TimeSource::time;
  fill(v, row.flops, row.ops, row.bytes, row.intensity, row.roof);
  row.flops_per_s = v;
  row.bytes_per_s = v;
  row.saving_ns = v;
  row.path_ns = v;
  row.step_saving = {v, v};
  row.samples_hw = v.whole();
  row.samples_flops = v.whole();
  row.samples_time = v.whole();
  row.counters = {{"dram__sectors_read.sum", v}};
  row.metrics = full_metrics(v);
  row.flags = {"above_roof", "launches_differ"};
  row.graph = 12;
  row.nodes = 13;
  row.ranges = 14;
  row.overlap = v;
  row.collective = {Collective::all_to_all,       15, true, v, v, v,
                    {v, "nvlink", "theoretical"}, v,  v,    v};
  return row;
}

inline Report full_report() {
  Values v;
  Report report;
  report.version = "1.2.3";
  RunInfo& run = report.run;
  run.command = {"python", "--token", "***"};
  run.hostname = "node1";
  run.pid = 4711;
  run.rank = 3;
  run.started_at = "2030-01-02T03:04:05Z";
  run.queue = 2;
  run.wall_time_s = v;
  run.source = Source::playback;
  run.unit = Unit::step;
  run.scope = Scope::range;
  run.complete = true;
  run.total.flops = v;
  run.total.bytes_dram = v;
  run.total.gpu_time_ns = v;
  run.total.flops_per_s = v;
  run.total.basis = Basis::measured;
  run.total.basis_note = "every step seen was measured";
  run.steps = {v.whole(), v.whole(), v.whole(), v.whole(), v.whole(), "period", 15, 16};
  run.ranks = {3, 4};
  run.processes = {{"node1", 17, 3, v, v, v, CollectiveTimes{v, v, v, v}},
                   {"node2", 18, 4, v, v, v, CollectiveTimes{v, v, v, v}}};
  run.overhead.callbacks_ns = v;
  run.overhead.window_wall_ns = {{"hw:1", v}, {"time", v}};
  run.overhead.counter_image_bytes = v;
  run.overhead.gpu_memory_bytes = v;
  run.overhead.slowdown = {{"time", v}};
  run.overhead.budget_percent = v;
  run.overhead.added_ns = v;
  run.overhead.added_percent = v;
  run.lost = {v.whole(), v.whole(), v.whole(), v.whole(), v.whole(), v.whole(), v.whole()};
  run.notes = {"One sentence."};
  report.step = {v, v, v, v, v, v, v, v, v, v, v, v, {}, {}, {}};
  report.step.critical_path = {v, v, v, v, v, v, v, v, v};
  report.step.exposed = {v, v, v, v, {{v, v}, {v, v}, {v, v}, {v, v}, {{v, v}}, {{v, v}}}};
  report.step.graph = {v.whole(), v, v, v, v, v.whole(), v.whole(), true};
  DeviceInfo device;
  device.id = 1;
  device.name = "NVIDIA H200";
  device.chip = "GH100";
  device.compute_major = 9;
  device.compute_minor = 1;
  device.sm_count = 132;
  device.sm_clock_max_hz = v.whole();
  device.memory_clock_max_hz = v.whole();
  device.memory_bus_bits = 6144;
  device.memory_bytes = v.whole();
  device.l2_bytes = v.whole();
  device.links = {{4, 8}, {5, 16}, 18, 6};
  GpuState& state = device.state.emplace();
  state.samples = v.whole();
  state.idle_samples = v.whole();
  state.sm_clock = {v, v, v};
  state.memory_clock = {v, v, v};
  state.power_mean_w = v;
  state.power_max_w = v;
  state.power_limit_w = v;
  state.temperature_max_c = v;
  state.throttled = GpuState::Throttled{0.5, 0.25, 0.125, 0.0625, 0.375, 0.75, 0.875};
  state.clocks_set = 0.625;
  report.devices = {device};
  report.sm_clock_measured_hz[1] = v;
  report.ceilings = {{1, CeilingKind::memory, "dram", v, "measured: copy", SmClock::boost}};
  report.layers = {full_layer(v)};
  report.layers.push_back(full_layer(v));  // its parent
  report.layers[1].id = report.layers[1].depth = 0;
  report.layers[1].parent.reset();
  report.kernels = {full_kernel(v)};
  CopyRow copy;
  copy.kind = CopyKind::host_to_device;
  copy.direction = Direction::backward;
  copy.device = 1;
  copy.layer = 1;
  copy.host_memory = HostMemory::pageable;
  copy.count = v;
  copy.bytes = v;
  copy.time_ns = v;
  copy.roof = {v, "pcie", "theoretical"};
  report.copies = {copy};
  OperatorRow op;
  op.layer = 1;
  op.direction = Direction::backward;
  op.device = 1;
  op.name = "aten::mm";
  op.inputs = {{"float32", {2, 3}}};
  op.place = "train.py:3 in step";
  op.calls = v;
  op.launches = v;
  op.time_ns = v;
  op.flops = v;
  op.flops_analytic = v;
  op.bytes_analytic = v;
  op.shared = true;
  op.kernels = {{1, v}};
  report.operators = {op};
  MemoryOfStep& memory = report.memory.emplace();
  memory.device = 1;
  memory.source = MemorySource::allocator;
  memory.held = {{HeldFor::gradients, 1, {"net"}, v, v}};
  memory.begin = {1, 1, "aten::mm", v};
  memory.peak = {1, 1, "aten::mm", v};
  memory.end = {1, 1, "aten::mm", v};
  memory.allocator_peak = v;
  memory.reserved = v;
  memory.timeline = {{1, 1, "aten::mm", v}};
  return report;
}

}  // namespace gable::tests
