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
// Halves with half the work: it says something only where both did the same amount.
[[nodiscard]] bool needs_equal_work(Gated what);
// A time, or made of times: it says something only where no GPU was throttled.
[[nodiscard]] bool needs_equal_clock(Gated what);
// With its unit, for people.
[[nodiscard]] std::string shown_value(const Maybe& value, Gated what);

[[nodiscard]] std::string gate_text(double percent);  // "5 %"

struct GateOptions {
  double percent = 5;  // the relative change that is let pass
  std::vector<Gated> what = {Gated::step, Gated::idle, Gated::exposed, Gated::time,
                             Gated::coverage};
  // Someone asked for these: a step or idle time that no report knows is then an obstacle, and is
  // looked at beside named layers too.
  bool asked = false;
  // Layers that one of these matches, and those within them; none: the whole program, and every
  // layer that has at least kLeastCheckedShare of the baseline's time.
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
  Compared values;        // ns, byte, FLOP, fraction, or how many numbers are known
  Maybe noise_ns = {};    // of times
  Maybe range = {};       // of the runs of a side, as ComparedRow::range
  Maybe whole_ns = {};    // of idle and exposed time: the baseline's step, of which it is a share
  std::string more = {};  // of coverage: what got lost
  bool together = false;  // said by GateResult::uniform
  // How much worse, as a share of the baseline.
  [[nodiscard]] double worsening() const;
  // One line: name, what, both values, the change and the gate.
  [[nodiscard]] std::string line(double percent) const;
};

// Times that grew by about the same factor are one finding.
struct GateUniform {
  GateVerdict verdict = GateVerdict::worse;
  std::size_t numbers = 0, of = 0;  // that did, and times that were compared
  double least = 1, most = 1;       // times as long
  [[nodiscard]] std::string line(double percent) const;
};

struct GateResult {
  std::vector<std::string> obstacles;  // why nothing can be decided; then there are no findings
  std::vector<GateFinding> findings;   // worse ones first, then by change
  std::optional<GateUniform> uniform;  // its findings are among them
  std::size_t compared = 0;            // pairs of numbers
  std::size_t small = 0;               // layers below kLeastCheckedShare, which were not looked at
  [[nodiscard]] std::size_t count(GateVerdict verdict) const;
};

// `a` is the baseline.
[[nodiscard]] GateResult gate(const Comparison& comparison, const GateOptions& options);

}  // namespace gable
