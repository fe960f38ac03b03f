// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/report_json_parts.h"

namespace gable::json {
namespace {

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

}  // namespace

void read_roof(const Object& in, Roof& roof) {
  in.read("fraction", roof.fraction);
  in.read("bound", roof.bound);
  in.read("ceiling", roof.ceiling);
  in.read("level", roof.level);
  in.read("source", roof.source);
  in.read("compute_ns", roof.compute_ns);
  in.read("memory_ns", roof.memory_ns);
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

nlohmann::ordered_json write_compiled(const std::optional<CompiledRegion>& region) {
  if (!region) return nullptr;
  auto modules = nlohmann::ordered_json::array();
  for (const SourceModule& each : region->modules)
    modules.push_back({{"name", each.name}, {"class", each.kind}});
  return {{"modules", modules}, {"left_out", region->left_out}};
}

}  // namespace gable::json
