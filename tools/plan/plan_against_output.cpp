// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan_against_output.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "tools/plan/maybe_json.h"
#include "tools/show/columns.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kEqualWork = 0.01;     // FLOPs that differ by no more are the same
constexpr std::size_t kNamedAlone = 3;  // layers of the run alone that are named

// FLOPs of which a layer's own are known, planned and done.
struct Flops2 {
  double planned = 0, done = 0;
};

// Over layers of which the plan and the run know everything.
Flops2 sum_flops(const PlanAgainstRun& both, Maybe DoneWork::*flops) {
  Flops2 out;
  if (both.whole_only && (both.done.*flops) && both.work.without_flops == 0)
    return {both.work.all_flops(), *(both.done.*flops)};
  for (const PlannedRow& row : both.rows) {
    const Maybe& done = row.done.*flops;
    if (!done || row.work.without_flops > 0 || row.found < row.group.layers) continue;
    out.planned += row.work.all_flops();
    out.done += *done;
  }
  return out;
}

std::string times_text(const Maybe& value) {
  return value ? significant(*value, 3) + " x" : std::string("-");
}

Maybe ratio(const Maybe& top, const Maybe& bottom) {
  return top && bottom && *bottom > 0 ? Maybe(*top / *bottom) : std::nullopt;
}

std::vector<const PlannedRow*> sorted_rows(const PlanAgainstRun& both, AgainstOrder order) {
  std::vector<const PlannedRow*> rows;
  for (const PlannedRow& row : both.rows) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [order](const PlannedRow* a, const PlannedRow* b) {
    if (order == AgainstOrder::name) return a->group.name() < b->group.name();
    const auto value = [order](const PlannedRow* row) {
      return order == AgainstOrder::over ? row->over_ns() : row->done.ns;
    };
    // Nothing known is no reason to stand first.
    const Maybe left = value(a), right = value(b);
    return left && (!right || *left > *right);
  });
  return rows;
}

std::string layers_text(const PlannedRow& row) {
  const std::string all = significant(row.group.layers, 15);
  return row.found == row.group.layers ? all : significant(row.found, 15) + " of " + all;
}

std::string planned_flops(const PlanWork& work) {
  if (work.without_flops > 0 && !(work.all_flops() > 0)) return "unknown";
  return (work.without_flops > 0 ? "> " : "") + with_prefix(work.all_flops(), "");
}

// "FLOPs of layers that both have: planned 2.1 T, by formula 2.1 T (1.00 x), counted …"
std::string flops_remark(const PlanAgainstRun& both, bool& differs) {
  std::string out;
  for (const auto& [words, part] : {std::pair("by formula", &DoneWork::formula_flops),
                                    std::pair("counted", &DoneWork::flops)}) {
    const Flops2 sum = sum_flops(both, part);
    if (!(sum.planned > 0)) continue;
    const double times = sum.done / sum.planned;
    out += std::string(out.empty() ? "" : ", ") + words + " " + with_prefix(sum.done, "") +
           " where " + with_prefix(sum.planned, "") + " were planned (" + times_text(times) + ")";
    if (part == &DoneWork::formula_flops && std::abs(times - 1) > kEqualWork) differs = true;
  }
  return out.empty() ? "FLOPs of the run are not known." : "FLOPs: " + out + ".";
}

std::string alone_remark(const PlanAgainstRun& both) {
  double ns = 0;
  std::string names;
  for (std::size_t i = 0; i < both.alone.size(); ++i) {
    ns += both.alone[i].ns.value_or(0);
    if (i < kNamedAlone)
      names += (i == 0 ? "" : ", ") + one_line(both.alone[i].name) + " (" +
               duration(both.alone[i].ns) + ")";
  }
  const std::size_t more =
      both.alone.size() > kNamedAlone ? both.alone.size() - kNamedAlone : std::size_t{0};
  return "In the run alone: " + duration(ns) + " in " + std::to_string(both.alone.size()) +
         (both.alone.size() == 1 ? " layer: " : " layers: ") + names +
         (more > 0 ? " and " + std::to_string(more) + " more" : "") + ".";
}

