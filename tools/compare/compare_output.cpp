// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare_output.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/base/display.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/compare/advice_score.h"
#include "tools/export/export.h"
#include "tools/files/report_output.h"
#include "tools/show/columns.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

constexpr const char* kRed = "31";
constexpr const char* kGreen = "32";
constexpr const char* kYellow = "33";

double difference(const ComparedRow& row) {
  return row.time_ns.b.value_or(0) - row.time_ns.a.value_or(0);
}

double longest(const ComparedRow& row) {
  return std::max(row.time_ns.a.value_or(0), row.time_ns.b.value_or(0));
}

// "+12 %", with "~" in front within the noise.
std::string change_of(const ComparedRow& row) {
  if (row.match == Match::added || row.match == Match::gone) return match_name(row.match);
  const std::string text = signed_percent(row.time_ns.change());
  return row.beyond_noise() || row.time_ns.change() == 0 ? text : "~" + text;
}

// "+12 %" of a launch.
std::string launch_change_of(const ComparedRow& row) {
  const Maybe change = row.per_launch_ns().change();
  return (row.launch_beyond_noise() || change.value_or(0) == 0 ? "" : "~") + signed_percent(change);
}

// Faster because it is launched less often is no success, nor the other way a failure.
const char* colour_of(const ComparedRow& row) {
  const Maybe change = row.time_ns.change();
  if (row.match == Match::added || row.match == Match::gone) return kYellow;
  if (!change || *change == 0 || !row.beyond_noise()) return nullptr;
  const Maybe each = row.per_launch_ns().change();
  if (row.launches_differ() && each && *each * *change <= 0) return kYellow;
  return *change > 0 ? kRed : kGreen;
}

std::string name_of(const ComparedRow& row) {
  std::string text = one_line(row.name);
  if (row.match == Match::reshaped) text += " (other shape)";
  return text;
}

bool is_backward(const ComparedRow* row) {
  return row->direction == Direction::backward || row->direction == Direction::recompute;
}

// `directions`: whether rows, shown or not, may differ by their direction alone.
std::vector<Column> columns_of(const std::vector<const ComparedRow*>& rows, bool kernels,
                               bool directions) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& head, bool left, auto cell) {
    Column& column = columns.emplace_back(Column{head, left, {}, {}});
    for (const ComparedRow* row : rows) column.cells.push_back(cell(*row));
  };
  const auto any = [&](auto test) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const ComparedRow* row) { return test(*row); });
  };
  add(kernels ? "kernel" : "layer", true, name_of);
  if (any([](const ComparedRow& row) { return row.device != 0; }))
    add("gpu", false, [](const ComparedRow& row) { return std::to_string(row.device); });
  if (directions) {
    add("dir", true, [](const ComparedRow& row) {
      return row.direction == Direction::none ? std::string("-")
                                              : to_string(row.direction).substr(0, 3);
    });
  }
  add("time A", false, [](const ComparedRow& row) { return duration(row.time_ns.a); });
  add("time B", false, [](const ComparedRow& row) { return duration(row.time_ns.b); });
  add("change", false, change_of);
  for (const ComparedRow* row : rows) columns.back().colours.push_back(colour_of(*row));
  if (any([](const ComparedRow& row) { return row.launches.change() && row.launches_differ(); })) {
    add("launches", false,
        [](const ComparedRow& row) { return signed_percent(row.launches.change()); });
    add("a launch", false, launch_change_of);
  }
  add("FLOP", false, [](const ComparedRow& row) { return signed_percent(row.flops.change()); });
  add("DRAM", false, [](const ComparedRow& row) { return signed_percent(row.dram.change()); });
  add("roof A", false, [](const ComparedRow& row) { return percent(row.fraction.a); });
  add("roof B", false, [](const ComparedRow& row) { return percent(row.fraction.b); });
  add("saving A", false, [](const ComparedRow& row) { return duration(row.saving_ns.a); });
  add("saving B", false, [](const ComparedRow& row) { return duration(row.saving_ns.b); });
  return columns;
}

std::string whole_line(const ComparedRow& row, const std::string& unit, bool several) {
  std::string text = several ? "GPU " + std::to_string(row.device) + ": " : std::string();
  text += duration(row.time_ns.a) + " -> " + duration(row.time_ns.b) + " of kernels per " + unit +
          " (" + change_of(row) + (row.noise_ns ? ", noise " + duration(row.noise_ns) : "") +
          "), " + with_prefix(row.flops.a, "FLOP") + " -> " + with_prefix(row.flops.b, "FLOP") +
          ", " + with_prefix(row.dram.a, "B") + " -> " + with_prefix(row.dram.b, "B") + " DRAM";
  if (row.launches.change() && row.launches_differ())
    text += ", " + launches_text(*row.launches.a) + " -> " + launches_text(*row.launches.b) +
            " launches (" + signed_percent(row.launches.change()) + "), " + launch_change_of(row) +
            " a launch";
  return text;
}

