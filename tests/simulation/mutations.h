// SPDX-License-Identifier: Apache-2.0
// Each check that keeps a wrong join out of a report, and how to switch it off.
#pragma once

#include <vector>

#include "analysis/events/join_checks.h"

namespace gable::simulation {

struct Mutation {
  const char* name;
  bool JoinChecks::*check;
};

inline const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all = {
      {"a module was loaded in the window", &JoinChecks::modules},
      {"a kernel ran for the first time in it", &JoinChecks::new_functions},
      {"a stream was captured in it", &JoinChecks::captures},
      {"a change of phase took too long in it", &JoinChecks::stuck},
      {"CUPTI dropped ranges", &JoinChecks::dropped},
      {"a launch came back without counters", &JoinChecks::missing},
      {"a launch had no range of its own", &JoinChecks::unranged},
      {"thread blocks counted are those of the grid", &JoinChecks::thread_blocks},
      {"ranges are joined by name", &JoinChecks::names},
      {"no FLOPs where thread blocks never fitted", &JoinChecks::distrust},
      {"steps with other launches are collected apart", &JoinChecks::classes},
      {"a period is three equal stretches", &JoinChecks::period_segments},
      {"they are equal in their launches", &JoinChecks::period_content},
      {"the loop around an inner one is the step", &JoinChecks::period_outer},
      {"launches that do not fit end the steps", &JoinChecks::period_lost},
      {"windows of launches are not joined with steps", &JoinChecks::period_forgets},
      {"FLOPs agree between windows, or the row says so", &JoinChecks::flops_agree},
      {"bytes and durations agree, or the row says so", &JoinChecks::spread},
      {"durations with and without counters agree, or the row says so", &JoinChecks::times_agree},
      {"launches per window agree, or the row says so", &JoinChecks::launches_agree},
  };
  return all;
}

}  // namespace gable::simulation