OrderedJson json_of(const PlanWork& work, const PlanTime& unfused, const PlanTime& fused) {
  return {{"flops", work.without_flops > 0 ? OrderedJson() : OrderedJson(work.all_flops())},
          {"unfused_bytes", work.without_bytes > 0 ? OrderedJson() : OrderedJson(work.bytes)},
          {"fused_bytes", work.without_bytes > 0 ? OrderedJson() : OrderedJson(work.fused_bytes)},
          {"unfused_ns", or_null(unfused.ns)},
          {"fused_ns", or_null(fused.ns)}};
}

OrderedJson json_of(const DoneWork& done) {
  return {{"time_ns", or_null(done.ns)},
          {"flops", or_null(done.flops)},
          {"flops_analytic", or_null(done.formula_flops)},
          {"dram_bytes", or_null(done.bytes)}};
}

}  // namespace

std::string against_title(const PlanAgainstRun& both) {
  const Plan& plan = *both.plan;
  const std::string command = shown_command(both.run->run);
  std::string out = "[planned] " + one_line(plan.name) + " from " + one_line(plan.from) +
                    ", batch " + std::to_string(both.batch->batch) + ", against " +
                    source_mark({*both.run}) + (command.empty() ? "a run" : command) + " on " +
                    (both.device.empty() ? "a GPU without a name" : one_line(both.device));
  if (both.gpu != nullptr && both.gpu->name != both.device)
    out += " (" + one_line(both.gpu->name) + ")";
  return out;
}

std::string against_table(const PlanAgainstRun& both, const AgainstOptions& options) {
  const std::vector<const PlannedRow*> rows = sorted_rows(both, options.order);
  const std::size_t count = std::min(options.rows, rows.size());
  std::vector<Column> table;
  const auto add = [&](const std::string& head, bool left, const std::string& whole, auto cell) {
    Column& column = table.emplace_back(Column{head, left, {whole}, {}});
    for (std::size_t i = 0; i < count; ++i) column.cells.push_back(cell(*rows[i]));
  };
  add("layer", true, both.whole_only ? "whole model" : "all layers of the plan",
      [](const PlannedRow& row) { return one_line(row.group.name()); });
  if (both.plan->training)
    add("dir", true, "", [](const PlannedRow& row) {
      return row.group.direction == Direction::none ? std::string("-")
                                                    : to_string(row.group.direction).substr(0, 3);
    });
  add("layers", false, "", layers_text);
  add("plan FLOP", false, planned_flops(both.work),
      [](const PlannedRow& row) { return planned_flops(row.work); });
  add("by formula", false, both.whole_only ? with_prefix(both.done.formula_flops, "") : "-",
      [](const PlannedRow& row) { return with_prefix(row.done.formula_flops, ""); });
  add("counted", false, with_prefix(both.done.flops, ""),
      [](const PlannedRow& row) { return with_prefix(row.done.flops, ""); });
  add("plan bytes", false, with_prefix(both.work.bytes, "B"),
      [](const PlannedRow& row) { return with_prefix(row.work.bytes, "B"); });
  add("DRAM", false, with_prefix(both.done.bytes, "B"),
      [](const PlannedRow& row) { return with_prefix(row.done.bytes, "B"); });
  add("fused", false, duration(both.fused.ns),
      [](const PlannedRow& row) { return duration(row.fused.ns); });
  add("unfused", false, duration(both.unfused.ns),
      [](const PlannedRow& row) { return duration(row.unfused.ns); });
  add("time", false, duration(both.done.ns),
      [](const PlannedRow& row) { return duration(row.done.ns); });
  add("over", false, "", [](const PlannedRow& row) { return duration(row.over_ns()); });
  add("times", false, "", [](const PlannedRow& row) {
    return row.over_ns() ? times_text(ratio(row.done.ns, row.unfused.ns)) : std::string("-");
  });
  const std::string unknown = drop_unknown(table);
  const std::string wide = drop_columns(
      table, {"layers", "plan bytes", "DRAM", "by formula", "fused", "counted", "plan FLOP"},
      options.columns);
  std::string out = render_columns(std::move(table), count + 1, options.columns, options.colours);
  if (rows.size() > count) out += "And " + std::to_string(rows.size() - count) + " more (--top).\n";
  if (!unknown.empty()) out += "Columns left out (nothing known): " + unknown + ".\n";
  if (!wide.empty()) out += "Columns left out (terminal too narrow): " + wide + ".\n";
  return out;
}

