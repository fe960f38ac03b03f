// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor_metrics_page.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "analysis/events/quantities.h"
#include "analysis/events/roof_metrics.h"
#include "collector/metrics/plan.h"
#include "collector/options/metric_sets.h"
#include "tools/doctor/doctor_chip.h"
#include "tools/doctor/doctor_findings.h"

namespace gable {
namespace {

constexpr std::string_view kTensor = "sm__ops_path_tensor_";

std::string code(std::string_view name) { return "`" + std::string(name) + "`"; }

// The sets beside the roofline.
std::vector<std::string> more_sets() {
  std::vector<std::string> names;
  for (const MetricSet& set : metric_sets())
    if (set.name != kRooflineSet) names.emplace_back(set.name);
  return names;
}

// A line of a page, broken between words at 120 columns.
void paragraph(std::ostringstream& page, const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > 120) {
      page << line << "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  page << line << "\n\n";
}

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

struct CountedRow {
  std::string quantity, metrics;
  std::string_view source;
};

void add_row(std::vector<CountedRow>& rows, const MetricRole& role) {
  const std::string quantity = counted_by(std::string(role.metric));
  const std::string metric =
      (role.weight == 1 ? "" : number(role.weight) + " x ") + code(role.metric);
  const auto known = std::find_if(rows.begin(), rows.end(), [&](const CountedRow& row) {
    return row.quantity == quantity && row.source == role.source;
  });
  if (known == rows.end()) {
    rows.push_back({quantity, metric, role.source});
  } else {
    known->metrics += (is_one_of(role.quantity) ? "; else " : ", ") + metric;
  }
}

void add_quantities(std::ostringstream& page) {
  page << "## What is counted\n\n";
  paragraph(page,
            "A quantity is the sum of weight x value over its metrics, of which a chip has all or "
            "some; where two names count the same thing (`else`), the first that the chip has is "
            "taken. [report.md](report.md) says what the report makes of them.");
  page << "| quantity | weight x metric | source of the weight |\n|---|---|---|\n";
  std::vector<CountedRow> rows;
  std::map<std::pair<Quantity, std::string_view>, std::string> tensor;
  std::vector<std::pair<Quantity, std::string_view>> order;
  std::string_view tensor_source;
  for (const MetricRole& role : metric_roles()) {
    if (!role.metric.starts_with(kTensor)) {
      add_row(rows, role);
      continue;
    }
    tensor_source = role.source;
    if (role.metric.find("_sparsity_") != std::string_view::npos) continue;
    auto& names = tensor[{role.quantity, role.type}];
    if (names.empty()) order.emplace_back(role.quantity, role.type);
    const auto name = role.metric.substr(kTensor.size());
    names += (names.empty() ? "" : ", ") + code(name.substr(0, name.size() - 4));
  }
  for (const CountedRow& row : rows)
    page << "| " << row.quantity << " | " << row.metrics << " | " << row.source << " |\n";
  page << "\n";
  paragraph(
      page,
      "FP16 operations are an upper bound: half of a pair may be idle, and a kernel whose only "
      "such instructions move constants has none. The row \"what L1 bytes miss\" is a check, "
      "not a quantity: if any of these instructions ran, L1 bytes are unknown. The duration is "
      "measured together with counters; the report shows it where no `time` window saw the "
      "kernel. If a launch's counted thread blocks differ from its grid, its window is "
      "discarded. SM cycles and tensor instructions are only shown, under `counters`.");
  paragraph(
      page,
      "Tensor cores: " + code(std::string(kTensor) + "….sum") + ", weight 1 (" +
          std::string(tensor_source) +
          "). Each name also has a part `_sparsity_off` and a part `_sparsity_on`; a name "
          "without `op_` is the sum over instructions, one without `_dst_` over "
          "destination types. A metric that needs more than one pass on a chip is replaced by "
          "its parts; a metric and its parts are never added.");
  page << "| type | metrics, without `" << kTensor << "` and `.sum` |\n|---|---|\n";
  for (const auto& key : order)
    page << "| " << key.second
         << (key.first == Quantity::ops_tensor ? " (integer: `ops`, no FLOP)" : "") << " | "
         << tensor[key] << " |\n";
  page << "\n";
}

void add_roofs(std::ostringstream& page) {
  page << "## Roofs\n\n";
  paragraph(page,
            "CUPTI states what a unit can do in a cycle. Bytes per cycle x cycles per second is a "
            "roof, which reports use where neither an attribute of the device nor `gable ceilings` "
            "tells it ([ceilings.md](ceilings.md#roofs-that-cupti-states)). The first hw pass has "
            "these metrics as far as they need no further pass. The values are under `counters` of "
            "kernels only where `--metrics` names them.");
  page << "| roof | bytes per cycle | cycles per second |\n|---|---|---|\n";
  for (const RoofMetric& roof : kRoofMetrics)
    page << "| " << roof.shown << " | " << code(roof.peak) << " | "
         << (roof.clock.empty() ? "SM clock: SM cycles / duration" : code(roof.clock)) << " |\n";
  page << "\n";
}

void add_sets(std::ostringstream& page) {
  page << "## Sets for --metrics\n\n";
  paragraph(
      page,
      "`--metrics roofline,cache,smsp__inst_executed.sum` collects sets and single metrics "
      "together; without the option it is `roofline`, which is the tables above. The "
      "report has the quantities below as `metrics` of each kernel and layer ([how they are "
      "computed](report.md#metrics)), and table, CSV and page show them. Raw values, means of one "
      "launch, are under `counters` of each kernel, also of metrics that belong to no set. What a "
      "chip does not have is left out. A metric "
      "named without a roll-up gets `.sum`; a ratio `.ratio`, or `.pct` when its name ends in "
      "`_rate`; a throughput `.avg.pct_of_peak_sustained_elapsed`. A hit rate or a number of "
      "sectors per request that needs more than one pass is replaced by its two parts, any other "
      "such metric left out with a sentence.");
  for (const MetricSet& set : metric_sets()) {
    if (set.quantities.empty()) continue;
    page << "`" << set.name << "`: " << set.gives << ".\n\n";
    page << "| quantity | metrics | unit |\n|---|---|---|\n";
    for (const SetQuantity& quantity : set.quantities) {
      page << "| " << quantity.name << " | ";
      for (const auto& metric : quantity.metrics)
        page << (&metric == &quantity.metrics.front() ? "" : " and ") << code(metric);
      page << " | " << quantity.formula << " |\n";
    }
    page << "\n";
  }
}

struct ChipPage {
  std::vector<std::string> chips;  // with one and the same plan
  MetricPlan plan;
  std::vector<std::size_t> more;      // passes that each set adds
  std::vector<std::string> left_out;  // of the sets
};

bool same(const ChipPage& a, const ChipPage& b) {
  const auto same_pass = [](const PassPlan& one, const PassPlan& other) {
    return one.phase == other.phase && one.metrics == other.metrics;
  };
  return a.more == b.more && a.left_out == b.left_out && a.plan.error == b.plan.error &&
         a.plan.unavailable == b.plan.unavailable &&
         std::equal(a.plan.passes.begin(), a.plan.passes.end(), b.plan.passes.begin(),
                    b.plan.passes.end(), same_pass);
}

std::vector<ChipPage> plan_all(const CuptiApi& api, const std::vector<std::string>& chips,
                               const std::function<void()>& under_way) {
  std::vector<ChipPage> pages;
  for (const std::string& chip : chips) {
    under_way();
    ChipPage page;
    ChipMetrics metrics(api, chip);
    page.plan = plan_metrics(metrics, {});
    if (page.plan.passes.empty()) continue;
    for (const std::string& set : more_sets()) {
      const auto plan = plan_metrics(metrics, {std::string(kRooflineSet), set});
      page.more.push_back(plan.passes.size() - page.plan.passes.size());
      for (const LeftOut& one : plan.left_out) page.left_out.push_back(one.metric);
    }
    const auto known = std::find_if(pages.begin(), pages.end(),
                                    [&](const ChipPage& other) { return same(page, other); });
    if (known == pages.end()) {
      page.chips = {chip};
      pages.push_back(std::move(page));
    } else {
      known->chips.push_back(chip);
    }
  }
  return pages;
}

std::size_t groups_of(const MetricPlan& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.passes.begin(), plan.passes.end(),
                    [](const PassPlan& pass) { return pass.phase.kind == PhaseKind::hw; }));
}

