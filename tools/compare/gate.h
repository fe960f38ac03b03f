// SPDX-License-Identifier: Apache-2.0
// Whether a report is worse than its baseline: what `gable check` decides.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/pattern.h"
#include "tools/compare/compare.h"

namespace gable {

// What is compared with the baseline: the step's time, its idle time and the communication that
// nothing hides (each by a share of the step), GPU time, DRAM bytes and FLOPs must not grow, the
// fraction of the roof must not fall, and numbers that the baseline knows must not get lost.
enum class Gated { step, idle, exposed, time, dram, flops, roof, coverage };
[[nodiscard]] std::string gated_name(Gated what);
// Whether the value scales with the work, so that it needs equal work on both sides.
[[nodiscard]] bool needs_equal_work(Gated what);
// Whether the value depends on times, so that no GPU may have been throttled.
[[nodiscard]] bool needs_equal_clock(Gated what);
// The value with its unit, for people.
[[nodiscard]] std::string shown_value(const Maybe& value, Gated what);

[[nodiscard]] std::string gate_text(double percent);  // "5 %"

struct GateOptions {
  double percent = 5;  // allowed relative change
  std::vector<Gated> what = {Gated::step, Gated::idle, Gated::exposed, Gated::time,
                             Gated::coverage};
  // The user asked for these: an unknown step or idle time is then an obstacle, and both are also
  // checked if layers are named.
  bool asked = false;
  // Checks layers that one of these matches, and those within them; empty: the whole program, and
  // every layer with at least kLeastCheckedShare of the baseline's time.
  std::vector<Pattern> layers = {};
};

inline constexpr double kLeastCheckedShare = 0.001;

enum class GateVerdict {
  worse,    // beyond the gate and the noise
  unclear,  // beyond the gate, and within the noise or the range of the runs
  unknown   // the baseline knows the number and the report does not
};

struct GateFinding {
  GateVerdict verdict = GateVerdict::worse;
  Gated what = Gated::time;
  std::string name;  // "whole program", or the layer's shown path
  Direction direction = Direction::none;
  std::int32_t device = 0;
  Compared values;        // ns, bytes, FLOP, fraction, or number of known values
  Maybe noise_ns = {};    // noise of times
  Maybe range = {};       // range over a side's runs, as ComparedRow::range
  Maybe whole_ns = {};    // for idle and exposed time: the baseline's step, of which it is a share
  std::string more = {};  // for coverage: what got lost
  bool together = false;  // reported by GateResult::uniform
  // How much worse, as a share of the baseline.
  [[nodiscard]] double worsening() const;
  // The finding as one line: name, what, both values, the change and the gate.
  [[nodiscard]] std::string line(double percent) const;
};

// Times that grew by about the same factor, as one finding.
struct GateUniform {
  GateVerdict verdict = GateVerdict::worse;
  std::size_t numbers = 0, of = 0;  // times that grew so, and all times compared
  double least = 1, most = 1;       // factors by which they grew
  [[nodiscard]] std::string line(double percent) const;
};

struct GateResult {
  std::vector<std::string> obstacles;  // why nothing can be decided; findings are then empty
  std::vector<GateFinding> findings;   // worse ones first, then by change
  std::optional<GateUniform> uniform;  // its findings are among them
  std::size_t compared = 0;            // number of compared pairs of numbers
  std::size_t small = 0;               // layers below kLeastCheckedShare, not checked
  [[nodiscard]] std::size_t count(GateVerdict verdict) const;
};

// Checks a comparison whose side `a` is the baseline.
[[nodiscard]] GateResult gate(const Comparison& comparison, const GateOptions& options);

}  // namespace gable
