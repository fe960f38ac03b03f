// SPDX-License-Identifier: Apache-2.0
#include "tools/show/table.h"

#include <algorithm>

#include "analysis/base/display.h"
#include "analysis/report/folded_notes.h"
#include "analysis/report/gpu_words.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/advice/advice.h"
#include "tools/merge/merge.h"
#include "tools/show/columns.h"
#include "tools/show/roof_lines.h"
#include "tools/show/slowest_rank.h"
#include "tools/show/sources.h"
#include "tools/show/step_lines.h"
#include "tools/show/table_columns.h"

namespace gable {
namespace {

constexpr const char* kHeading = "1";
constexpr const char* kMagenta = "35";
constexpr const char* kRed = "31";

std::string plural(std::uint64_t count, const std::string& one) {
  const char* many = one.ends_with("h") ? "es" : "s";
  return std::to_string(count) + " " + one + (count == 1 ? "" : many);
}

std::string origin(const std::vector<Report>& reports) {
  const std::string text = source_mark(reports);
  const bool complete = std::all_of(reports.begin(), reports.end(),
                                    [](const Report& each) { return each.run.complete; });
  return complete ? text : text + "[unfinished] ";
}

// The share of the time whose kernels have a part; where no time is known, that of the launches.
double known_share(const Report& report, Maybe Coverage::*part, auto has) {
  if (coverage_of(report, &Coverage::time) > 0) return coverage_of(report, part);
  double all = 0, known = 0;
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.counts_again()) continue;
    all += kernel.launches;
    if (has(kernel)) known += kernel.launches;
  }
  return all > 0 ? known / all : coverage_of(report, part);
}
double known_flops(const Report& report) {
  return known_share(report, &Coverage::flops,
                     [](const KernelRow& kernel) { return kernel.flops.total.has_value(); });
}
double known_bytes(const Report& report) {
  return known_share(report, &Coverage::bytes,
                     [](const KernelRow& kernel) { return kernel.bytes.dram.has_value(); });
}

std::string whole_program(const std::vector<Report>& reports) {
  PartialSum flops, bytes, time;
  double rate_flops = 0, rate_time = 0;
  bool rate_known = true, measured = true;
  for (const Report& report : reports) {
    const auto& total = report.run.total;
    flops.add(total.flops, known_flops(report));
    bytes.add(total.bytes_dram, known_bytes(report));
    time.add(total.gpu_time_ns, coverage_of(report, &Coverage::time));
    measured = measured && total.basis == Basis::measured;
    rate_known = rate_known && total.flops_per_s && total.gpu_time_ns;
    if (!rate_known) continue;
    rate_flops += *total.flops_per_s * *total.gpu_time_ns;
    rate_time += *total.gpu_time_ns;
  }
  const bool both =
      flops.value && bytes.value && !flops.partial && !bytes.partial && *bytes.value > 0;
  const Maybe intensity = both ? Maybe(*flops.value / *bytes.value) : std::nullopt;
  const Maybe rate = rate_known && rate_time > 0 ? Maybe(rate_flops / rate_time) : std::nullopt;
  const std::string unknown_flops = flops.value ? flops.text("FLOP") : "FLOP unknown";
  const std::string unknown_bytes = bytes.value ? bytes.text("B") + " DRAM" : "DRAM bytes unknown";
  const std::string time_text = time.value ? time.time_text() + " GPU" : "GPU time unknown";
  return unknown_flops + ", " + unknown_bytes + ", " + digits(intensity) + " FLOP/B, " + time_text +
         ", " + (rate ? with_prefix(rate, "FLOP/s") : "- FLOP/s") +
         (measured ? " (measured)" : " (extrapolated)");
}

std::string basis_line(const std::vector<Report>& reports) {
  std::string text;
  if (reports.size() > 1) text = std::to_string(reports.size()) + " processes; ";
  return text + reports.front().run.total.basis_note;
}

