// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/report_json_read.h"

#include <exception>
#include <new>
#include <unordered_map>

#include "analysis/events/layer_tree.h"
#include "analysis/report/json_object.h"

namespace gable {
namespace {

using json::Object;
using json::WrongField;

// It is written into other files as it is.
void read_direction(const Object& in, std::string& direction) {
  in.read("direction", direction);
  for (const std::string_view known : {"forward", "backward", "recompute", "none"})
    if (direction == known) return;
  if (in.find("direction") != nullptr)
    throw WrongField(in.at("direction").text() +
                     " is none of forward, backward, recompute and none");
}

void read_flops(const Object& in, Flops& flops) {
  in.read("fp64", flops.fp64);
  in.read("fp32", flops.fp32);
  in.read("fp16", flops.fp16);
  in.read("tensor", flops.tensor);
  in.read("total", flops.total);
}

void read_bytes(const Object& in, Bytes& bytes) {
  in.read("dram", bytes.dram);
  in.read("dram_read", bytes.dram_read);
  in.read("dram_write", bytes.dram_write);
  in.read("l2", bytes.l2);
  in.read("l1", bytes.l1);
}

void read_roof(const Object& in, Roof& roof) {
  in.read("fraction", roof.fraction);
  in.read("bound", roof.bound);
  in.read("ceiling", roof.ceiling);
  in.read("level", roof.level);
  in.read("source", roof.source);
  in.read("compute_ns", roof.compute_ns);
  in.read("memory_ns", roof.memory_ns);
}

// What layers and kernels have in common.
template <typename Row>
void read_work(const Object& in, Row& row) {
  in.inside("flops", [&](const Object& flops) { read_flops(flops, row.flops); });
  in.read("ops", row.ops);
  in.inside("bytes", [&](const Object& bytes) { read_bytes(bytes, row.bytes); });
  in.inside("intensity", [&](const Object& intensity) {
    intensity.read("dram", row.intensity.dram);
    intensity.read("l2", row.intensity.l2);
    intensity.read("l1", row.intensity.l1);
  });
  in.read("flops_per_s", row.flops_per_s);
  in.read("bytes_per_s", row.bytes_per_s);
  in.inside("roof", [&](const Object& roof) { read_roof(roof, row.roof); });
  in.read("saving_ns", row.saving_ns);
}

void read_run(const Object& in, RunInfo& run) {
  in.read("command", run.command);
  in.read("hostname", run.hostname);
  in.read("pid", run.pid);
  in.read("rank", run.rank);
  in.read("started_at", run.started_at);
  in.read("wall_time_s", run.wall_time_s);
  in.read("source", run.source);
  in.read("unit", run.unit);
  in.read("scope", run.scope);
  in.read("complete", run.complete);
  in.inside("total", [&](const Object& total) {
    total.read("flops", run.total.flops);
    total.read("bytes_dram", run.total.bytes_dram);
    total.read("gpu_time_ns", run.total.gpu_time_ns);
    total.read("flops_per_s", run.total.flops_per_s);
    total.read("basis", run.total.basis);
    total.read("basis_note", run.total.basis_note);
  });
  in.inside("steps", [&](const Object& steps) {
    steps.read("seen", run.steps.seen);
    steps.read("hw", run.steps.hw);
    steps.read("flops", run.steps.flops);
    steps.read("time", run.steps.time);
    steps.read("classes", run.steps.classes);
    steps.read("border", run.steps.border);
    steps.read("period", run.steps.period);
    steps.read("needed", run.steps.needed);
  });
  in.read("ranks", run.ranks);
  in.objects("processes", [&](const Object& process) {
    MergedProcess& out = run.processes.emplace_back();
    process.read("hostname", out.hostname);
    process.read("pid", out.pid);
    process.read("rank", out.rank);
    process.read("step_wall_ns", out.step_wall_ns);
    process.read("gpu_time_ns", out.gpu_time_ns);
  });
  in.inside("overhead", [&](const Object& overhead) {
    overhead.read("callbacks_ns", run.overhead.callbacks_ns);
    overhead.read("window_wall_ns", run.overhead.window_wall_ns);
    overhead.read("counter_image_bytes", run.overhead.counter_image_bytes);
    overhead.read("gpu_memory_bytes", run.overhead.gpu_memory_bytes);
    overhead.read("slowdown", run.overhead.slowdown);
    overhead.read("budget_percent", run.overhead.budget_percent);
    overhead.read("added_percent", run.overhead.added_percent);
  });
  in.inside("lost", [&](const Object& lost) {
    lost.read("records", run.lost.records);
    lost.read("ranges", run.lost.ranges);
    lost.read("zero_timestamps", run.lost.zero_timestamps);
    lost.read("windows", run.lost.windows);
    lost.read("unattributed_launches", run.lost.unattributed_launches);
    lost.read("folded_keys", run.lost.folded_keys);
    lost.read("folded_layers", run.lost.folded_layers);
  });
  in.read("notes", run.notes);
}

void read_step(const Object& in, Step& step) {
  in.inside("wall_ns", [&](const Object& wall) {
    wall.read("mean", step.wall_mean_ns);
    wall.read("stddev", step.wall_stddev_ns);
  });
  in.read("busy_ns", step.busy_ns);
  in.read("idle_ns", step.idle_ns);
  in.read("copy_ns", step.copy_ns);
  in.read("sync_ns", step.sync_ns);
  in.read("launch_latency_ns", step.launch_latency_ns);
  in.read("mfu", step.mfu);
  in.read("hfu", step.hfu);
}

void read_device(const Object& in, Report& report) {
  DeviceInfo& device = report.devices.emplace_back();
  in.read("id", device.id);
  in.read("name", device.name);
  in.read("chip", device.chip);
  std::string capability;
  in.read("compute_capability", capability);
  if (const auto dot = capability.find('.'); dot != std::string::npos) {
    device.compute_major = std::atoi(capability.c_str());
    device.compute_minor = std::atoi(capability.c_str() + dot + 1);
  }
  in.read("sm_count", device.sm_count);
  in.inside("clocks_hz", [&](const Object& clocks) {
    clocks.read("sm_max", device.sm_clock_max_hz);
    clocks.read("memory_max", device.memory_clock_max_hz);
    Maybe measured;
    clocks.read("sm_measured", measured);
    if (measured) report.sm_clock_measured_hz[device.id] = measured;
  });
  in.read("memory_bus_bits", device.memory_bus_bits);
  in.read("memory_bytes", device.memory_bytes);
  in.read("l2_bytes", device.l2_bytes);
}

void read_shapes(const Object& in, const char* name, std::optional<std::vector<TensorShape>>& out) {
  if (in.find(name) == nullptr) return;
  out.emplace();
  in.objects(name, [&](const Object& tensor) {
    TensorShape& shape = out->emplace_back();
    tensor.read("dtype", shape.dtype);
    tensor.read("shape", shape.sizes);
  });
}

void read_part(const Object& in, LayerModel::Part& part) {
  in.read("flops_analytic", part.flops);
  in.read("bytes_analytic", part.bytes);
  in.read("types", part.types);
}

void read_model(const Object& in, LayerModel& model) {
  read_shapes(in, "inputs", model.inputs);
  read_shapes(in, "outputs", model.outputs);
  in.read("dtypes", model.dtypes);
  in.read("parameters", model.parameters);
  in.read("operators", model.operators);
  read_part(in, model.all);
  in.inside("self", [&](const Object& self) { read_part(self, model.self); });
  in.read("flops_ratio", model.flops_ratio);
  in.read("bytes_ratio", model.bytes_ratio);
  in.read("intensity", model.intensity);
  in.read("flops_per_s", model.flops_per_s);
  in.read("bytes_per_s", model.bytes_per_s);
  in.inside("roof", [&](const Object& roof) { read_roof(roof, model.roof); });
  in.read("saving_ns", model.saving_ns);
  in.read("allocated_bytes", model.allocated_bytes);
}

void read_compiled(const Object& in, CompiledRegion& region) {
  in.objects("modules", [&](const Object& module) {
    SourceModule& each = region.modules.emplace_back();
    module.read("name", each.name);
    module.read("class", each.kind);
  });
  in.read("left_out", region.left_out);
}

void read_layer(const Object& in, LayerRow& row) {
  in.read("id", row.id);
  in.read("parent", row.parent);
  in.read("path", row.path);
  in.read("dotted", row.dotted);
  read_direction(in, row.direction);
  in.read("device", row.device);
  in.read("depth", row.depth);
  in.read_count("calls", row.calls);
  in.read_count("launches", row.launches);
  in.inside("time_ns", [&](const Object& time) {
    time.read("self", row.time_self_ns);
    time.read("total", row.time_total_ns);
    time.read("busy", row.time_busy_ns);
  });
  in.read("time_source", row.time_source);
  in.read("cpu_ns", row.cpu_ns);
  in.read("span_ns", row.span_ns);
  in.read("sync_ns", row.sync_ns);
  read_work(in, row);
  in.read("time_share", row.time_share);
  in.inside("tokens", [&](const Object& tokens) {
    row.tokens.emplace();
    tokens.read("forwards", row.tokens->forwards);
    tokens.read("per_forward", row.tokens->per_forward);
    tokens.read("per_sequence", row.tokens->per_sequence);
    tokens.read("wall_ns", row.tokens->wall_ns);
  });
  in.inside("coverage", [&](const Object& coverage) {
    coverage.read("time", row.coverage.time);
    coverage.read("flops", row.coverage.flops);
    coverage.read("bytes", row.coverage.bytes);
  });
  in.read("flops_over_forward", row.flops_over_forward);
  in.inside("model", [&](const Object& model) { read_model(model, row.model.emplace()); });
  in.inside("compiled",
            [&](const Object& compiled) { read_compiled(compiled, row.compiled.emplace()); });
  in.inside("spread", [&](const Object& spread) {
    RankSpread& out = row.spread.emplace();
    spread.read("gpus", out.gpus);
    spread.read("min_ns", out.min_ns);
    spread.read("mean_ns", out.mean_ns);
    spread.read("max_ns", out.max_ns);
    spread.read("stddev_ns", out.stddev_ns);
    spread.read("slowest", out.slowest);
  });
}

void read_kernel(const Object& in, KernelRow& row) {
  in.read("layer", row.layer);
  read_direction(in, row.direction);
  in.read("device", row.device);
  in.read("name", row.name);
  in.read("symbol", row.symbol);
  row.grid = row.block = {0, 0, 0};
  in.read("grid", row.grid);
  in.read("block", row.block);
  in.read("cluster", row.cluster);
  in.read("dynamic_shared", row.dynamic_shared);
  in.read_count("launches", row.launches);
  in.inside("time_ns", [&](const Object& time) {
    time.read("mean", row.time_mean_ns);
    time.read("median", row.time_median_ns);
    time.read("min", row.time_min_ns);
    time.read("max", row.time_max_ns);
    time.read("stddev", row.time_stddev_ns);
    time.read("total", row.time_total_ns);
  });
  in.read("time_source", row.time_source);
  read_work(in, row);
  in.inside("samples", [&](const Object& samples) {
    samples.read("hw", row.samples_hw);
    samples.read("flops", row.samples_flops);
    samples.read("time", row.samples_time);
  });
  in.read("counters", row.counters);
  in.read("flags", row.flags);
  in.read("graph", row.graph);
  in.read("nodes", row.nodes);
  in.read("ranges", row.ranges);
  in.read("overlap", row.overlap);
}

void read_copy(const Object& in, CopyRow& row) {
  in.read("kind", row.kind);
  read_direction(in, row.direction);
  in.read("device", row.device);
  in.read("layer", row.layer);
  in.read_count("count", row.count);
  in.read("bytes", row.bytes);
  in.read("time_ns", row.time_ns);
}

// Layers are a tree, no deeper than the layers of a program can be.
void check_tree(const std::vector<LayerRow>& layers) {
  constexpr std::size_t kDeepest = LayerTree::kMaxDepth + 1;
  const auto name = [](std::size_t place) { return "layers[" + std::to_string(place) + "]"; };
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto [first, fresh] = places.try_emplace(layers[i].id, i);
    if (!fresh) throw WrongField(name(i) + ".id is that of " + name(first->second));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::size_t above = 0;
    for (const LayerRow* at = &layers[i]; at->parent; ++above) {
      const auto parent = places.find(*at->parent);
      if (parent == places.end()) throw WrongField(name(i) + " has a parent that is no layer");
      at = &layers[parent->second];
      if (at == &layers[i]) throw WrongField(name(i) + " is a parent of its own");
      if (above > kDeepest)
        throw WrongField(name(i) + " has more than " + std::to_string(kDeepest) + " parents");
    }
  }
}

ParsedReport parse(std::string_view text) {
  const rapidjson::Document json = json::parsed(text);
  if (!json.IsObject() || !json.HasMember("gable"))
    return {std::nullopt, "This is no report of gable: it has no field \"gable\"."};
  const json::Where top;
  const Object root(json, top);
  Report report;
  report.schema = 0;
  root.inside("gable", [&](const Object& gable) {
    gable.read("schema", report.schema);
    gable.read("version", report.version);
  });
  if (report.schema > kReportSchema) {
    return {std::nullopt, "This report has schema " + std::to_string(report.schema) +
                              ", but this program reads schemas up to " +
                              std::to_string(kReportSchema) +
                              ": use the gable that wrote it, or a newer one."};
  }
  if (report.schema < 1)
    return {std::nullopt, "This is no report of gable: gable.schema is missing or below 1."};
  root.inside("run", [&](const Object& run) { read_run(run, report.run); });
  root.inside("step", [&](const Object& step) { read_step(step, report.step); });
  root.objects("devices", [&](const Object& device) { read_device(device, report); });
  root.objects("ceilings", [&](const Object& in) {
    Ceiling& ceiling = report.ceilings.emplace_back();
    in.read("device", ceiling.device);
    in.read("kind", ceiling.kind);
    in.read("name", ceiling.name);
    in.read("value", ceiling.value);
    in.read("source", ceiling.source);
    in.read("clock", ceiling.clock);
  });
  root.objects("layers",
               [&](const Object& layer) { read_layer(layer, report.layers.emplace_back()); });
  root.objects("kernels",
               [&](const Object& kernel) { read_kernel(kernel, report.kernels.emplace_back()); });
  root.objects("copies",
               [&](const Object& copy) { read_copy(copy, report.copies.emplace_back()); });
  check_tree(report.layers);
  return {std::move(report), {}};
}

}  // namespace

ParsedReport from_json(std::string_view text) {
  try {
    return parse(text);
  } catch (const json::NoJson& error) {
    if (error.too_large)
      return {std::nullopt, "This report is damaged: a number near byte " +
                                std::to_string(error.byte) + " is out of range."};
    return {std::nullopt, "This is no JSON, or it was cut off: something is wrong at byte " +
                              std::to_string(error.byte) + "."};
  } catch (const WrongField& error) {
    return {std::nullopt, "This report is damaged: " + std::string(error.what()) + "."};
  } catch (const std::bad_alloc&) {
    return {std::nullopt, "This report is too large for this machine's memory."};
  } catch (const std::exception& error) {
    return {std::nullopt, "This report could not be read: " + std::string(error.what()) + "."};
  }
}

}  // namespace gable