void add_summary(std::ostringstream& page, const std::vector<ChipPage>& chips) {
  page << "## Chips\n\n";
  const std::vector<std::string> sets = more_sets();
  std::string columns, heads, lines;
  for (const std::string& set : sets) {
    const bool first = &set == &sets.front(), last = &set == &sets.back();
    columns += (first ? "" : last ? " and " : ", ") + code("+" + set);
    heads += " +" + set + " |";
    lines += "---|";
  }
  paragraph(
      page,
      "`hw` and `flops`: passes of the roofline, each collected in up to `--active` windows of its "
      "own (3 by default), before those of `time`: on GH100 a run takes about (4 + 1 + 1) x 3 "
      "steps. " +
          columns +
          ": how many more passes a set takes beside the roofline. Not counted is what no metric "
          "counts in one pass together with what verifies a window; integer tensor work also where "
          "it would take a pass of its own, and DRAM on chips that use the host's memory. `gable "
          "doctor` names the chip of the GPU at hand.");
  page << "| chips | such as | hw | flops |" << heads << " not counted |\n|---|---|---|---|"
       << lines << "---|\n";
  for (const ChipPage& chip : chips) {
    const std::size_t groups = groups_of(chip.plan);
    page << "| " << joined(chip.chips) << (is_too_old(chip.chips.front()) ? " *" : "") << " | "
         << products_of(chip.chips) << " | " << groups << " | " << chip.plan.passes.size() - groups;
    for (const std::size_t more : chip.more) page << " | " << more;
    page << " | " << joined(chip.plan.unavailable);
    for (const std::string& one : chip.left_out)
      page << (chip.plan.unavailable.empty() && &one == &chip.left_out.front() ? "" : ", ") << one;
    page << " |\n";
  }
  page << "\n";
  paragraph(page,
            "\\* CUPTI plans for these but takes no counters on them: its range profiler needs "
            "compute capability 7.5 or newer. All `__sass_` metrics of a chip share one pass, the "
            "one of `flops`.");
}