// On the playback GPU nothing costs what it costs on one.
std::string added_line(const RunInfo& run) {
  const auto& overhead = run.overhead;
  if (run.source != Source::cupti || !overhead.added_ns || !overhead.added_percent) return {};
  return "Measuring added at most " + duration(overhead.added_ns) + " (" +
         percent(*overhead.added_percent / 100) + " of the time up to its last window)";
}

// Where steps come from when nobody named them.
std::string found_steps(const std::vector<Report>& reports) {
  std::vector<std::int64_t> periods;
  for (const Report& report : reports) {
    const auto& period = report.run.steps.period;
    if (!period || report.run.unit != Unit::step) return {};
    if (std::find(periods.begin(), periods.end(), *period) == periods.end())
      periods.push_back(*period);
  }
  std::string text;
  for (const auto period : periods) text += (text.empty() ? "" : " or ") + std::to_string(period);
  return "steps: found by the launch sequence's period of " + text + " launches";
}

std::string rows_of(const TableRows& table) {
  if (table.layers == 0) return plural(table.rows.size(), table.kernels ? "kernel" : "layer");
  return plural(table.rows.size(), "row") + " for " + plural(table.layers, "layer");
}

std::string order_of(const TableRows& table) {
  switch (table.sort) {
    case SortBy::saving:
      return table.by_saving ? "largest saving first" : "longest first";
    case SortBy::time:
      return "longest first";
    case SortBy::fraction:
      return "furthest below the roof first";
    case SortBy::flops:
      return "most FLOP first";
    case SortBy::bytes:
      return "most DRAM bytes first";
    case SortBy::name:
      break;
  }
  return "by name";
}

std::string savings_of(const TableRows& table, bool per_step) {
  if (per_step && table.by_step) return "saving: how much shorter a step would be";
  return std::string("saving per ") + (per_step ? "step" : "run");
}

std::uint64_t overlapped(const std::vector<Report>& reports) {
  std::uint64_t count = 0;
  for (const Report& report : reports) count += report.flagged("overlapped");
  return count;
}

std::string lost_line(const std::vector<Report>& reports, bool analytic) {
  const LostCounts lost = lost_of(reports);
  double flops = 1, bytes = 1, time = 1;
  for (const Report& report : reports) {
    time = std::min(time, coverage_of(report, &Coverage::time));
    flops = std::min(flops, known_flops(report));
    bytes = std::min(bytes, known_bytes(report));
  }
  std::vector<std::string> parts;
  const auto count = [&](std::uint64_t number, const char* what) {
    if (number > 0) parts.push_back(plural(number, what));
  };
  count(lost.records, "record");
  count(lost.ranges, "counter range");
  count(lost.zero_timestamps, "zero timestamp");
  count(lost.windows, "window");
  count(lost.unattributed_launches, "unattributed launch");
  count(lost.folded_keys, "folded key");
  count(lost.folded_layers, "folded layer");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "Lost: " : ", ") + part;
  std::string gaps;
  const auto gap = [&](const std::string& what, double known, const char* of) {
    if (!(known < 1)) return;
    gaps += (gaps.empty() ? "" : ", ") +
            (known > 0 ? what + " of " + percent(1 - known) + " of the " + of : "all " + what);
  };
  const char* whole = time > 0 ? "time" : "launches";
  gap("times", time, "launches");
  gap("FLOPs", flops, whole);
  gap("bytes", bytes, whole);
  if (text.empty()) {
    // What was not counted may be known by formula.
    const char* what = analytic && !(time < 1) ? "Not counted: " : "Unknown: ";
    text = gaps.empty() ? "Nothing was lost" : what + gaps;
  } else if (!gaps.empty()) {
    text += "; unknown: " + gaps;
  }
  if (const auto layers = overlapped(reports); layers > 0)
    text += "; " + plural(layers, "layer") + " overlapped others, whose work may be in theirs";
  return text + ".";
}

// How long the program has to run where it ended before all windows came; none where it ran so
// long and its steps differed.
std::string steps_that_are_enough(const RunInfo& run) {
  const auto& steps = run.steps;
  if (steps.needed && static_cast<std::int64_t>(steps.seen) < *steps.needed) {
    return plural(static_cast<std::uint64_t>(*steps.needed), "step") +
           " of the same launches are enough";
  }
  return {};
}