std::vector<std::string> against_remarks(const PlanAgainstRun& both) {
  std::vector<std::string> lines;
  const Maybe& wall = both.run->step.wall_mean_ns;
  if (both.gpu == nullptr) {
    lines.push_back("The catalogue does not know " +
                    (both.device.empty() ? std::string("the run's GPU") : one_line(both.device)) +
                    ", so planned times are unknown: name it, or a file that describes it, with "
                    "--gpu.");
  } else if (both.unfused.ns && both.fused.ns) {
    lines.push_back(
        "A step: planned are at least " + duration(both.fused.ns) + " fused and " +
        duration(both.unfused.ns) + " unfused; the run's takes " +
        (wall ? duration(wall) + " (" + times_text(ratio(wall, both.unfused.ns)) + " of unfused)"
              : std::string("a time that is not known")) +
        (both.whole_only ? ", of which kernels " : ", of which these layers' kernels ") +
        duration(both.done.ns) + ".");
  }
  bool differs = false;
  lines.push_back(flops_remark(both, differs));
  if (differs)
    lines.emplace_back(
        "Planned and done work differ: another batch, input or model. The times do not belong "
        "together.");
  if (!both.alone.empty()) lines.push_back(alone_remark(both));
  if (both.planned_alone > 0)
    lines.push_back("In the plan alone: " + significant(both.planned_alone, 15) +
                    (both.planned_alone == 1 ? " layer without a kernel of its own in the run."
                                             : " layers without kernels of their own in the run."));
  if (both.whole_only)
    lines.emplace_back(
        "The run's layers have none of the plan's names, as in a trace of operators: only the "
        "wholes "
        "are compared.");
  if (both.devices > 1)
    lines.push_back("The run used " + std::to_string(both.devices) +
                    " GPUs; this is the one with the longest time.");
  lines.emplace_back(
      "fused, unfused: what the plan takes at least, every operator at its roof; over: time beyond "
      "unfused. Less than unfused is possible, where kernels do the work of several operators or "
      "caches keep values.");
  return lines;
}

std::string against_json(const PlanAgainstRun& both) {
  OrderedJson out = {{"gable_plan_against_run", 1},
                     {"gable", GABLE_VERSION},
                     {"plan", {{"model", both.plan->name}, {"from", both.plan->from}}},
                     {"batch", both.batch->batch},
                     {"device", both.device},
                     {"gpu", both.gpu == nullptr ? OrderedJson() : OrderedJson(both.gpu->name)},
                     {"source", to_string(both.run->run.source)},
                     {"whole_only", both.whole_only}};
  out["step"] = {{"planned", json_of(both.work, both.unfused, both.fused)},
                 {"done", json_of(both.done)},
                 {"wall_ns", or_null(both.run->step.wall_mean_ns)}};
  OrderedJson& layers = out["layers"] = OrderedJson::array();
  for (const PlannedRow* row : sorted_rows(both, AgainstOrder::over))
    layers.push_back({{"layer", row->group.name()},
                      {"direction", to_string(row->group.direction)},
                      {"layers", row->group.layers},
                      {"found", row->found},
                      {"planned", json_of(row->work, row->unfused, row->fused)},
                      {"done", json_of(row->done)},
                      {"over_ns", or_null(row->over_ns())}});
  OrderedJson& alone = out["run_alone"] = OrderedJson::array();
  for (const RunAlone& each : both.alone)
    alone.push_back({{"layer", each.name},
                     {"direction", to_string(each.direction)},
                     {"time_ns", or_null(each.ns)}});
  return out.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace gable
