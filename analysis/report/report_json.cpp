// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/report_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace gable {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

// Whole numbers without ".0": counts and bytes read as what they are.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::floor(value) == value && std::abs(value) < kExactIntegers)
    return static_cast<std::int64_t>(value);
  return value;
}
Json number(const Maybe& value) { return value ? number(*value) : Json(nullptr); }

Json numbers(const std::map<std::string, Maybe>& values) {
  Json out = Json::object();
  for (const auto& [name, value] : values) out[name] = number(value);
  return out;
}

template <typename T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json known(std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); }
Json known(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json dim(const Dim3& dim) {
  return dim.x == 0 ? Json(nullptr) : Json::array({dim.x, dim.y, dim.z});
}

Json flops(const Flops& flops) {
  return {{"fp64", number(flops.fp64)},
          {"fp32", number(flops.fp32)},
          {"fp16", number(flops.fp16)},
          {"tensor", numbers(flops.tensor)},
          {"total", number(flops.total)}};
}

Json bytes(const Bytes& bytes) {
  return {{"dram", number(bytes.dram)},
          {"dram_read", number(bytes.dram_read)},
          {"dram_write", number(bytes.dram_write)},
          {"l2", number(bytes.l2)},
          {"l1", number(bytes.l1)}};
}

Json intensity(const Intensity& intensity) {
  return {
      {"dram", number(intensity.dram)}, {"l2", number(intensity.l2)}, {"l1", number(intensity.l1)}};
}

Json roof(const Roof& roof) {
  return {{"fraction", number(roof.fraction)},  {"bound", roof.bound},
          {"ceiling", known(roof.ceiling)},     {"level", known(roof.level)},
          {"source", known(roof.source)},       {"compute_ns", number(roof.compute_ns)},
          {"memory_ns", number(roof.memory_ns)}};
}

Json lost(const LostCounts& lost) {
  return {{"records", lost.records},
          {"ranges", lost.ranges},
          {"zero_timestamps", lost.zero_timestamps},
          {"windows", lost.windows},
          {"unattributed_launches", lost.unattributed_launches},
          {"folded_keys", lost.folded_keys},
          {"folded_layers", lost.folded_layers}};
}

Json run(const RunInfo& run) {
  Json out;
  out["command"] = run.command;
  out["hostname"] = run.hostname;
  out["pid"] = run.pid;
  out["rank"] = optional(run.rank);
  out["started_at"] = run.started_at;
  out["wall_time_s"] = number(run.wall_time_s);
  out["source"] = run.source;
  out["unit"] = run.unit;
  out["scope"] = run.scope;
  out["complete"] = run.complete;
  out["total"] = {{"flops", number(run.total.flops)},
                  {"bytes_dram", number(run.total.bytes_dram)},
                  {"gpu_time_ns", number(run.total.gpu_time_ns)},
                  {"flops_per_s", number(run.total.flops_per_s)},
                  {"basis", run.total.basis},
                  {"basis_note", run.total.basis_note}};
  out["steps"] = {{"seen", run.steps.seen},
                  {"hw", run.steps.hw},
                  {"flops", run.steps.flops},
                  {"time", run.steps.time},
                  {"classes", run.steps.classes},
                  {"border", known(run.steps.border)},
                  {"period", optional(run.steps.period)},
                  {"needed", optional(run.steps.needed)}};
  out["ranks"] = run.ranks;
  Json& processes = out["processes"] = Json::array();
  for (const MergedProcess& each : run.processes) {
    processes.push_back({{"hostname", each.hostname},
                         {"pid", each.pid},
                         {"rank", optional(each.rank)},
                         {"step_wall_ns", number(each.step_wall_ns)},
                         {"gpu_time_ns", number(each.gpu_time_ns)}});
  }
  out["overhead"] = {{"callbacks_ns", number(run.overhead.callbacks_ns)},
                     {"window_wall_ns", numbers(run.overhead.window_wall_ns)},
                     {"counter_image_bytes", number(run.overhead.counter_image_bytes)},
                     {"gpu_memory_bytes", number(run.overhead.gpu_memory_bytes)},
                     {"slowdown", numbers(run.overhead.slowdown)},
                     {"budget_percent", number(run.overhead.budget_percent)},
                     {"added_percent", number(run.overhead.added_percent)}};
  out["lost"] = lost(run.lost);
  out["notes"] = run.notes;
  return out;
}

Json step(const Step& step) {
  return {
      {"wall_ns", {{"mean", number(step.wall_mean_ns)}, {"stddev", number(step.wall_stddev_ns)}}},
      {"busy_ns", number(step.busy_ns)},
      {"idle_ns", number(step.idle_ns)},
      {"copy_ns", number(step.copy_ns)},
      {"sync_ns", number(step.sync_ns)},
      {"launch_latency_ns", number(step.launch_latency_ns)},
      {"mfu", number(step.mfu)},
      {"hfu", number(step.hfu)}};
}

Json device(const DeviceInfo& device, const Maybe& sm_measured_hz) {
  const std::string capability =
      std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
  Json out;
  out["id"] = device.id;
  out["name"] = known(device.name);
  out["chip"] = known(device.chip);
  out["compute_capability"] = device.compute_major > 0 ? Json(capability) : Json(nullptr);
  out["sm_count"] = device.sm_count > 0 ? Json(device.sm_count) : Json(nullptr);
  out["clocks_hz"] = {{"sm_max", known(device.sm_clock_max_hz)},
                      {"sm_measured", number(sm_measured_hz)},
                      {"memory_max", known(device.memory_clock_max_hz)}};
  out["memory_bus_bits"] = known(device.memory_bus_bits);
  out["memory_bytes"] = known(device.memory_bytes);
  out["l2_bytes"] = known(device.l2_bytes);
  return out;
}

Json shapes(const std::optional<std::vector<TensorShape>>& tensors) {
  if (!tensors) return nullptr;
  Json out = Json::array();
  for (const TensorShape& each : *tensors)
    out.push_back({{"shape", each.sizes}, {"dtype", each.dtype}});
  return out;
}

Json model(const LayerModel& model) {
  Json out;
  out["inputs"] = shapes(model.inputs);
  out["outputs"] = shapes(model.outputs);
  out["dtypes"] = model.dtypes;
  out["parameters"] = number(model.parameters);
  out["operators"] = number(model.operators);
  out["flops_analytic"] = number(model.all.flops);
  out["bytes_analytic"] = number(model.all.bytes);
  out["types"] = numbers(model.all.types);
  out["self"] = {{"flops_analytic", number(model.self.flops)},
                 {"bytes_analytic", number(model.self.bytes)},
                 {"types", numbers(model.self.types)}};
  out["flops_ratio"] = number(model.flops_ratio);
  out["bytes_ratio"] = number(model.bytes_ratio);
  out["intensity"] = number(model.intensity);
  out["flops_per_s"] = number(model.flops_per_s);
  out["bytes_per_s"] = number(model.bytes_per_s);
  out["roof"] = roof(model.roof);
  out["saving_ns"] = number(model.saving_ns);
  out["sources"] = {{"flops", "analytic"}, {"bytes", "analytic"}, {"time", "measured"}};
  out["allocated_bytes"] = number(model.allocated_bytes);
  return out;
}

Json compiled(const std::optional<CompiledRegion>& region) {
  if (!region) return nullptr;
  auto modules = Json::array();
  for (const SourceModule& each : region->modules)
    modules.push_back({{"name", each.name}, {"class", each.kind}});
  return {{"modules", modules}, {"left_out", region->left_out}};
}

Json layer(const LayerRow& row) {
  Json out;
  out["id"] = row.id;
  out["parent"] = optional(row.parent);
  out["path"] = row.path;
  out["dotted"] = known(row.dotted);
  out["direction"] = row.direction;
  out["device"] = row.device;
  out["depth"] = row.depth;
  out["calls"] = number(row.calls);
  out["launches"] = number(row.launches);
  out["time_ns"] = {{"self", number(row.time_self_ns)},
                    {"total", number(row.time_total_ns)},
                    {"busy", number(row.time_busy_ns)}};
  out["time_source"] = known(row.time_source);
  out["cpu_ns"] = number(row.cpu_ns);
  out["span_ns"] = number(row.span_ns);
  out["sync_ns"] = number(row.sync_ns);
  out["flops"] = flops(row.flops);
  out["ops"] = numbers(row.ops);
  out["bytes"] = bytes(row.bytes);
  out["intensity"] = intensity(row.intensity);
  out["flops_per_s"] = number(row.flops_per_s);
  out["bytes_per_s"] = number(row.bytes_per_s);
  out["roof"] = roof(row.roof);
  out["saving_ns"] = number(row.saving_ns);
  out["time_share"] = number(row.time_share);
  out["coverage"] = {{"time", number(row.coverage.time)},
                     {"flops", number(row.coverage.flops)},
                     {"bytes", number(row.coverage.bytes)}};
  out["tokens"] = nullptr;
  if (row.tokens) {
    out["tokens"] = {
        {"forwards", row.tokens->forwards},         {"per_forward", row.tokens->per_forward},
        {"per_sequence", row.tokens->per_sequence}, {"wall_ns", row.tokens->wall_ns},
        {"ns_each", row.tokens->ns_each()},         {"per_s", row.tokens->per_second()}};
  }
  out["flops_over_forward"] = number(row.flops_over_forward);
  out["model"] = row.model ? model(*row.model) : Json(nullptr);
  out["compiled"] = compiled(row.compiled);
  out["spread"] = nullptr;
  if (const auto& spread = row.spread) {
    out["spread"] = {{"gpus", spread->gpus},
                     {"min_ns", number(spread->min_ns)},
                     {"mean_ns", number(spread->mean_ns)},
                     {"max_ns", number(spread->max_ns)},
                     {"stddev_ns", number(spread->stddev_ns)},
                     {"slowest", spread->slowest}};
  }
  return out;
}

Json kernel(const KernelRow& row) {
  Json out;
  out["layer"] = row.layer;
  out["direction"] = row.direction;
  out["device"] = row.device;
  out["name"] = row.name;
  out["symbol"] = row.symbol;
  out["grid"] = dim(row.grid);
  out["block"] = dim(row.block);
  out["cluster"] = dim(row.cluster);
  out["dynamic_shared"] = row.dynamic_shared;
  out["launches"] = number(row.launches);
  out["time_ns"] = {{"mean", number(row.time_mean_ns)},     {"median", number(row.time_median_ns)},
                    {"min", number(row.time_min_ns)},       {"max", number(row.time_max_ns)},
                    {"stddev", number(row.time_stddev_ns)}, {"total", number(row.time_total_ns)}};
  out["time_source"] = known(row.time_source);
  out["flops"] = flops(row.flops);
  out["ops"] = numbers(row.ops);
  out["bytes"] = bytes(row.bytes);
  out["intensity"] = intensity(row.intensity);
  out["flops_per_s"] = number(row.flops_per_s);
  out["bytes_per_s"] = number(row.bytes_per_s);
  out["roof"] = roof(row.roof);
  out["saving_ns"] = number(row.saving_ns);
  out["samples"] = {
      {"hw", row.samples_hw}, {"flops", row.samples_flops}, {"time", row.samples_time}};
  out["counters"] = numbers(row.counters);
  out["flags"] = row.flags;
  out["graph"] = optional(row.graph);
  out["nodes"] = optional(row.nodes);
  out["ranges"] = optional(row.ranges);
  out["overlap"] = number(row.overlap);
  return out;
}

}  // namespace

