// SPDX-License-Identifier: Apache-2.0
#include "tools/export/export.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "analysis/base/display.h"
#include "analysis/base/units.h"
#include "analysis/events/layer_tree.h"
#include "analysis/roofline/partial_sum.h"
#include "analysis/roofline/set_metrics.h"
#include "tools/advice/advice.h"
#include "tools/plot/plot.h"
#include "tools/show/slowest_rank.h"
#include "tools/show/sources.h"
#include "tools/show/step_lines.h"
#include "tools/show/table_rows.h"

namespace gable {
namespace {

// A text that a spreadsheet would take for a formula gets an apostrophe.
std::string cell(const std::string& text) {
  std::string safe = text;
  if (!safe.empty() && std::string("=+-@\t\r").find(safe.front()) != std::string::npos)
    safe.insert(0, "'");
  if (safe.find_first_of(",\"\n\r") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string cell(const Maybe& value) {
  if (!value || !std::isfinite(*value)) return {};
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), *value).ptr;
  return {text.data(), end};
}

// "80x1x1"; nothing where it is not known.
std::string cell_of(const Dim3& dim) {
  if (dim.x == 0) return {};
  return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

class Line {
 public:
  explicit Line(bool head) : head_(head) {}
  template <typename Value>
  void add(const std::string& name, const Value& value) {
    text_ += (text_.empty() ? "" : ",") + (head_ ? name : cell(value));
  }
  [[nodiscard]] std::string text() const { return text_ + "\n"; }

 private:
  bool head_;
  std::string text_;
};

// All of them, whatever was collected: the columns of a file are always the same.
void add_metrics(const std::optional<SetMetrics>& row, Line& line) {
  static const SetMetrics kNone;
  const SetMetrics& metrics = row ? *row : kNone;
  for (const NamedMetric& each : kSetMetrics) line.add(each.name, metrics.*each.value);
  const auto add = [&](const std::string& mix, const std::vector<std::string>& kinds,
                       const std::map<std::string, Maybe>& shares) {
    for (const std::string& kind : kinds) {
      const auto found = shares.find(kind);
      line.add(mix + kind, found == shares.end() ? std::nullopt : found->second);
    }
  };
  add("mix_", mix_kinds(), metrics.mix);
  add("memory_mix_", memory_mix_kinds(), metrics.memory_mix);
}

std::string csv_line(const std::string& report, const std::string& source, const PlotRow& row,
                     bool head) {
  static const KernelRow kNoKernel;
  const KernelRow& kernel = row.kernel == nullptr ? kNoKernel : *row.kernel;
  const LayerRow& sum = row.sum;
  Line line(head);
  line.add("data", source);
  line.add("report", report);
  line.add("path", shown_path(row.layer == nullptr ? std::vector<std::string>() : row.layer->path));
  line.add("name", row.name);
  line.add("direction", to_string(row.direction));
  line.add("device", Maybe(sum.device));
  line.add("launches", sum.launches);
  line.add("time_ns", sum.time_total_ns);
  line.add("time_source", to_string(sum.time_source));
  line.add("share", row.share);
  line.add("flops", sum.flops.total);
  line.add("dram_bytes", sum.bytes.dram);
  line.add("l2_bytes", sum.bytes.l2);
  line.add("l1_bytes", sum.bytes.l1);
  line.add("flop_per_byte_dram", sum.intensity.dram);
  line.add("flop_per_byte_l2", sum.intensity.l2);
  line.add("flop_per_byte_l1", sum.intensity.l1);
  line.add("flop_per_s", sum.flops_per_s);
  line.add("dram_bytes_per_s", sum.bytes_per_s);
  line.add("roof_fraction", sum.roof.fraction);
  line.add("bound", to_string(sum.roof.bound));
  line.add("ceiling", sum.roof.ceiling);
  line.add("level", to_string(sum.roof.level));
  line.add("source", sum.roof.source);
  line.add("saving_ns", sum.saving_ns);
  line.add("path_ns", sum.path_ns);
  line.add("step_saving_low_ns", sum.step_saving ? Maybe(sum.step_saving->low_ns) : std::nullopt);
  line.add("step_saving_high_ns", sum.step_saving ? Maybe(sum.step_saving->high_ns) : std::nullopt);
  line.add("compute_time_ns", row.times ? Maybe(row.times->compute_ns) : std::nullopt);
  line.add("memory_time_ns", row.times ? Maybe(row.times->memory_ns) : std::nullopt);
  line.add("overhead_box_ns", row.box_ns);
  line.add("precision", row.precision);
  line.add("work", std::string(row.analytic ? "analytic" : "counted"));
  line.add("counts_again", std::string(row.counts_again ? "yes" : "no"));
  const auto dim = [&row](Dim3 KernelRow::*of) {
    return row.kernel == nullptr ? std::string() : cell_of(row.kernel->*of);
  };
  line.add("place", kernel.place);
  line.add("grid", dim(&KernelRow::grid));
  line.add("block", dim(&KernelRow::block));
  line.add("cluster", dim(&KernelRow::cluster));
  line.add("time_min_ns", kernel.time_min_ns);
  line.add("time_median_ns", kernel.time_median_ns);
  line.add("time_max_ns", kernel.time_max_ns);
  line.add("time_stddev_ns", kernel.time_stddev_ns);
  line.add("samples_time", kernel.samples_time > 0 ? Maybe(kernel.samples_time) : std::nullopt);
  line.add("registers", kernel.registers);
  line.add("shared_bytes", kernel.shared_bytes);
  line.add("blocks_per_sm", kernel.blocks_per_sm);
  line.add("waves", kernel.waves);
  const CollectiveRow exchange = kernel.collective.value_or(CollectiveRow{});
  line.add("collective", to_string(exchange.kind));
  line.add("ranks", exchange.ranks ? Maybe(static_cast<double>(*exchange.ranks)) : std::nullopt);
  line.add("message_bytes", exchange.bytes);
  line.add("bus_bytes_per_s", exchange.bus_bytes_per_s);
  line.add("wait_ns", exchange.wait_ns);
  line.add("transfer_ns", exchange.transfer_ns);
  line.add("others_wait_ns", exchange.others_wait_ns);
  line.add("link_fraction", exchange.roof.fraction);
  line.add("flags", joined(kernel.flags));
  // The share of the row that its sums are of.
  line.add("time_coverage", sum.coverage.time);
  line.add("flops_coverage", sum.coverage.flops);
  line.add("dram_coverage", sum.coverage.bytes);
  add_metrics(sum.metrics, line);
  return line.text();
}

Maybe in(const Maybe& value, double unit) { return value ? Maybe(*value / unit) : std::nullopt; }

std::string total_text(const Report& report) {
  const auto& total = report.run.total;
  PartialSum flops, bytes, time;
  flops.add(total.flops, coverage_of(report, &Coverage::flops));
  bytes.add(total.bytes_dram, coverage_of(report, &Coverage::bytes));
  time.add(total.gpu_time_ns, coverage_of(report, &Coverage::time));
  return flops.text("FLOP") + ", " + bytes.text("B") + " DRAM, " + time.time_text() + " GPU (" +
         to_string(total.basis) + ")";
}

// A sum of which a part is unknown says so.
std::string time_text(const LayerRow& row) {
  PartialSum time;
  time.add(row.time_total_ns, row.coverage.time.value_or(1));
  return time.time_text();
}

// `gpus`: rows of several stand beside each other.
std::string row_text(const TableRow& row, const RowQuery& query, bool gpus) {
  const AtLevel level = at_level(row.sum, query.level);
  const std::string count = row.count > 1 ? " x" + std::to_string(row.count) : std::string();
  const std::string gpu = gpus ? "GPU " + std::to_string(row.device) + ": " : std::string();
  std::string text =
      "| " + markdown_cell(gpu + row.name) + count + " | " + to_string(row.direction);
  for (const std::string& each :
       {percent(row.share), time_text(row.sum), digits(in(row.sum.flops_per_s, kTera)),
        digits(in(level.bytes_per_s, kGiga)), digits(level.intensity),
        to_string(row.sum.roof.bound), percent(row.sum.roof.fraction), saving_text(row.sum)}) {
    text += " | " + markdown_cell(each);
  }
  return text + (row.analytic          ? " | analytic |\n"
                 : row.sum.flops.total ? " | counted |\n"
                                       : " | - |\n");
}

// The answer before the rows: what a step is, and what would help most.
std::string answer_text(const Report& report) {
  constexpr std::size_t kMostAdvice = 3, kLongest = 400;
  const auto sentence = [](const std::string& text) {
    return markdown_text(shorten_middle(one_line(text), kLongest));
  };
  std::string out;
  const std::vector<std::string> lines = step_lines(report);
  if (!lines.empty()) out += sentence(lines.front()) + "\n\n";
  const std::vector<Advice> advice = advise(report);
  for (std::size_t i = 0; i < std::min(kMostAdvice, advice.size()); ++i) {
    const Advice& each = advice[i];
    out += "- " + (each.saving_ns ? "**up to " + duration(each.saving_ns) + "**: " : "") +
           sentence(each.trigger) + " " + sentence(each.action) + "\n";
  }
  return advice.empty() ? out : out + "\n";
}

}  // namespace

std::vector<PlotRow> exported_rows(const Report& report, const ExportOptions& options) {
  std::vector<PlotRow> rows = plot_rows(report, options.query);
  if (options.rows > 0 && rows.size() > options.rows) rows.resize(options.rows);
  return rows;
}

std::string markdown_cell(const std::string& text) {
  return markdown_text(shorten_middle(one_line(text), 120));
}

std::string saving_text(const LayerRow& row) {
  if (!row.step_saving) return duration(row.saving_ns);
  const std::string low = duration(row.step_saving->low_ns);
  const std::string high = duration(row.step_saving->high_ns);
  return low == high ? high : low + " to " + high;
}

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string("|\\`*_<>[]&").find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string export_csv(const std::vector<Report>& reports, const std::vector<std::string>& names,
                       const ExportOptions& options) {
  std::string out = csv_line({}, {}, PlotRow(), true);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const PlotRow& row : exported_rows(reports[i], options))
      out += csv_line(names[i], to_string(reports[i].run.source), row, false);
  }
  return out;
}