std::string no_difference_line(const ReportFiles& files, const Comparison& comparison,
                               const std::string& counts) {
  bool exact = comparison.step.wall_ns.a == comparison.step.wall_ns.b;
  PartialSum time;
  for (const ComparedRow& whole : comparison.wholes) {
    exact = exact && whole.time_ns.a == whole.time_ns.b;
    time.add(whole.time_ns.b, whole.time_ns.b ? 1 : 0);
  }
  return source_mark(files.reports) + "No difference" + (exact ? "" : " beyond the noise") + ": " +
         counts +
         (time.value
              ? ", " + time.time_text() + " of kernels a " + to_string(files.reports[0].run.unit)
              : ", whose times are unknown") +
         ".";
}

std::string step_line(const Comparison& comparison) {
  const ComparedStep& step = comparison.step;
  if (!step.wall_ns.a || !step.wall_ns.b) return {};
  const bool exposed = step.exposed_ns.a && step.exposed_ns.b &&
                       std::max(*step.exposed_ns.a, *step.exposed_ns.b) > 0;
  return (step.on_host ? "step on the host: " : "step: ") + duration(step.wall_ns.a) + " -> " +
         duration(step.wall_ns.b) + " (" + signed_percent(step.wall_ns.change()) +
         (step.noise_ns ? ", noise " + duration(step.noise_ns) : "") + ")" +
         (exposed ? "; communication not hidden: " + duration(step.exposed_ns.a) + " -> " +
                        duration(step.exposed_ns.b)
                  : "");
}

// Both names of layers that are taken for renamed: people must be able to disagree.
std::vector<std::string> renamed_lines(const std::vector<const ComparedRow*>& rows) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> lines;
  std::size_t more = 0;
  for (const ComparedRow* row : rows) {
    if (row->match != Match::renamed) continue;
    if (lines.size() < kMost) {
      lines.push_back("renamed: " + one_line(row->before) + " -> " + one_line(row->name));
    } else {
      ++more;
    }
  }
  if (more > 0) lines.push_back("renamed: " + std::to_string(more) + " more");
  return lines;
}

std::string counts_line(const std::vector<const ComparedRow*>& rows, bool kernels) {
  std::string text;
  for (const Match match : {Match::added, Match::gone, Match::renamed, Match::reshaped}) {
    const auto count = std::count_if(rows.begin(), rows.end(),
                                     [&](const ComparedRow* row) { return row->match == match; });
    if (count > 0) text += ", " + std::to_string(count) + " " + match_name(match);
  }
  return std::to_string(rows.size()) + (kernels ? " kernel" : " layer") +
         (rows.size() == 1 ? "" : "s") + text;
}

bool as_kernels(const Comparison& comparison, const DiffOptions& options) {
  return options.kernels || comparison.layers.size() < 2;
}

std::string order_name(DiffOrder order) {
  return order == DiffOrder::change ? "largest difference first"
         : order == DiffOrder::time ? "longest first"
                                    : "by name";
}

using Json = nlohmann::ordered_json;

Json number(const Maybe& value) { return value ? Json(*value) : Json(nullptr); }

Json pair(const Compared& values) {
  return {{"a", number(values.a)}, {"b", number(values.b)}, {"change", number(values.change())}};
}

Json row_json(const ComparedRow& row, bool kernel) {
  Json out = {{"name", row.name}, {"match", match_name(row.match)}};
  if (!row.before.empty()) out["before"] = row.before;
  if (kernel) out["layer"] = row.layer;
  out["direction"] = word_of(row.direction);
  out["device"] = row.device;
  out["time_ns"] = pair(row.time_ns);
  out["time_ns"]["noise"] = number(row.noise_ns);
  out["launches"] = pair(row.launches);
  out["time_per_launch_ns"] = pair(row.per_launch_ns());
  out["flops"] = pair(row.flops);
  out["bytes_dram"] = pair(row.dram);
  out["roof_fraction"] = pair(row.fraction);
  out["saving_ns"] = pair(row.saving_ns);
  out["time_share"] = number(row.share);
  out["within_noise"] = same_within_noise(row);
  return out;
}

