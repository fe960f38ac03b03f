// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tools/compare/compare_output.h"

namespace gable {
namespace {

using Json = nlohmann::ordered_json;

Json number(const Maybe& value) { return value ? Json(*value) : Json(nullptr); }

Json pair(const Compared& values) {
  return {{"a", number(values.a)}, {"b", number(values.b)}, {"change", number(values.change())}};
}

Json row_json(const ComparedRow& row, bool kernel) {
  Json out = {{"name", row.name}, {"match", match_name(row.match)}};
  if (!row.before.empty()) out["before"] = row.before;
  if (kernel) out["layer"] = row.layer;
  out["direction"] = row.direction;
  out["device"] = row.device;
  out["time_ns"] = pair(row.time_ns);
  out["time_ns"]["noise"] = number(row.noise_ns);
  out["launches"] = pair(row.launches);
  out["flops"] = pair(row.flops);
  out["bytes_dram"] = pair(row.dram);
  out["roof_fraction"] = pair(row.fraction);
  out["saving_ns"] = pair(row.saving_ns);
  out["time_share"] = number(row.share);
  return out;
}

Json rows_json(const std::vector<ComparedRow>& rows, bool kernels) {
  Json out = Json::array();
  for (const ComparedRow& row : rows) out.push_back(row_json(row, kernels));
  return out;
}

}  // namespace

std::string diff_json(const ReportFiles& files, const Comparison& comparison) {
  Json out;
  out["gable"] = {{"schema", kReportSchema}, {"version", GABLE_VERSION}, {"kind", "diff"}};
  const auto side = [&](std::size_t i) {
    const RunInfo& run = files.reports[i].run;
    return Json{{"file", files.paths[i]}, {"source", run.source}, {"unit", run.unit}};
  };
  out["a"] = side(0);
  out["b"] = side(1);
  out["obstacles"] = comparison.obstacles;
  out["remarks"] = comparison.remarks;
  out["step_wall_ns"] = pair(comparison.step_wall_ns);
  out["step_wall_ns"]["noise"] = number(comparison.step_noise_ns);
  out["wholes"] = rows_json(comparison.wholes, false);
  out["layers"] = rows_json(comparison.layers, false);
  out["kernels"] = rows_json(comparison.kernels, true);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gable
