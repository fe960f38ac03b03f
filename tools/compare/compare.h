// SPDX-License-Identifier: Apache-2.0
// Two reports side by side: A, the earlier or the baseline, and B.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/compare/compare_step.h"
#include "tools/compare/compared.h"

namespace gable {

enum class Match {
  same,     // path, direction and device; of kernels also name, grid, block, cluster, shared memory
  renamed,  // a layer with another path and the same kernels
  reshaped,  // a kernel of the same layer and name with another grid, block or shared memory
  added,     // in B alone
  gone       // in A alone
};
[[nodiscard]] std::string match_name(Match match);

// A layer or a kernel: sums per unit of the reports (RunInfo::unit). A sum with an unknown part is
// unknown.
struct ComparedRow {
  Match match = Match::same;
  std::string name;    // the layer's shown path or the kernel's name: B's, or A's if gone
  std::string before;  // A's, if it differs: a renamed layer's path, a kernel's old shape
  std::string layer;   // a kernel's layer, by shown path
  Direction direction = Direction::none;
  std::int32_t device = 0;
  const LayerRow* layer_row = nullptr;  // in the report of `name`; null if it has none
  bool counts_again = false;            // its time is that of other rows
  Compared time_ns, flops, dram, fraction, saving_ns, launches;
  Maybe share;  // of A's time, or of B's if new; empty if partly unknown
  // Half the interval that holds 95 % of the differences between equal runs: 2 sqrt(a^2 + b^2) of
  // the standard errors of both means. Those of a layer are the sums of its kernels', as clocks
  // move all of them together. It comes from the spread within each run, without differences
  // between runs. Empty if a kernel was timed less than twice.
  Maybe noise_ns;
  // With several runs: the largest number minus the smallest, on the side where that is larger.
  // Empty if each side has one run.
  struct {
    Maybe time_ns, flops, dram, fraction;
  } range;
  // Mean time per launch over all kernels of the row; empty if it is not launched.
  [[nodiscard]] Compared per_launch_ns() const;
  // Whether the numbers of launches differ by more than windows do.
  [[nodiscard]] bool launches_differ() const;
  // Whether the difference of time per launch, times B's launches, exceeds the noise and the range,
  // or a part is unknown.
  [[nodiscard]] bool launch_beyond_noise() const;
  // Whether the difference of times exceeds the noise and the range, or neither of these is known.
  [[nodiscard]] bool beyond_noise() const;
};

struct Comparison {
  // Sentences on why A's and B's numbers cannot be compared; empty if they can.
  std::vector<std::string> obstacles;
  std::vector<std::string> remarks;  // further sentences for the reader
  // Which side's GPUs were throttled and by what, without a full stop: their times do not reflect
  // the program alone. Empty if none were.
  std::vector<std::string> throttled;
  // Whether the mean SM clocks of all GPUs are known on both sides and agree to 2 %, so both were
  // throttled alike.
  bool clocks_agree = false;
  // How the amounts of work differ, without a full stop; empty if they do not.
  std::string other_work;
  ComparedStep step;
  std::vector<ComparedRow> wholes;  // one row per device
  std::vector<ComparedRow> trees;   // layers with those below them
  std::vector<ComparedRow> layers;  // layers by their own work: no work is in two of them
  std::vector<ComparedRow> kernels;
};

// The names of the two sides in sentences.
struct SideNames {
  std::string a = "A", b = "B";
};

// Whether the row is neither new nor gone nor launched differently, has the same work, and its time
// differs at most by the noise.
[[nodiscard]] bool same_within_noise(const ComparedRow& row);
// Whether that holds for these rows and for the whole.
[[nodiscard]] bool no_difference(const Comparison& comparison,
                                 const std::vector<const ComparedRow*>& rows);

// Compares two reports, which must outlive the result. Rows are in B's order, then those that are
// gone.
[[nodiscard]] Comparison compare(const Report& a, const Report& b, const SideNames& names = {});

}  // namespace gable