Json rows_json(const std::vector<ComparedRow>& rows, bool kernels) {
  Json out = Json::array();
  for (const ComparedRow& row : rows) out.push_back(row_json(row, kernels));
  return out;
}

std::string gates_of(const GateOptions& options) {
  std::string text;
  for (const Gated what : options.what) text += (text.empty() ? "" : ", ") + gated_name(what);
  return text;
}

constexpr std::size_t kMostUnknown = 8;  // lines

std::string word_of_verdict(GateVerdict verdict) {
  return verdict == GateVerdict::worse     ? "worse"
         : verdict == GateVerdict::unclear ? "unclear"
                                           : "unknown";
}

std::string verdict_of(const GateResult& result) {
  if (!result.obstacles.empty()) return "no comparison is possible";
  if (const std::size_t worse = result.count(GateVerdict::worse); worse > 0)
    return std::to_string(worse) + " worse";
  return "nothing is worse";
}

}  // namespace

std::vector<const ComparedRow*> diff_rows(const Comparison& comparison,
                                          const DiffOptions& options) {
  static const LayerRow kNone;
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& row :
       as_kernels(comparison, options) ? comparison.kernels : comparison.layers) {
    if (layer_matches(options.layers, row.layer_row == nullptr ? kNone : *row.layer_row))
      rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const ComparedRow* a, const ComparedRow* b) {
    if (options.order == DiffOrder::name) return a->name < b->name;
    if (options.order == DiffOrder::time) return longest(*a) > longest(*b);
    return std::abs(difference(*a)) > std::abs(difference(*b));
  });
  return rows;
}

std::string diff_table(const ReportFiles& files, const Comparison& comparison,
                       const DiffOptions& options) {
  const std::vector<const ComparedRow*> rows = diff_rows(comparison, options);
  const std::size_t count = std::min(options.rows, rows.size());
  const bool kernels = as_kernels(comparison, options);
  std::string out;
  const auto line = [&](const std::string& text, const char* colour = nullptr) {
    out +=
        coloured(shorten_end(one_line(text), options.columns), options.colours ? colour : nullptr) +
        "\n";
  };
  const auto lines = [&](const std::string& text, const char* colour = nullptr) {
    for (const std::string& each : word_lines(text, options.columns)) line(each, colour);
  };
  const auto careful = [&] {
    for (const std::string& text : comparison.obstacles) lines("Careful: " + text, kRed);
    if (!comparison.other_work.empty())
      lines("Careful: " + comparison.other_work + ", so times are of different work.", kRed);
    for (const std::string& text : comparison.throttled)
      lines("Careful: " + text +
                (comparison.clocks_agree ? ", but the mean SM clocks of both agree."
                                         : ", so its times are those of a slower clock."),
            kRed);
  };
  if (no_difference(comparison, rows)) {
    careful();
    lines(no_difference_line(files, comparison, counts_line(rows, kernels)));
    // Of two copies nothing else is to be said.
    if (equal_reports(files.reports) == 0)
      for (const std::string& text : comparison.remarks) lines(text);
    return out;
  }
  line(source_mark(files.reports) + "A: " + files.paths[0]);
  line(source_mark(files.reports) + "B: " + files.paths[1]);
  careful();
  for (const ComparedRow& whole : comparison.wholes)
    lines(whole_line(whole, to_string(files.reports[0].run.unit), comparison.wholes.size() > 1));
  if (const std::string step = step_line(comparison); !step.empty()) line(step);
  line("");
  // What differs is the step alone, or what runs beside these rows.
  const bool same = options.order == DiffOrder::change &&
                    std::all_of(rows.begin(), rows.end(),
                                [](const ComparedRow* row) { return same_within_noise(*row); });
  std::string unknown, wide;
  bool launches = false;
  if (same) {
    line("No " + std::string(kernels ? "kernel" : "layer") + " differs beyond the noise: " +
         counts_line(rows, kernels) + ". With --sort time they are listed.");
  } else {
    line(counts_line(rows, kernels) + "; " + std::to_string(count) + " shown, " +
         order_name(options.order) + ":");
    std::vector<Column> columns =
        columns_of({rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count)}, kernels,
                   std::any_of(rows.begin(), rows.end(), is_backward));
    unknown = drop_unknown(columns);  // makes room for names
    wide = drop_columns(columns, {"saving", "roof", "DRAM", "FLOP"}, options.columns);
    launches = std::any_of(columns.begin(), columns.end(),
                           [](const Column& column) { return column.head == "a launch"; });
    out += render_columns(std::move(columns), count, options.columns, options.colours);
  }
  line("");
  for (const std::string& text : renamed_lines(rows)) line(text);
  bool advised = false;
  for (const AdviceScore& score : score_advice(files.reports[0], comparison)) {
    if (!advised)
      line("What became of the advice of A (a gain counts once, all together at most the step's):");
    advised = true;
    lines("- " + score.line());
  }
  if (!same)
    lines(std::string("~: within the noise, by the spread within both runs. FLOP") +
          (launches ? ", DRAM, launches and the time of a launch" : " and DRAM") +
          ": change from A to B.");
  if (!wide.empty()) lines("Columns left out (terminal too narrow): " + wide + ".");
  if (!unknown.empty()) lines("Unknown in all of these rows: " + unknown + ".");
  for (const std::string& text : comparison.remarks) lines(text);
  return out;
}