// Where FLOPs, bytes or times are missing because the program ended before their windows came.
std::string what_to_do(const std::vector<Report>& reports) {
  for (const Report& report : reports) {
    const auto& run = report.run;
    const auto& steps = run.steps;
    const bool nothing = steps.hw + steps.flops + steps.time == 0;
    if (run.source == Source::imported || !run.ranks.empty()) continue;
    if (nothing ? !steps.needed : steps.hw == 0 || (steps.flops > 0 && steps.time > 0)) continue;
    const std::string longer =
        nothing ? "The program ended before anything was measured. Let it run longer"
                : "Not every phase had a window. Unless --phases left it out, let the program run "
                  "longer";
    const std::string enough = steps_that_are_enough(run);
    if (run.unit == Unit::step) {
      if (!enough.empty())
        return longer + ": " + enough + ", and it had " + std::to_string(steps.seen) + ".";
      return longer + ", by " + plural(steps.flops > 0 ? 1 : 3, "step") + " or more.";
    }
    return longer + ", or name the range that is one step of it (--step-range)" +
           (enough.empty() ? "." : ": " + enough + ".") + " --active 1 alone does not help.";
  }
  return {};
}

// The first of the notes, which tell what went wrong while the reports were collected, and how many
// more there are.
std::vector<std::string> note_lines(const std::vector<Report>& reports,
                                    const TableOptions& options) {
  const std::vector<FoldedNote> notes =
      options.printed_notes ? folded_notes(reports) : unprinted_notes(reports);
  const std::size_t shown = std::min(options.notes, notes.size());
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string note = "Note: " + one_line(notes[i].text(reports.size()));
    for (std::string& part : word_lines(note, options.columns)) lines.push_back(std::move(part));
  }
  if (shown < notes.size()) {
    lines.push_back("And " + plural(notes.size() - shown, "more note") +
                    ": on the page, and in the report" + (reports.size() == 1 ? "." : "s."));
  }
  return lines;
}

}  // namespace

std::string render_notes(const std::vector<Report>& reports, const TableOptions& options) {
  std::string out;
  for (const std::string& line : note_lines(reports, options)) out += line + "\n";
  return out;
}

