// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "analysis/base/units.h"
#include "tools/plan/maybe_json.h"
#include "tools/predict/predict.h"

#include "tools/show/columns.h"

namespace gable {
namespace {

using OrderedJson = nlohmann::ordered_json;

const char* const kFusions[] = {"unfused", "fused"};

struct ShownLayer {
  PlanGroup group;
  PlanWork work;
  std::vector<PlanTime> unfused, fused;  // for each GPU
};

std::vector<ShownLayer> layers_of(const PlanView& view) {
  std::vector<ShownLayer> rows;
  for (PlanGroup& group : groups_of(*view.plan, *view.runs.back())) {
    ShownLayer row{std::move(group), {}, {}, {}};
    row.work = work_of(row.group.operators);
    for (const GpuSpec* gpu : view.gpus) {
      row.unfused.push_back(time_of(row.group.operators, *gpu, view.options, Fusion::none));
      row.fused.push_back(time_of(row.group.operators, *gpu, view.options, Fusion::full));
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ShownLayer& a, const ShownLayer& b) {
    return a.unfused.front().ns.value_or(0) > b.unfused.front().ns.value_or(0);
  });
  return rows;
}

// A sum of which a part is unknown is no less: "> 1.2 G"; of which nothing is known, "unknown".
std::string sum_text(double sum, double unknown, const char* unit) {
  if (unknown > 0 && sum <= 0) return "unknown";
  return (unknown > 0 ? "> " : "") + with_prefix(sum, unit);
}

std::string flops_text(const PlanWork& work) {
  return sum_text(work.all_flops(), work.without_flops, "");
}

std::string bytes_text(const PlanWork& work, Fusion fusion) {
  return sum_text(fusion == Fusion::none ? work.bytes : work.fused_bytes, work.without_bytes, "B");
}

std::string types_of(const PlanWork& work) {
  std::string out;
  for (const auto& [type, flops] : work.flops) out += (out.empty() ? "" : "+") + one_line(type);
  return out.empty() ? "-" : out;
}

std::string limit_of(const PlanTime& time) {
  return time.ns ? to_string(time.limit()) : std::string("unknown");
}

std::string short_direction(Direction direction) {
  return direction == Direction::none ? std::string("-") : to_string(direction).substr(0, 3);
}

// "H100: compute-bound from batch 5 where fused, never unfused; batches up to 14485 fit into 80
// GB."
std::string batches_text(const GpuSpec& gpu, const PlanBatches& of) {
  const auto from = [](std::uint64_t batch) {
    return batch == 0 ? std::string("at no batch") : "from batch " + std::to_string(batch);
  };
  std::vector<std::string> parts;
  if (of.compute_unfused && of.compute_fused)
    parts.push_back("compute-bound " + from(*of.compute_unfused) + " unfused, " +
                    from(*of.compute_fused) + " fused");
  if (of.most_that_fits)
    parts.push_back((*of.most_that_fits == 0
                         ? "no batch fits into "
                         : "batches up to " + std::to_string(*of.most_that_fits) + " fit into ") +
                    with_prefix(gpu.memory_gb * kGiga, "B"));
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "; ") + part;
  return out.empty() ? out : one_line(gpu.name) + ": " + out + ".";
}

OrderedJson json_of(const std::optional<std::uint64_t>& value) {
  return value && *value > 0 ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson json_of(const PlanTime& time) {
  return {
      {"time_ns", or_null(time.ns)},
      {"compute_ns", time.ns ? OrderedJson(time.compute_ns) : OrderedJson(nullptr)},
      {"memory_ns", time.ns ? OrderedJson(time.memory_ns) : OrderedJson(nullptr)},
      {"launches", time.ns ? OrderedJson(time.launches) : OrderedJson(nullptr)},
      {"bound", time.ns && time.limit() != PlanLimit::unknown ? OrderedJson(to_string(time.limit()))
                                                              : OrderedJson(nullptr)}};
}

// What ranks exchange, over which link, and what they divide.
std::vector<std::string> exchange_remarks(const PlanView& view) {
  std::vector<std::string> lines;
  const PlanOptions& at = view.options;
  if (at.ranks <= 1) return lines;
  const std::string ranks = significant(at.ranks, 15);
  for (const GpuSpec* gpu : view.gpus) {
    const PlanExchange exchange = exchange_of(*view.plan, *gpu, at);
    if (exchange.bytes <= 0) continue;
    lines.push_back(one_line(gpu->name) + ": " + ranks + " ranks exchange " +
                    with_prefix(exchange.bytes, "B") + " a step over each one's link" +
                    (exchange.link ? ", " + with_prefix(exchange.link, "B/s") +
                                         (at.link > 0 ? "." : " (NVLink, by its data sheet).")
                                   : ", whose rate is not known: name it with --link GB/s."));
  }
  lines.push_back(
      (at.sharded ? "Each rank keeps 1/" + ranks +
                        " of parameters, gradients and the optimizer's state, and "
                        "gathers the layer that it computes. "
                  : "Each rank has all parameters. ") +
      std::string("hidden: the exchange runs beside computing; exposed: after it. Rates "
                  "are of all ranks, hidden."));
  return lines;
}

OrderedJson exchange_json(const PlanRow& row, const PlanOptions& options) {
  if (options.ranks <= 1) return nullptr;
  return {{"ranks", options.ranks},
          {"sharded", options.sharded},
          {"bus_bytes", row.exchange.bytes},
          {"link_bytes_per_s", or_null(row.exchange.link)},
          {"time_ns", or_null(row.exchange.ns)},
          {"hidden_ns",
           {{"unfused", or_null(row.hidden_ns(Fusion::none))},
            {"fused", or_null(row.hidden_ns(Fusion::full))}}},
          {"exposed_ns",
           {{"unfused", or_null(row.exposed_ns(Fusion::none))},
            {"fused", or_null(row.exposed_ns(Fusion::full))}}}};
}

}  // namespace

std::string plan_title(const PlanView& view) {
  const Plan& plan = *view.plan;
  std::string out = "[planned] " + one_line(plan.name) + " from " + one_line(plan.from) + ", " +
                    (plan.precision.empty() ? "types as built" : one_line(plan.precision)) + ", ";
  out += plan.training ? "forward and backward, " + one_line(plan.training->optimizer) : "forward";
  if (plan.past_tokens > 0)
    out += ", after " + std::to_string(static_cast<std::uint64_t>(plan.past_tokens)) + " tokens";
  for (const std::string& input : plan.inputs) out += ", " + one_line(input);
  return out;
}

std::string plan_layers(const PlanView& view, std::size_t top, std::size_t columns, bool colours) {
  const std::vector<ShownLayer> rows = layers_of(view);
  const std::size_t count = std::min(top, rows.size());
  const PlanRun& run = *view.runs.back();
  const std::vector<const PlanOperator*> all = operators_of(run);
  const PlanWork whole = work_of(all);
  std::vector<Column> table;
  const auto add = [&](const std::string& head, bool left, const std::string& of_all, auto cell) {
    Column& column = table.emplace_back(Column{head, left, {of_all}, {}});
    for (std::size_t i = 0; i < count; ++i) column.cells.push_back(cell(rows[i]));
  };
  add("layer", true, "whole model at batch " + std::to_string(run.batch),
      [](const ShownLayer& row) { return one_line(row.group.name()); });
  if (view.plan->training)
    add("dir", true, "",
        [](const ShownLayer& row) { return short_direction(row.group.direction); });
  add("layers", false, "", [](const ShownLayer& row) { return significant(row.group.layers, 15); });
  add("FLOP", false, flops_text(whole), [](const ShownLayer& row) { return flops_text(row.work); });
  add("type", true, types_of(whole), [](const ShownLayer& row) { return types_of(row.work); });
  add("unfused", false, bytes_text(whole, Fusion::none),
      [](const ShownLayer& row) { return bytes_text(row.work, Fusion::none); });
  add("fused", false, bytes_text(whole, Fusion::full),
      [](const ShownLayer& row) { return bytes_text(row.work, Fusion::full); });
  add("parameters", false, with_prefix(view.plan->parameters, ""),
      [](const ShownLayer& row) { return with_prefix(row.group.parameters, ""); });
  for (std::size_t i = 0; i < view.gpus.size(); ++i) {
    const PlanRow sum = row_of(*view.plan, run, *view.gpus[i], view.options);
    add(one_line(view.gpus[i]->name), false, duration(sum.unfused.ns),
        [i](const ShownLayer& row) { return duration(row.unfused[i].ns); });
    add("bound", true, limit_of(sum.unfused),
        [i](const ShownLayer& row) { return limit_of(row.unfused[i]); });
  }
  const std::string left_out =
      drop_columns(table, {"parameters", "type", "fused", "unfused", "FLOP", "layers"}, columns);
  std::string out = render_columns(std::move(table), count + 1, columns, colours);
  if (rows.size() > count) out += "And " + std::to_string(rows.size() - count) + " more (--top).\n";
  if (!left_out.empty()) out += "Columns left out (terminal too narrow): " + left_out + ".\n";
  return out;
}

std::string plan_rows(const PlanView& view, std::size_t columns, bool colours) {
  std::vector<PlanRow> rows;
  for (const GpuSpec* gpu : view.gpus)
    for (const PlanRun* run : view.runs)
      rows.push_back(row_of(*view.plan, *run, *gpu, view.options));
  const bool tokens = view.runs.front()->tokens_per_sample.has_value();
  std::vector<Column> table;
  const auto add = [&](const std::string& head, bool left, auto cell) {
    Column& column = table.emplace_back(Column{head, left, {}, {}});
    for (std::size_t i = 0; i < rows.size(); ++i) column.cells.push_back(cell(rows[i]));
  };
  add("GPU", true, [](const PlanRow& row) { return one_line(row.gpu->name); });
  add("batch", false,
      [](const PlanRow& row) { return std::to_string(row.run->batch) + (row.fits ? "" : "*"); });
  add("memory", false, [](const PlanRow& row) { return with_prefix(row.memory_bytes, "B"); });
  add("unfused", false, [](const PlanRow& row) { return duration(row.unfused.ns); });
  add("fused", false, [](const PlanRow& row) { return duration(row.fused.ns); });
  const double ranks = view.options.ranks;
  if (ranks > 1) {
    add("exchange", false, [](const PlanRow& row) { return duration(row.exchange.ns); });
    add("hidden", false, [](const PlanRow& row) { return duration(row.hidden_ns(Fusion::full)); });
    add("exposed", false,
        [](const PlanRow& row) { return duration(row.exposed_ns(Fusion::full)); });
  }
  add("bound", true, [](const PlanRow& row) { return limit_of(row.unfused); });
  for (const Fusion fusion : {Fusion::none, Fusion::full})
    add(std::string(tokens ? "tokens/s " : "samples/s ") + kFusions[fusion == Fusion::full], false,
        [tokens, fusion, ranks](const PlanRow& row) {
          return digits(tokens ? tokens_per_s(row, fusion, ranks)
                               : samples_per_s(row, fusion, ranks));
        });
  const std::string left_out =
      drop_columns(table,
                   {ranks > 1 ? (tokens ? "tokens/s unfused" : "samples/s unfused")
                              : (tokens ? "tokens/s fused" : "samples/s fused"),
                    "bound", "memory"},
                   columns);
  std::string out = render_columns(std::move(table), rows.size(), columns, colours);
  if (!left_out.empty()) out += "Columns left out (terminal too narrow): " + left_out + ".\n";
  return out;
}

std::vector<std::string> plan_remarks(const PlanView& view) {
  const Plan& plan = *view.plan;
  const PlanRun& run = *view.runs.back();
  std::vector<std::string> lines;
  std::string memory = "Memory at batch " + std::to_string(run.batch) + ": parameters " +
                       with_prefix(plan.parameter_bytes, "B");
  if (plan.training)
    memory += ", " + one_line(plan.training->optimizer) + "'s state " +
              with_prefix(plan.training->optimizer_bytes, "B") + ", gradients and values " +
              with_prefix(run.peak_bytes, "B") +
              " (kept for backward: " + with_prefix(run.kept_bytes, "B") + ")";
  else
    memory += ", values " + with_prefix(run.peak_bytes, "B") +
              (run.kv_bytes ? ", K and V " + with_prefix(run.kv_bytes, "B") : std::string());
  lines.push_back(memory + ".");
  for (const GpuSpec* gpu : view.gpus) {
    const std::string batches = batches_text(*gpu, batches_of(plan, *gpu, view.options));
    if (!batches.empty()) lines.push_back(batches);
    std::set<std::string> lacking;
    for (const PlanOperator& each : run.operators)
      if (each.flops.value_or(0) > 0 && !peak_of(*gpu, type_on(each.type, *gpu)))
        lacking.insert(each.type);
    for (const std::string& type : lacking)
      lines.push_back(one_line(gpu->name) + ": no published " + one_line(type) +
                      " peak, so its times are unknown.");
    for (const PlanRun* each : view.runs) {
      if (memory_of(plan, *each, view.options) <= gpu->memory_gb * kGiga || gpu->memory_gb <= 0)
        continue;
      lines.push_back("*: exceeds the memory of " + one_line(gpu->name) + ", " +
                      with_prefix(gpu->memory_gb * kGiga, "B") + ".");
      break;
    }
  }
  for (std::string& line : exchange_remarks(view)) lines.push_back(std::move(line));
  const PlanWork whole = work_of(operators_of(run));
  if (whole.unknown > 0) {
    std::set<std::string> names;
    for (const PlanOperator& each : run.operators)
      if (!each.flops || !each.read_bytes || !each.written_bytes) names.insert(one_line(each.name));
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    lines.push_back("Work is unknown of " + significant(whole.unknown, 15) + " of " +
                    significant(whole.operators, 15) + " operators, which move at least " +
                    percent(whole.bytes > 0 ? whole.unknown_bytes / whole.bytes : 0) +
                    " of the bytes: " + all + ".");
  }
  const PlanOptions& at = view.options;
  lines.push_back(std::string("Times are at least: ") +
                  (at.compute < 1 || at.memory < 1
                       ? "compute at " + percent(at.compute) + " and memory at " +
                             percent(at.memory) + " of the roofs"
                       : "every operator at its roof") +
                  (at.launch_ns > 0 ? ", none shorter than " + duration(at.launch_ns)
                                    : ", launches at no cost") +
                  (at.overhead_ns > 0 ? ", and " + duration(at.overhead_ns) + " a step" : "") +
                  ". Rates are at most. Nothing was measured.");
  lines.emplace_back(
      "unfused: each operator reads and writes memory; fused: only those with FLOPs do, and "
      "parameters are read. A layer's time is unfused.");
  for (const std::string& note : plan.notes) lines.push_back(one_line(note));
  return lines;
}

std::string plan_json(const PlanView& view, std::string_view document) {
  OrderedJson out = OrderedJson::parse(document.begin(), document.end());
  OrderedJson predictions = {
      {"gable", GABLE_VERSION},
      {"efficiency", {{"compute", view.options.compute}, {"memory", view.options.memory}}},
      {"launch_ns", view.options.launch_ns},
      {"overhead_ns", view.options.overhead_ns}};
  OrderedJson gpus = OrderedJson::array(), steps = OrderedJson::array(),
              layers = OrderedJson::array();
  for (const GpuSpec* gpu : view.gpus) {
    const PlanBatches batches = batches_of(*view.plan, *gpu, view.options);
    gpus.push_back(
        {{"gpu", gpu->name},
         {"source", gpu->source},
         {"memory_bytes", gpu->memory_gb > 0 ? OrderedJson(gpu->memory_gb * kGiga) : OrderedJson()},
         {"compute_bound_from_batch",
          {{"unfused", json_of(batches.compute_unfused)},
           {"fused", json_of(batches.compute_fused)}}},
         {"most_batch_that_fits",
          batches.most_that_fits ? OrderedJson(*batches.most_that_fits) : OrderedJson(nullptr)}});
    for (const PlanRun* run : view.runs) {
      const PlanRow row = row_of(*view.plan, *run, *gpu, view.options);
      const PlanWork work = work_of(operators_of(*run));
      OrderedJson step = {{"gpu", gpu->name},
                          {"batch", run->batch},
                          {"flops", work.flops},
                          {"unfused_bytes", work.bytes},
                          {"fused_bytes", work.fused_bytes},
                          {"operators", work.operators},
                          {"operators_unknown", work.unknown},
                          {"memory_bytes", row.memory_bytes},
                          {"fits", row.fits},
                          {"exchange", exchange_json(row, view.options)}};
      for (const Fusion fusion : {Fusion::none, Fusion::full}) {
        OrderedJson& part = step[kFusions[fusion == Fusion::full]];
        part = json_of(fusion == Fusion::none ? row.unfused : row.fused);
        part["samples_per_s"] = or_null(samples_per_s(row, fusion, view.options.ranks));
        part["tokens_per_s"] = or_null(tokens_per_s(row, fusion, view.options.ranks));
      }
      steps.push_back(std::move(step));
    }
  }
  for (const ShownLayer& row : layers_of(view)) {
    OrderedJson layer = {{"layer", row.group.name()},
                         {"class", row.group.kind},
                         {"direction", to_string(row.group.direction)},
                         {"layers", row.group.layers},
                         {"parameters", row.group.parameters},
                         {"flops", row.work.flops},
                         {"unfused_bytes", row.work.bytes},
                         {"fused_bytes", row.work.fused_bytes},
                         {"operators", row.work.operators},
                         {"operators_unknown", row.work.unknown}};
    OrderedJson& times = layer["gpus"] = OrderedJson::array();
    for (std::size_t i = 0; i < view.gpus.size(); ++i)
      times.push_back({{"gpu", view.gpus[i]->name},
                       {"unfused", json_of(row.unfused[i])},
                       {"fused", json_of(row.fused[i])}});
    layers.push_back(std::move(layer));
  }
  predictions["gpus"] = std::move(gpus);
  predictions["steps"] = std::move(steps);
  predictions["layers_at_batch"] = view.runs.back()->batch;
  predictions["layers"] = std::move(layers);
  out["predictions"] = std::move(predictions);
  return out.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace gable
