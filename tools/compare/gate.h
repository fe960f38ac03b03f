// SPDX-License-Identifier: Apache-2.0
// Whether a report is worse than its baseline: what `gable check` decides.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/base/pattern.h"
#include "tools/compare/compare.h"

namespace gable {

// What is held against the baseline: GPU time, DRAM bytes and FLOPs may not grow, the fraction of
// the roof may not fall.
enum class Gated { time, dram, flops, roof };
[[nodiscard]] std::string gated_name(Gated what);
// With its unit, for people.
[[nodiscard]] std::string shown_value(const Maybe& value, Gated what);

[[nodiscard]] std::string gate_text(double percent);  // "5 %"

struct GateOptions {
  double percent = 5;  // the relative change that is let pass
  std::vector<Gated> what = {Gated::time};
  // Layers that one of these matches, and those within them; none: the whole program, and every
  // layer that has at least kLeastShare of the baseline's time.
  std::vector<Pattern> layers;
};

inline constexpr double kLeastShare = 0.001;

enum class GateVerdict {
  worse,    // beyond the gate and the noise
  unclear,  // beyond the gate, and within the noise
  unknown   // the baseline knows the number and the report does not
};

struct GateFinding {
  GateVerdict verdict = GateVerdict::worse;
  Gated what = Gated::time;
  std::string name;  // "whole program", or the layer's shown path
  Direction direction = Direction::none;
  std::int32_t device = 0;
  Compared values;  // ns, byte, FLOP or fraction
  Maybe noise_ns;   // of times
  // One line: name, what, both values, the change and the gate.
  [[nodiscard]] std::string line(double percent) const;
};

struct GateResult {
  std::vector<std::string> obstacles;  // why nothing can be decided; then there are no findings
  std::vector<GateFinding> findings;   // worse ones first, then by change
  std::size_t compared = 0;            // pairs of numbers
  std::size_t small = 0;               // layers below kLeastShare, which were not looked at
  [[nodiscard]] std::size_t count(GateVerdict verdict) const;
};

// `a` is the baseline.
[[nodiscard]] GateResult gate(const Comparison& comparison, const GateOptions& options);

}  // namespace gable