// What all of them hold, in the order of the first.
std::vector<std::string> common(const std::vector<const PassPlan*>& passes) {
  std::vector<std::string> names;
  for (const std::string& metric : passes.front()->metrics) {
    if (std::all_of(passes.begin(), passes.end(), [&](const PassPlan* pass) {
          return std::find(pass->metrics.begin(), pass->metrics.end(), metric) !=
                 pass->metrics.end();
        }))
      names.push_back(metric);
  }
  return names;
}

std::string coded(const std::vector<std::string>& names, const std::vector<std::string>& without) {
  std::string text;
  for (const std::string& name : names)
    if (std::find(without.begin(), without.end(), name) == without.end())
      text += (text.empty() ? "" : ", ") + code(name);
  return text;
}

void add_chip(std::ostringstream& page, const ChipPage& chip) {
  page << "### " << joined(chip.chips) << "\n\n";
  std::vector<const PassPlan*> groups;
  for (const PassPlan& pass : chip.plan.passes)
    if (pass.phase.kind == PhaseKind::hw) groups.push_back(&pass);
  if (groups.empty()) return;
  const auto shared = common(groups);
  const bool one = groups.size() == 1;
  page << "| pass | metrics |\n|---|---|\n";
  if (!one) page << "| every hw | " << coded(shared, {}) << " |\n";
  for (const PassPlan& pass : chip.plan.passes) {
    const bool hw = pass.phase.kind == PhaseKind::hw;
    page << "| " << to_string(pass.phase) << " | "
         << coded(pass.metrics, hw && !one ? shared : std::vector<std::string>{}) << " |\n";
  }
  page << "\n";
}

}  // namespace

std::string metrics_page(const CuptiApi& api, const std::vector<std::string>& chips,
                         const std::function<void()>& under_way) {
  std::ostringstream page;
  page << "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Metrics\n\n";
  paragraph(
      page,
      "Printed by `gable doctor --chip all --markdown`, which asks CUPTI's Profiler Host API "
      "and needs no GPU. Planned by the CUPTI of " +
          version_of(api) +
          ". In a running program the plan is made in the same way, for the chip and the CUPTI "
          "at hand. Nothing here was measured on a GPU.");
  add_quantities(page);
  add_roofs(page);
  add_sets(page);
  const auto planned = plan_all(api, chips, under_way);
  add_summary(page, planned);
  page << "## The roofline's passes, chip by chip\n\n";
  for (const ChipPage& chip : planned) add_chip(page, chip);
  std::string text = page.str();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace gable