std::string diff_markdown(const ReportFiles& files, const Comparison& comparison,
                          const DiffOptions& options) {
  std::vector<const ComparedRow*> rows = diff_rows(comparison, options);
  const bool kernels = as_kernels(comparison, options);
  const std::vector<std::string> names = file_names(files);
  std::string out = "**" + source_mark(files.reports) + markdown_cell(names[0]) + " -> " +
                    markdown_cell(names[1]) + "**: " + counts_line(rows, kernels) + "\n\n";
  for (const std::string& text : comparison.obstacles)
    out += "Careful: " + markdown_cell(text) + "\n\n";
  if (!comparison.other_work.empty())
    out += "Careful: " + markdown_cell(comparison.other_work) + ".\n\n";
  for (const std::string& text : comparison.throttled)
    out += "Careful: " + markdown_cell(text) + ".\n\n";
  if (const std::string step = step_line(comparison); !step.empty()) out += step + "\n\n";
  const bool directions = std::any_of(rows.begin(), rows.end(), is_backward);
  const bool all_same = std::all_of(rows.begin(), rows.end(),
                                    [](const ComparedRow* row) { return same_within_noise(*row); });
  const std::string plural = kernels ? " kernels" : " layers", one = kernels ? " kernel" : " layer";
  const auto count = [&](std::size_t n) { return std::to_string(n) + (n == 1 ? one : plural); };
  std::string rest;
  if (options.order == DiffOrder::change) {
    if (all_same)
      return out + "No" + one + " differs beyond the noise. With `--sort time` they are listed.\n";
    const std::size_t same =
        std::erase_if(rows, [](const ComparedRow* row) { return same_within_noise(*row); });
    if (same > 0) rest += "Left out: " + count(same) + " without a difference beyond the noise.";
  }
  if (rows.size() > options.rows) {
    rest += (rest.empty() ? "Left out: " : " Also: ") + count(rows.size() - options.rows) +
            " after the first " + std::to_string(options.rows) + " (`--top`).";
    rows.resize(options.rows);
  }
  const std::vector<Column> columns = columns_of(rows, kernels, directions);
  std::string head = "|", rule = "|";
  for (const Column& column : columns) {
    head += " " + column.head + " |";
    rule += column.left ? "---|" : "--:|";
  }
  out += head + "\n" + rule + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += "|";
    for (const Column& column : columns) out += " " + markdown_cell(column.cells[i]) + " |";
    out += "\n";
  }
  if (!rest.empty()) out += "\n" + rest + "\n";
  return out + "\n`~` is within the noise, `-` is unknown.\n";
}

