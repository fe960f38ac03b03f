// SPDX-License-Identifier: Apache-2.0
// Whether two reports did the same amount of work, without which times cannot be compared.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace gable {

// Largest relative difference of equal work: counting, and algorithms chosen at run time, differ
// that much.
inline constexpr double kSameWork = 0.02;

// The work of the whole run, per unit.
struct WorkDone {
  Maybe flops;     // counted on all GPUs; empty if a part was not counted
  Maybe analytic;  // operators' FLOPs by formula
  Maybe launches;
};
[[nodiscard]] WorkDone work_done(const Report& report);

// Empty if both did the same amount, by the operators' formulas first. Else what differs, without a
// full stop, of the first of these that both know: counted FLOPs, FLOPs by formula, launches. Also
// empty if both know none of them.
[[nodiscard]] std::string other_work(const WorkDone& a, const WorkDone& b,
                                     const std::string& name_a, const std::string& name_b,
                                     Unit unit);

}  // namespace gable