std::string to_json(const Report& report) {
  Json out;
  out["gable"] = {{"schema", report.schema}, {"version", report.version}};
  out["run"] = run(report.run);
  out["step"] = step(report.step);
  Json& devices = out["devices"] = Json::array();
  for (const DeviceInfo& each : report.devices) {
    const auto measured = report.sm_clock_measured_hz.find(each.id);
    devices.push_back(device(
        each, measured == report.sm_clock_measured_hz.end() ? std::nullopt : measured->second));
  }
  Json& ceilings = out["ceilings"] = Json::array();
  for (const Ceiling& each : report.ceilings) {
    ceilings.push_back({{"device", each.device},
                        {"kind", each.kind},
                        {"name", each.name},
                        {"value", number(each.value)},
                        {"source", each.source},
                        {"clock", known(each.clock)}});
  }
  Json& layers = out["layers"] = Json::array();
  for (const LayerRow& each : report.layers) layers.push_back(layer(each));
  Json& kernels = out["kernels"] = Json::array();
  for (const KernelRow& each : report.kernels) kernels.push_back(kernel(each));
  Json& copies = out["copies"] = Json::array();
  for (const CopyRow& each : report.copies) {
    copies.push_back({{"kind", each.kind},
                      {"direction", each.direction},
                      {"device", each.device},
                      {"layer", optional(each.layer)},
                      {"count", number(each.count)},
                      {"bytes", number(each.bytes)},
                      {"time_ns", number(each.time_ns)}});
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gable
