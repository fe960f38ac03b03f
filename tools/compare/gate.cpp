// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/gate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "tools/plot/row_query.h"

namespace gable {
namespace {

// 105 / 100 - 1 is a little more than 0.05: what is exactly at the gate is let pass.
constexpr double kRounding = 1e-12;

const Compared& values_of(const ComparedRow& row, Gated what) {
  switch (what) {
    case Gated::dram:
      return row.dram;
    case Gated::flops:
      return row.flops;
    case Gated::roof:
      return row.fraction;
    default:
      return row.time_ns;
  }
}

const Maybe& range_of(const ComparedRow& row, Gated what) {
  switch (what) {
    case Gated::dram:
      return row.range.dram;
    case Gated::flops:
      return row.range.flops;
    case Gated::roof:
      return row.range.fraction;
    default:
      return row.range.time_ns;
  }
}

bool is_of_rows(Gated what) {
  return what != Gated::step && what != Gated::idle && what != Gated::exposed &&
         what != Gated::coverage;
}

std::string remedy_of(Gated what) {
  return ": profile again so that both know it, or leave " + gated_name(what) + " out of --what.";
}

bool within_chance(const GateFinding& finding) {
  const Maybe chance = larger(finding.noise_ns, finding.range);
  return chance && std::abs(*finding.values.b - *finding.values.a) <= *chance;
}

class Gate {
 public:
  Gate(const Comparison& comparison, const GateOptions& options)
      : comparison_(comparison), options_(options) {}