std::string render_table(const std::vector<Report>& reports, const TableOptions& options) {
  if (reports.empty()) return "No process launched a kernel.\n";
  const TableRows table = table_rows(reports, options.query);
  const std::size_t count = std::min(options.rows, table.rows.size());
  std::string out;
  const auto line = [&](const std::string& text, const char* colour = nullptr) {
    out +=
        coloured(shorten_end(one_line(text), options.columns), options.colours ? colour : nullptr) +
        "\n";
  };
  const auto lines = [&](const std::string& text, const char* colour = nullptr) {
    for (const std::string& part : word_lines(text, options.columns)) line(part, colour);
  };
  const std::string from = origin(reports);
  const char* first = from.empty() ? kHeading : kMagenta;
  const std::string what = programs_and_gpus(reports, options.columns - from.size());
  if (!what.empty()) {
    line(from + what, first);
    line(whole_program(reports));
  } else {
    line(from + whole_program(reports), first);
  }
  line(basis_line(reports));
  if (const std::size_t copies = equal_reports(reports); copies > 0)
    lines(copies + 1 == reports.size()
              ? "All " + std::to_string(reports.size()) +
                    " reports are equal: each number is the same, and sums count it again."
              : plural(copies, "report") + (copies == 1 ? " equals" : " equal") +
                    " another: sums count them again.",
          kRed);
  if (const auto steps = found_steps(reports); !steps.empty()) line(steps);
  if (const std::string ranks = ranks_line(reports); !ranks.empty()) lines(ranks);
  if (reports.size() == 1) {
    for (const std::string& text : step_lines(reports.front())) lines(text);
    if (const auto added = added_line(reports.front().run); !added.empty()) line(added);
  }

  for (const Report& report : reports)
    for (const std::string& text : gpu_lines(report))
      line((reports.size() > 1 ? std::to_string(report.run.pid) + ": " : "") + text, kRed);

  lines(roofs_line(reports));

  const bool per_step = std::all_of(reports.begin(), reports.end(),
                                    [](const Report& each) { return each.run.unit == Unit::step; });
  line("");
  std::vector<Column> columns = table_columns(table, count, reports.size() > 1, per_step);
  // Columns that say nothing make room for names.
  const std::string unknown =
      width_of(columns) > options.columns ? drop_unknown(columns) : std::string();
  lines(std::to_string(count) + " of " + rows_of(table) + ", " + order_of(table) +
        (unknown.ends_with("saving") ? "" : "; " + savings_of(table, per_step)) + ":");
  const auto& heads = kMetricHeads;
  std::string wide = drop_columns(columns,
                                  {heads[3], heads[5], heads[4], heads[6], heads[2], heads[1],
                                   heads[0], "written at", "GB/s", "FLOP/B", "work"},
                                  options.columns);
  // Names rather get short than that a rate goes; but no line is cut for it.
  constexpr std::size_t kShorterNames = 8;
  const std::string rate = drop_columns(columns, {"TFLOP/s"}, options.columns + kShorterNames);
  if (!rate.empty()) wide += (wide.empty() ? "" : ", ") + rate;
  out += render_columns(std::move(columns), count, options.columns, options.colours);
  if (!wide.empty()) {
    const std::string left = "Columns left out (terminal too narrow): " + wide +
                             ". Wider: COLUMNS=140, --csv -, --html FILE.";
    for (const std::string& part : word_lines(left, options.columns)) line(part);
  }
  if (!unknown.empty()) lines("Unknown in all of these rows: " + unknown + ".");
  if (std::any_of(table.rows.begin(), table.rows.begin() + static_cast<std::ptrdiff_t>(count),
                  [](const TableRow& row) { return row.count > 1; }))
    lines("x2 …: so many equal layers in one row; gable report --each lists them.");
  line("");
  const bool inferred = std::any_of(table.rows.begin(), table.rows.end(),
                                    [](const TableRow& row) { return row.tensor_inferred; });
  const std::string lost = lost_line(reports, table.analytic);
  for (const std::string& part : word_lines(lost, options.columns))
    line(part, lost.starts_with("Lost") ? kRed : nullptr);
  if (const auto remedy = what_to_do(reports); !remedy.empty()) {
    for (const std::string& part : word_lines(remedy, options.columns)) line(part);
  }
  if (table.analytic) {
    lines(
        "analytic: nothing was counted; FLOPs of matrix products, convolutions and attention by "
        "formula, bytes of operators' tensors, over measured time.");
  }
  if (inferred)
    lines("tensor?: work on tensor cores, by a kernel's name or instructions; it was not counted.");
  const auto slowest = slowest_rank(reports);  // helping another rank makes no step shorter
  if (reports.size() == 1 || slowest) {
    const Report& report = reports[slowest ? slowest->place : 0];
    const std::string whom = slowest ? " rank " + std::to_string(*report.run.rank) : "";
    std::size_t shown = 0;
    for (const Advice& each : advise(report)) {
      if (++shown > options.advice) break;
      if (shown == 1)
        line("What would help" + whom + " most (one item's saving may be part of another's):",
             kHeading);
      const std::string item =
          (each.saving_ns ? "up to " + duration(each.saving_ns) + ": " : std::string()) +
          each.trigger;
      const char* before = "- ";
      for (const std::string& part : word_lines(item, options.columns - 2)) {
        line(before + part);
        before = "  ";
      }
      for (const std::string& part : word_lines(each.text(), options.columns - 2))
        line("  " + part);
    }
  }
  for (const std::string& part : note_lines(reports, options)) line(part);
  if (!options.next_command.empty())
    out += "Next: " + one_line(options.next_command) + "\n";  // cut off it would not run
  return out;
}

}  // namespace gable
