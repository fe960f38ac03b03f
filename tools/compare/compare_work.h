// SPDX-License-Identifier: Apache-2.0
// Whether two reports are of the same amount of work: without it, times cannot be compared.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace gable {

// Two reports whose work differs by no more did the same amount: counting, and algorithms chosen at
// run time, differ by that much.
inline constexpr double kSameWork = 0.02;

// Of the whole run, per unit.
struct WorkDone {
  Maybe flops;     // counted, of all GPUs; empty where a part was not counted
  Maybe analytic;  // of operators, by formula
  Maybe launches;
};
[[nodiscard]] WorkDone work_done(const Report& report);

// Empty where both did the same amount, by the operators' formulas first. Else what differs,
// without a full stop, of the first of these that both know: counted FLOPs, FLOPs by formula,
// launches.
[[nodiscard]] std::string other_work(const WorkDone& a, const WorkDone& b,
                                     const std::string& name_a, const std::string& name_b,
                                     Unit unit);

}  // namespace gable
