// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/gate.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <tuple>

#include "analysis/base/display.h"
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
    case Gated::time:
      break;
  }
  return row.time_ns;
}

// How much worse, as a share of the baseline.
double worsening(const GateFinding& finding) {
  const double change = finding.values.change().value_or(0);
  return finding.what == Gated::roof ? -change : change;
}

class Gate {
 public:
  Gate(const Comparison& comparison, const GateOptions& options)
      : comparison_(comparison), options_(options) {}

  GateResult run() {
    out_.obstacles = comparison_.obstacles;
    if (!out_.obstacles.empty()) return std::move(out_);
    if (options_.layers.empty()) {
      for (const ComparedRow& row : comparison_.wholes) look(row, "whole program");
    } else {
      chosen_trees();
    }
    for (const ComparedRow& row : comparison_.layers) own_work(row);
    for (const Gated what : options_.what) {
      if (known_.contains(what)) continue;
      out_.obstacles.push_back("No layer of both reports has a known " + gated_name(what) + ".");
    }
    if (!out_.obstacles.empty()) out_.findings.clear();
    std::stable_sort(
        out_.findings.begin(), out_.findings.end(), [](const GateFinding& a, const GateFinding& b) {
          return std::tuple(a.verdict, -worsening(a)) < std::tuple(b.verdict, -worsening(b));
        });
    return std::move(out_);
  }

 private:
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
      trees_.insert(row.layer_row);
    }
  }

  void own_work(const ComparedRow& row) {
    if (row.match == Match::added || row.match == Match::gone) return;
    if (options_.layers.empty()) {
      if (!row.counts_again && row.share.value_or(1) < kLeastShare) {
        ++out_.small;
        return;
      }
    } else {
      const bool within =
          row.layer_row != nullptr && layer_matches(options_.layers, *row.layer_row);
      if (!within || trees_.contains(row.layer_row)) return;
    }
    look(row, row.name);
  }

  void look(const ComparedRow& row, const std::string& name) {
    for (const Gated what : options_.what) {
      if (what == Gated::time && row.counts_again) continue;
      GateFinding finding{GateVerdict::worse,   what,        name, row.direction, row.device,
                          values_of(row, what), std::nullopt};
      if (!finding.values.a) continue;
      if (!finding.values.b) {
        finding.verdict = GateVerdict::unknown;
        out_.findings.push_back(std::move(finding));
        continue;
      }
      ++out_.compared;
      known_.insert(what);
      if (what == Gated::time) finding.noise_ns = row.noise_ns;
      // From nothing to something is more than any share.
      const bool from_nothing =
          *finding.values.a == 0 && *finding.values.b > 0 && what != Gated::roof;
      if (!from_nothing && worsening(finding) <= options_.percent / 100 + kRounding) continue;
      if (what == Gated::time && !row.beyond_noise()) finding.verdict = GateVerdict::unclear;
      out_.findings.push_back(std::move(finding));
    }
  }

  const Comparison& comparison_;
  const GateOptions& options_;
  GateResult out_;
  std::set<Gated> known_;
  std::set<const LayerRow*> trees_;
};

}  // namespace

std::string gated_name(Gated what) {
  switch (what) {
    case Gated::dram:
      return "dram";
    case Gated::flops:
      return "flops";
    case Gated::roof:
      return "roof";
    case Gated::time:
      break;
  }
  return "time";
}

std::string shown_value(const Maybe& value, Gated what) {
  switch (what) {
    case Gated::dram:
      return with_prefix(value, "B");
    case Gated::flops:
      return with_prefix(value, "FLOP");
    case Gated::roof:
      return percent(value);
    case Gated::time:
      break;
  }
  return duration(value);
}

std::string gate_text(double percent_allowed) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%g %%", percent_allowed);
  return text.data();
}

std::string GateFinding::line(double percent_allowed) const {
  std::string text = name;
  if (direction != Direction::none) text += " (" + to_string(direction) + ")";
  text += ": " + gated_name(what) + " " + shown_value(values.a, what) + " -> " +
          shown_value(values.b, what);
  if (const Maybe change = values.change()) text += ", " + signed_percent(change);
  if (verdict == GateVerdict::unknown) return text + ": known in the baseline alone";
  text += " (gate " + gate_text(percent_allowed);
  if (what == Gated::time)
    text += noise_ns ? ", noise " + duration(noise_ns) : std::string(", noise unknown");
  return text + ")";
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