std::string diff_json(const ReportFiles& files, const Comparison& comparison) {
  Json out;
  out["gable"] = {{"schema", kReportSchema}, {"version", GABLE_VERSION}, {"kind", "diff"}};
  const auto side = [&](std::size_t i) {
    const RunInfo& run = files.reports[i].run;
    return Json{
        {"file", files.paths[i]}, {"source", word_of(run.source)}, {"unit", word_of(run.unit)}};
  };
  out["a"] = side(0);
  out["b"] = side(1);
  out["obstacles"] = comparison.obstacles;
  out["remarks"] = comparison.remarks;
  out["throttled"] = comparison.throttled;
  out["other_work"] = comparison.other_work.empty() ? Json(nullptr) : Json(comparison.other_work);
  const ComparedStep& step = comparison.step;
  for (const bool host : {false, true}) {
    Json& times = out[host ? "step_host_ns" : "step_wall_ns"];
    const bool known = host == step.on_host;
    times = pair(known ? step.wall_ns : Compared{});
    times["noise"] = number(known ? step.noise_ns : std::nullopt);
  }
  out["step_idle_ns"] = pair(step.idle_ns);
  out["step_exposed_communication_ns"] = pair(step.exposed_ns);
  out["advice"] = Json::array();
  for (const AdviceScore& score : score_advice(files.reports[0], comparison)) {
    out["advice"].push_back({{"id", score.id},
                             {"predicted_ns", score.predicted_ns},
                             {"measured_ns", score.measured_ns},
                             {"shorter_ns", score.shorter_ns},
                             {"shared_ns", score.shared_ns},
                             {"shared_with", score.others},
                             {"exceeds_promise", score.exceeds()},
                             {"remark", score.remark()},
                             {"not_followed", score.left}});
  }
  out["wholes"] = rows_json(comparison.wholes, false);
  out["layers"] = rows_json(comparison.layers, false);
  out["kernels"] = rows_json(comparison.kernels, true);
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> check_lines(const GateResult& result, const GateOptions& options) {
  std::vector<std::string> lines;
  if (result.uniform)
    lines.push_back(word_of_verdict(result.uniform->verdict) + ": " +
                    result.uniform->line(options.percent));
  std::size_t unknown = 0;
  for (const GateFinding& finding : result.findings) {
    if (finding.together) continue;
    if (finding.verdict == GateVerdict::unknown && ++unknown > kMostUnknown) continue;
    lines.push_back(word_of_verdict(finding.verdict) + ": " + finding.line(options.percent));
  }
  if (unknown > kMostUnknown)
    lines.push_back("unknown: " + std::to_string(unknown - kMostUnknown) +
                    " more numbers, known only in the baseline");
  return lines;
}

std::string check_summary(const GateResult& result, const GateOptions& options) {
  std::string text = std::to_string(result.compared) +
                     (result.compared == 1 ? " number" : " numbers") + " compared (" +
                     gates_of(options) + "), " + std::to_string(result.count(GateVerdict::worse)) +
                     " worse by more than " + gate_text(options.percent);
  if (const auto unclear = result.count(GateVerdict::unclear); unclear > 0)
    text += ", " + std::to_string(unclear) + " unclear";
  if (const auto unknown = result.count(GateVerdict::unknown); unknown > 0)
    text += ", " + std::to_string(unknown) + " unknown";
  if (result.small > 0)
    text += "; " + std::to_string(result.small) + " layers below 0.1 % of the time left out";
  return text + ".";
}

std::string shown_runs(const ReportFiles& files, std::size_t first, std::size_t end) {
  const std::vector<std::string> names = file_names(files);
  if (end - first == 1) return names[first];
  std::string text = "the mean of " + std::to_string(end - first) + " runs (";
  for (std::size_t i = first; i < end; ++i) text += (i > first ? ", " : "") + names[i];
  return text + ")";
}

std::string check_markdown(const ReportFiles& files, std::size_t baselines,
                           const Comparison& comparison, const GateResult& result,
                           const GateOptions& options) {
  std::string out = "### " + source_mark(files.reports) + "gable check: " + verdict_of(result) +
                    "\n\n" + markdown_cell(shown_runs(files, baselines, files.reports.size())) +
                    " against " + markdown_cell(shown_runs(files, 0, baselines)) + "\n";
  if (!result.obstacles.empty()) out += "\n";
  for (const std::string& text : result.obstacles) out += "- " + markdown_cell(text) + "\n";
  if (result.uniform)
    out += "\n" + word_of_verdict(result.uniform->verdict) + ": " +
           result.uniform->line(options.percent) + "\n";
  std::string rows;
  std::size_t unknown = 0;
  for (const GateFinding& finding : result.findings) {
    if (finding.together) continue;
    if (finding.verdict == GateVerdict::unknown && ++unknown > kMostUnknown) continue;
    rows += "| " + word_of_verdict(finding.verdict) + " | " + markdown_cell(finding.name) + " | " +
            to_string(finding.direction) + " | " + gated_name(finding.what) + " | " +
            shown_value(finding.values.a, finding.what) + " | " +
            shown_value(finding.values.b, finding.what) + " | " +
            (finding.whole_ns ? signed_percent(finding.worsening()) + " of the step"
                              : signed_percent(finding.values.change())) +
            " |\n";
  }
  if (!rows.empty())
    out +=
        "\n| | layer | direction | what | baseline | now | change |\n"
        "|---|---|---|---|--:|--:|--:|\n" +
        rows;
  if (result.obstacles.empty()) out += "\n" + check_summary(result, options) + "\n";
  for (const std::string& text : comparison.remarks) out += "\n" + markdown_cell(text) + "\n";
  return out;
}

}  // namespace gable