  GateResult run() {
    out_.obstacles = comparison_.obstacles;
    const bool needs_work =
        std::any_of(options_.what.begin(), options_.what.end(), needs_equal_work);
    if (needs_work && !comparison_.other_work.empty())
      out_.obstacles.push_back(comparison_.other_work +
                               ": profile the same batch and inputs, make a new baseline, or use "
                               "--what flops,roof,coverage, which does not need equal work.");
    if (!comparison_.clocks_agree &&
        std::any_of(options_.what.begin(), options_.what.end(), needs_equal_clock)) {
      for (const std::string& text : comparison_.throttled)
        out_.obstacles.push_back(
            text +
            "; its times are not compared: profile again with a locked SM clock (nvidia-smi -lgc), "
            "or use --what dram,flops,coverage, which does not depend on time.");
    }
    if (!out_.obstacles.empty()) return std::move(out_);
    if (options_.layers.empty() || options_.asked) look_at_step();
    if (options_.layers.empty()) {
      for (const ComparedRow& row : comparison_.wholes) {
        look(row, "whole program");
        count_lost(row, "whole program", true);
      }
    } else {
      chosen_trees();
    }
    for (const ComparedRow& row : comparison_.layers) own_work(row);
    look_at_coverage();
    for (const Gated what : options_.what) {
      if (known_.contains(what) || what == Gated::coverage) continue;
      if (is_of_rows(what)) {
        out_.obstacles.push_back("No layer's " + gated_name(what) + " is known in both reports" +
                                 remedy_of(what));
      } else if (options_.asked) {
        out_.obstacles.push_back("The " + gated_name(what) +
                                 " time is unknown in one report or both" + remedy_of(what));
      }
    }
    if (!out_.obstacles.empty()) out_.findings.clear();
    std::stable_sort(
        out_.findings.begin(), out_.findings.end(), [](const GateFinding& a, const GateFinding& b) {
          return std::tuple(a.verdict, -a.worsening()) < std::tuple(b.verdict, -b.worsening());
        });
    find_uniform();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool asks(Gated what) const {
    return std::find(options_.what.begin(), options_.what.end(), what) != options_.what.end();
  }

  void look_at_step() {
    const ComparedStep& step = comparison_.step;
    if (asks(Gated::step))
      judge({.what = Gated::step,
             .name = step.on_host ? "whole program, on the host" : "whole program",
             .values = step.wall_ns,
             .noise_ns = step.noise_ns,
             .range = step.wall_range});
    if (asks(Gated::idle) && step.wall_ns.a.value_or(0) > 0)
      judge({.what = Gated::idle,
             .name = "whole program",
             .values = step.idle_ns,
             .noise_ns = step.noise_ns,
             .range = step.idle_range,
             .whole_ns = step.wall_ns.a});
    // Whether a graph explains enough differs from run to run: unknown counts where one asked.
    const bool known = step.exposed_ns.a && step.exposed_ns.b;
    if (asks(Gated::exposed) && step.wall_ns.a.value_or(0) > 0 && (known || options_.asked))
      judge({.what = Gated::exposed,
             .name = "whole program",
             .values = step.exposed_ns,
             .noise_ns = step.noise_ns,
             .range = step.exposed_range,
             .whole_ns = step.wall_ns.a});
    count_lost(step.gpu_ns, "step", "whole program", true);
    count_lost(step.idle_ns, "idle", "whole program", true);
  }

  // Whatever is asked for: a run that lost its counters may still know all its times.
  void count_lost(const Compared& values, const char* what, const std::string& name, bool whole) {
    if (!values.a) return;
    ++numbers_;
    if (values.b) return;
    ++lost_[what];
    ++all_lost_;
    whole_lost_ = whole_lost_ || whole;
    if (first_lost_.empty()) first_lost_ = name;
  }

  void count_lost(const ComparedRow& row, const std::string& name, bool whole) {
    if (row.match == Match::added || row.match == Match::gone) return;
    if (!row.counts_again) count_lost(row.time_ns, "time", name, whole);
    count_lost(row.flops, "flops", name, whole);
    count_lost(row.dram, "dram", name, whole);
  }

  // A number of the whole program is unknown where more than a twentieth of it is.
  void look_at_coverage() {
    if (!asks(Gated::coverage) || all_lost_ == 0) return;
    const double known = static_cast<double>(numbers_);
    GateFinding finding{.what = Gated::coverage,
                        .name = "whole program",
                        .values = {known, known - static_cast<double>(all_lost_)}};
    if (!whole_lost_ && finding.worsening() <= options_.percent / 100 + kRounding) return;
    for (const auto& [what, count] : lost_)
      finding.more += (finding.more.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    finding.more += "; the first is of " + first_lost_;
    out_.findings.push_back(std::move(finding));
  }

  // Layers that a pattern names are looked at with what is below them.
  void chosen_trees() {
    for (const ComparedRow& row : comparison_.trees) {
      if (row.layer_row == nullptr) continue;
      const auto named = [&](const Pattern& pattern) {
        return pattern.matches(row.name) || pattern.matches(row.layer_row->dotted) ||
               (!row.layer_row->path.empty() && pattern.matches(row.layer_row->path.back()));
      };
      if (!std::any_of(options_.layers.begin(), options_.layers.end(), named)) continue;
      look(row, row.name);
      count_lost(row, row.name, true);
      trees_.insert(row.layer_row);
    }
  }

  void own_work(const ComparedRow& row) {
    if (row.match == Match::added || row.match == Match::gone) return;
    if (options_.layers.empty()) {
      if (!row.counts_again && row.share.value_or(1) < kLeastCheckedShare) {
        ++out_.small;
        return;
      }
    } else {
      const bool within =
          row.layer_row != nullptr && layer_matches(options_.layers, *row.layer_row);
      if (!within || trees_.contains(row.layer_row)) return;
    }
    look(row, row.name);
    count_lost(row, row.name, false);
  }

  void look(const ComparedRow& row, const std::string& name) {
    for (const Gated what : options_.what) {
      if (!is_of_rows(what) || (what == Gated::time && row.counts_again)) continue;
      GateFinding finding{.what = what,
                          .name = name,
                          .direction = row.direction,
                          .device = row.device,
                          .values = values_of(row, what),
                          .range = range_of(row, what)};
      if (what == Gated::time) finding.noise_ns = row.noise_ns;
      judge(std::move(finding));
    }
  }

  void judge(GateFinding finding) {
    if (!finding.values.a) return;
    if (!finding.values.b) {
      finding.verdict = GateVerdict::unknown;
      out_.findings.push_back(std::move(finding));
      return;
    }
    ++out_.compared;
    known_.insert(finding.what);
    if (is_time(finding) && *finding.values.a > 0)
      ratios_.push_back(*finding.values.b / *finding.values.a);
    // From nothing to something is more than any share.
    const bool from_nothing = *finding.values.a == 0 && *finding.values.b > 0 &&
                              finding.what != Gated::roof && !finding.whole_ns;
    if (!from_nothing && finding.worsening() <= options_.percent / 100 + kRounding) return;
    if (within_chance(finding)) finding.verdict = GateVerdict::unclear;
    out_.findings.push_back(std::move(finding));
  }

  static bool is_time(const GateFinding& finding) {
    return finding.what == Gated::time || finding.what == Gated::step;
  }

  // A slower clock or another driver makes all times longer by about the same: what does not follow
  // would be lost among hundreds of lines.
  void find_uniform() {
    constexpr std::size_t kFewest = 5;
    constexpr double kBand = 0.05, kNearlyAll = 0.9;  // around the median; of the times
    if (!out_.obstacles.empty() || ratios_.size() < kFewest) return;
    std::sort(ratios_.begin(), ratios_.end());
    const double median = ratios_[ratios_.size() / 2];
    if (median - 1 <= options_.percent / 100 + kRounding) return;
    const auto within = [&](double ratio) {
      return ratio >= median * (1 - kBand) && ratio <= median * (1 + kBand);
    };
    GateUniform all{GateVerdict::unclear, 0, ratios_.size(), median, median};
    for (const double ratio : ratios_) {
      if (!within(ratio)) continue;
      ++all.numbers;
      all.least = std::min(all.least, ratio);
      all.most = std::max(all.most, ratio);
    }
    if (static_cast<double>(all.numbers) < kNearlyAll * static_cast<double>(all.of)) return;
    for (GateFinding& finding : out_.findings) {
      if (!is_time(finding) || finding.verdict == GateVerdict::unknown ||
          !within(1 + finding.worsening()))
        continue;
      finding.together = true;
      if (finding.verdict == GateVerdict::worse) all.verdict = GateVerdict::worse;
    }
    out_.uniform = all;
  }

  const Comparison& comparison_;
  const GateOptions& options_;
  GateResult out_;
  std::set<Gated> known_;
  std::set<const LayerRow*> trees_;
  std::vector<double> ratios_;  // of times that were compared
  std::size_t numbers_ = 0, all_lost_ = 0;
  bool whole_lost_ = false;
  std::map<std::string, std::size_t> lost_;
  std::string first_lost_;
};

std::string factor(double value) { return decimals(value, 2); }

}  // namespace

std::string gated_name(Gated what) {
  switch (what) {
    case Gated::step:
      return "step";
    case Gated::idle:
      return "idle";
    case Gated::exposed:
      return "exposed";
    case Gated::dram:
      return "dram";
    case Gated::flops:
      return "flops";
    case Gated::roof:
      return "roof";
    case Gated::coverage:
      return "coverage";
    case Gated::time:
      break;
  }
  return "time";
}

bool needs_equal_work(Gated what) {
  return what == Gated::step || what == Gated::idle || what == Gated::exposed ||
         what == Gated::time || what == Gated::dram;
}

bool needs_equal_clock(Gated what) {
  return what != Gated::dram && what != Gated::flops && what != Gated::coverage;
}

std::string shown_value(const Maybe& value, Gated what) {
  switch (what) {
    case Gated::dram:
      return with_prefix(value, "B");
    case Gated::flops:
      return with_prefix(value, "FLOP");
    case Gated::roof:
      return percent(value);
    case Gated::coverage:
      return value ? std::to_string(std::llround(*value)) : digits(value);
    default:
      return duration(value);
  }
}

std::string gate_text(double percent_allowed) { return significant(percent_allowed, 6) + " %"; }

double GateFinding::worsening() const {
  if (values.a && values.b && whole_ns.value_or(0) > 0) return (*values.b - *values.a) / *whole_ns;
  const double change = values.change().value_or(0);
  return what == Gated::roof || what == Gated::coverage ? -change : change;
}

std::string GateFinding::line(double percent_allowed) const {
  std::string text = name;
  if (direction != Direction::none) text += " (" + to_string(direction) + ")";
  text += ": " + gated_name(what) + (what == Gated::exposed ? " communication " : " ") +
          shown_value(values.a, what) + " -> " + shown_value(values.b, what);
  if (what == Gated::coverage)
    return text + " numbers, " + signed_percent(values.change()) + " (gate " +
           gate_text(percent_allowed) + "); no longer known: " + more;
  if (verdict == GateVerdict::unknown) return text + ": known only in the baseline";
  if (whole_ns) {
    text += ", " + signed_percent(worsening()) + " of the step";
  } else if (const Maybe change = values.change()) {
    text += ", " + signed_percent(change);
  }
  text += " (gate " + gate_text(percent_allowed);
  if (what == Gated::time || what == Gated::step)
    text += noise_ns ? ", noise " + duration(noise_ns) : std::string(", noise unknown");
  if (range)
    text += ", runs of one side differ by " +
            (what == Gated::roof ? percent(range) : shown_value(range, what));
  return text + ")";
}

std::string GateUniform::line(double percent_allowed) const {
  const std::string low = factor(least), high = factor(most);
  return std::string(numbers == of ? "everything" : "nearly everything") + " takes " + low +
         (low == high ? "" : " to " + high) + " times as long: " + std::to_string(numbers) +
         (numbers == of ? "" : " of " + std::to_string(of)) + " numbers (gate " +
         gate_text(percent_allowed) + ")";
}

std::size_t GateResult::count(GateVerdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [verdict](const GateFinding& each) { return each.verdict == verdict; }));
}

GateResult gate(const Comparison& comparison, const GateOptions& options) {
  return Gate(comparison, options).run();
}

}  // namespace gable
