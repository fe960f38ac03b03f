// SPDX-License-Identifier: Apache-2.0
#include "tools/export/summary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "analysis/events/layer_tree.h"
#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/advice/advice.h"
#include "tools/show/sources.h"
#include "tools/show/table_rows.h"

namespace gable {
namespace {

using Facts = nlohmann::ordered_json;

constexpr int kSummaryVersion = 1;
constexpr std::size_t kMostAdvice = 5;

// Five significant digits: more than a measurement has, and short to read.
Facts rounded(Maybe value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  std::array<char, 32> text{};
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), *value, std::chars_format::general, 5);
  double short_value = 0;
  std::from_chars(text.data(), written.ptr, short_value);
  constexpr double kExact = 9e15;  // whole numbers without ".0" up to here
  if (short_value == std::floor(short_value) && std::abs(short_value) < kExact)
    return static_cast<std::int64_t>(short_value);
  return short_value;
}

Facts saving_of_step(const std::optional<StepSaving>& saving) {
  if (!saving) return nullptr;
  return {{"low_ns", rounded(saving->low_ns)}, {"high_ns", rounded(saving->high_ns)}};
}

Facts step_of(const Report& report) {
  const Step& step = report.step;
  if (report.run.unit != Unit::step) return nullptr;
  Facts out = {{"time_ns", rounded(step.wall_mean_ns)},
               {"time_stddev_ns", rounded(step.wall_stddev_ns)},
               {"host_ns", rounded(step.host_mean_ns)},
               {"gpu_busy_ns", rounded(step.busy_ns)},
               {"gpu_idle_ns", rounded(step.idle_ns)},
               {"copies_ns", rounded(step.copy_ns)},
               {"model_flop_utilisation", rounded(step.mfu)},
               {"counted_flop_utilisation", rounded(step.hfu)},
               {"critical_path", nullptr},
               {"not_hidden", nullptr}};
  if (const auto& path = step.critical_path)
    out["critical_path"] = {{"kernels_ns", rounded(path->kernels_ns)},
                            {"communication_ns", rounded(path->communication_ns)},
                            {"copies_ns", rounded(path->copies_ns)},
                            {"host_ns", rounded(path->host_ns)},
                            {"of_host_input_ns", rounded(path->input_ns)},
                            {"of_host_after_waits_ns", rounded(path->waits_ns)},
                            {"launches_ns", rounded(path->launches_ns)},
                            {"gaps_ns", rounded(path->gaps_ns)},
                            {"unexplained_ns", rounded(path->unexplained_ns)}};
  if (const auto& exposed = step.exposed)
    out["not_hidden"] = {
        {"communication_ns", rounded(exposed->communication_ns)},
        {"copies_ns", rounded(exposed->copies_ns)},
        {"step_saving_without_communication", saving_of_step(exposed->without.communication)},
        {"step_saving_without_copies", saving_of_step(exposed->without.copies)},
        {"step_saving_without_input", saving_of_step(exposed->without.input)},
        {"step_saving_without_host_waits", saving_of_step(exposed->without.waits)}};
  return out;
}

Facts whole_of(const Report& report) {
  const auto& total = report.run.total;
  return {{"gpu_time_ns", rounded(total.gpu_time_ns)},
          {"flops", rounded(total.flops)},
          {"dram_bytes", rounded(total.bytes_dram)},
          {"flops_per_s", rounded(total.flops_per_s)},
          {"basis", to_string(total.basis)},
          // Shares of the work that these sums cover.
          {"known_time", rounded(coverage_of(report, &Coverage::time))},
          {"known_flops", rounded(coverage_of(report, &Coverage::flops))},
          {"known_dram_bytes", rounded(coverage_of(report, &Coverage::bytes))}};
}

Facts row_of(const TableRow& row, bool kernels) {
  const LayerRow& sum = row.sum;
  Facts out = Facts::object();
  out[kernels ? "kernel" : "layer"] = row.name;
  if (kernels && row.layer != nullptr) out["layer"] = shown_path(row.layer->path);
  const Facts rest = {{"equal_layers", row.count},
                      {"direction", to_string(row.direction)},
                      {"device", row.device},
                      {"launches", rounded(sum.launches)},
                      {"time_ns", rounded(sum.time_total_ns)},
                      {"time_share", row.counts_again ? Facts(nullptr) : rounded(row.share)},
                      {"flops", row.flops_known ? rounded(sum.flops.total) : Facts(nullptr)},
                      {"dram_bytes", row.bytes_known ? rounded(sum.bytes.dram) : Facts(nullptr)},
                      {"flops_per_s", rounded(sum.flops_per_s)},
                      {"dram_bytes_per_s", rounded(sum.bytes_per_s)},
                      {"flops_per_dram_byte", rounded(sum.intensity.dram)},
                      {"precision", row.precision.empty() ? Facts(nullptr) : Facts(row.precision)},
                      {"work", row.analytic ? "by formula" : "counted"},
                      {"bound", to_string(sum.roof.bound)},
                      {"roof", sum.roof.ceiling.empty() ? Facts(nullptr) : Facts(sum.roof.ceiling)},
                      {"of_roof", rounded(sum.roof.fraction)},
                      {"kernel_time_saving_ns", rounded(sum.saving_ns)},
                      {"step_saving", saving_of_step(step_saving_of(sum))}};
  out.update(rest);
  return out;
}