std::string export_markdown(const std::vector<Report>& reports,
                            const std::vector<std::string>& names, const ExportOptions& options) {
  constexpr std::size_t kLongestHead = 160;
  std::string out;
  if (const std::string ranks = ranks_line(reports); !ranks.empty())
    out += markdown_text(ranks) + "\n";
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    const std::string level =
        options.query.level == MemoryLevel::dram ? "" : " " + to_string(options.query.level);
    out += (out.empty() ? "**" : "\n**") + source_mark({report}) + markdown_cell(names[i]) +
           "**: " + markdown_text(programs_and_gpus({report}, kLongestHead)) + ", " +
           markdown_cell(total_text(report)) + "; times and savings per " +
           markdown_cell(to_string(report.run.unit)) + "\n\n" + answer_text(report);
    TableRows table = table_rows({report}, options.query);
    out += std::string(table.kernels ? "| kernel" : "| layer") + " | direction | share" +
           (time_of_shares({report}) == "time" ? "" : " of the known time") +
           " | time | TFLOP/s | GB/s" + level + " | FLOP/B" + level +
           " | bound | of roof | saving | work |\n|---|---|--:|--:|--:|--:|--:|---|--:|--:|---|\n";
    if (options.rows > 0 && table.rows.size() > options.rows) table.rows.resize(options.rows);
    for (const TableRow& row : table.rows)
      out += row_text(row, options.query, table.several_devices);
  }
  out += "\n`-` is unknown.\n";
  // In angle brackets a place may have spaces.
  if (!options.picture.empty()) out += "\n![Roofline chart](<" + options.picture + ">)\n";
  return out;
}

}  // namespace gable
