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
  renamed,  // a layer of another path with the same kernels
  reshaped,  // a kernel of the same layer and name with another grid, block or shared memory
  added,     // in B alone
  gone       // in A alone
};
[[nodiscard]] std::string match_name(Match match);

// Of layers and kernels alike: sums per unit of the reports (RunInfo::unit). A sum of which a part
// is unknown is unknown.
struct ComparedRow {
  Match match = Match::same;
  std::string name;    // the layer's shown path or the kernel's name: B's, or A's where it is gone
  std::string before;  // A's, where it is another: a renamed layer's path, a kernel's old shape
  std::string layer;   // of a kernel: the shown path
  Direction direction = Direction::none;
  std::int32_t device = 0;
  const LayerRow* layer_row = nullptr;  // of the report that `name` is of; null where it has none
  bool counts_again = false;            // its time is that of other rows
  Compared time_ns, flops, dram, fraction, saving_ns, launches;
  Maybe share;  // of A's time, of B's where it is new; empty where a part of that is unknown
  // Half the interval that holds 95 % of the differences between equal runs: 2 sqrt(a^2 + b^2) of
  // the standard errors of both means. Those of a layer are the sums of its kernels', as clocks
  // move all of them together. It is taken from the spread within each run; what differs from run
  // to run is not in it. Empty where a kernel was timed less than twice.
  Maybe noise_ns;
  // Of several runs of one side: the largest number less the smallest, of the side where that is
  // larger. Empty where each side has one run.
  struct {
    Maybe time_ns, flops, dram, fraction;
  } range;
  // Time of one launch, the mean of all kernels of the row; empty where it is not launched.
  [[nodiscard]] Compared per_launch_ns() const;
  // It is launched more or less often, by more than windows differ.
  [[nodiscard]] bool launches_differ() const;
  // The difference of times of a launch is larger than the noise, at as many launches as B has.
  [[nodiscard]] bool launch_beyond_noise() const;
  // The difference of times is larger than the noise and the range, or neither is known.
  [[nodiscard]] bool beyond_noise() const;
};

struct Comparison {
  // Sentences: why no conclusion may be drawn from A's and B's numbers. Empty when all is well.
  std::vector<std::string> obstacles;
  std::vector<std::string> remarks;  // what a reader should know beside
  // Who was throttled and by what, without a full stop: their times are not those of the program
  // alone. Empty where nobody was.
  std::vector<std::string> throttled;
  // The mean SM clocks of all GPUs are known of both and agree to 2 %: what held them down did so
  // on both sides alike.
  bool clocks_agree = false;
  // How much work each did, where that differs, without a full stop; empty where it does not.
  std::string other_work;
  ComparedStep step;
  std::vector<ComparedRow> wholes;  // a row for each device
  std::vector<ComparedRow> trees;   // layers with those below them
  std::vector<ComparedRow> layers;  // layers by what they do themselves: no work is in two of them
  std::vector<ComparedRow> kernels;
};

// What sentences call the two.
struct SideNames {
  std::string a = "A", b = "B";
};

// Of these rows and the whole: nothing is new, gone or otherwise launched, no work differs, and
// times differ within the noise at most.
[[nodiscard]] bool no_difference(const Comparison& comparison,
                                 const std::vector<const ComparedRow*>& rows);

// The reports must outlive the result. Rows stand in B's order, then those that are gone.
[[nodiscard]] Comparison compare(const Report& a, const Report& b, const SideNames& names = {});

}  // namespace gable