// The share of the shown unit's kernel time under each limit.
Facts limits_of(const TableRows& table) {
  std::map<std::string, double> shares;
  for (const TableRow& row : table.rows)
    if (row.share && !row.counts_again) shares[to_string(row.sum.roof.bound)] += *row.share;
  Facts out = Facts::object();
  for (const auto& [bound, share] : shares) out[bound] = rounded(share);
  return out;
}

Facts advice_of(const Report& report) {
  Facts out = Facts::array();
  for (const Advice& each : advise(report)) {
    if (out.size() == kMostAdvice) break;
    out.push_back({{"id", each.id},
                   {"saving_at_most_ns", rounded(each.saving_ns)},
                   {"measured", each.trigger},
                   {"do", each.action},
                   {"where", each.where}});
  }
  return out;
}

Facts devices_of(const Report& report) {
  Facts out = Facts::array();
  for (const DeviceInfo& device : report.devices)
    out.push_back({{"name", device.name.empty() ? Facts(nullptr) : Facts(device.name)},
                   {"sms", device.sm_count}});
  return out;
}

// Those that limit something here; of each name the one that fractions are of.
Facts roofs_of(const Report& report, const TableRows& table) {
  std::set<std::pair<std::int32_t, std::string>> named;
  for (const TableRow& row : table.rows) named.emplace(row.device, row.sum.roof.ceiling);
  std::map<std::pair<std::int32_t, std::string>, const Ceiling*> roofs;
  for (const Ceiling& each : report.ceilings) {
    const std::pair key(each.device, each.name);
    if (named.count(key) == 0) continue;
    const Ceiling*& roof = roofs[key];
    if (roof == nullptr || preference(each) > preference(*roof)) roof = &each;
  }
  Facts out = Facts::array();
  for (const auto& [key, roof] : roofs)
    out.push_back(
        {{"name", roof->name},
         {"device", roof->device},
         {roof->kind == CeilingKind::compute ? "flops_per_s" : "bytes_per_s", rounded(roof->value)},
         {"source", roof->source}});
  return out;
}

Facts lost_of(const LostCounts& lost) {
  Facts out = Facts::object();
  const auto add = [&](const char* name, std::uint64_t count) {
    if (count > 0) out[name] = count;
  };
  add("records", lost.records);
  add("counter_ranges", lost.ranges);
  add("zero_timestamps", lost.zero_timestamps);
  add("windows", lost.windows);
  add("unattributed_launches", lost.unattributed_launches);
  add("folded_keys", lost.folded_keys);
  add("folded_layers", lost.folded_layers);
  return out;
}

Facts summary_of(const Report& report, const std::string& name, const RowQuery& query,
                 std::size_t rows) {
  const RunInfo& run = report.run;
  const std::vector<Report> alone = {report};  // the rows point into it
  const TableRows table = table_rows(alone, query);
  const std::size_t all = table.rows.size();
  Facts shown = Facts::array();
  for (std::size_t i = 0; i < std::min(rows, all); ++i)
    shown.push_back(row_of(table.rows[i], table.kernels));
  return {{"file", name},
          {"program", shown_command(run)},
          {"numbers_from", to_string(run.source)},
          {"complete", run.complete},
          {"rank", run.rank ? Facts(*run.rank) : Facts(nullptr)},
          {"merged_processes", run.processes.size()},
          {"devices", devices_of(report)},
          {"numbers_are_per", to_string(run.unit)},
          {"steps_seen", run.steps.seen},
          {"step", step_of(report)},
          {"whole_run", whole_of(report)},
          {"time_share_by_bound", limits_of(table)},
          {"rows_are", table.kernels ? "kernels" : "layers, each without its children"},
          {"rows_of_all", all},
          {"rows", std::move(shown)},
          {"advice", advice_of(report)},
          {"roofs", roofs_of(report, table)},
          {"lost", lost_of(run.lost)},
          {"notes", run.notes}};
}

}  // namespace

std::string export_summary(const std::vector<Report>& reports,
                           const std::vector<std::string>& names, const RowQuery& query,
                           std::size_t rows) {
  Facts out = {{"gable_summary", kSummaryVersion},
               {"units",
                "times in ns, work in FLOP, memory in byte, rates per second, shares from 0 to 1; "
                "null is unknown, never 0"},
               {"reports", Facts::array()}};
  for (std::size_t i = 0; i < reports.size(); ++i)
    out["reports"].push_back(summary_of(reports[i], names[i], query, rows));
  return out.dump(1, ' ', false, Facts::error_handler_t::replace) + "\n";
}

}  // namespace gable
