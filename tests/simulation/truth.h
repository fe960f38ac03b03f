// SPDX-License-Identifier: Apache-2.0
// What the launches of kept windows did, and whether a report says so.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>

#include "analysis/profile/spread.h"
#include "analysis/report/report.h"
#include "tests/simulation/play.h"
#include "tests/simulation/program.h"

namespace gable::simulation {

class Truth {
 public:
  // A step of that launch sequence was seen, measured or not.
  void step(std::uint64_t sequence) { ++steps_[sequence]; }
  // The launches of one kept window that measures. FLOPs of kernels that were new in it are not
  // believed, and not expected.
  void add(const Program& program, PhaseKind kind, std::uint64_t sequence,
           const std::vector<Launch>& launches);
  // A window that was taken for a step of a program that named none.
  void add_step(const Program& program, const std::vector<Launch>& launches);
  // Adds what was no step.
  void compare_borders(const Program& program, Played& played) const;
  // Adds rows, flags and wrong joins to `played`.
  void compare(const Report& report, Played& played) const;

 private:
  // Of the windows of one kind.
  struct Work {
    double flops = 0, sectors = 0, ns = 0, launches = 0;
    Spread spread;                       // of what the kind counts, one launch on average
    double open = 0, open_launches = 0;  // of the window that is being added
  };
  struct Sums {
    std::array<Work, 3> by_kind;
    double flops = 0, sectors = 0, ns = 0, launches = 0;  // of all windows
    double hw_bytes = 0;                                  // factors of bytes alone, in hw windows
    // Launches seen in windows of each kind, by launch sequence.
    std::array<std::map<std::uint64_t, double>, 3> seen;
  };
  static void say_wrong(const KernelRow& row, const char* what, double is, double expected,
                        Played& played);
  // Are the row's counters those of the launches in its windows?
  static void compare_counts(const KernelRow& row, const Sums& sums, Played& played);
  // Do the parts of the row belong together?
  static void compare_parts(const KernelRow& row, const Sums& sums, Played& played);
  // Launches of one step: sequences count by their steps, not by their windows.
  [[nodiscard]] double per_step(const Sums& sums, std::size_t kind) const;
  using Id = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Id, Sums> sums_;
  std::array<std::map<std::uint64_t, double>, 3> windows_;  // kept, by launch sequence
  std::map<std::uint64_t, double> steps_;
  std::uint64_t no_steps_ = 0, all_steps_ = 0;
};

}  // namespace gable::simulation
