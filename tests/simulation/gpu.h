// SPDX-License-Identifier: Apache-2.0
// What counters and activity would say of a window's launches, and what troubles make of it.
#pragma once

#include <string>
#include <vector>

#include "analysis/events/events.h"
#include "collector/queue/range_join.h"
#include "tests/simulation/program.h"

namespace gable::simulation {

inline constexpr double kBytesOfSector = 32;

inline const std::vector<std::string>& hw_metrics() {
  static const std::vector<std::string> names = {"dram__sectors_read.sum",
                                                 "dram__sectors_write.sum",
                                                 "gpu__time_duration.sum", "sm__ctas_launched.sum"};
  return names;
}
inline const std::vector<std::string>& flops_metrics() {
  static const std::vector<std::string> names = {
      "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};
  return names;
}

// The launches of one window, with all that happened in it.
struct Content {
  std::vector<Launch> launches;
  std::uint32_t flaws = 0;  // of WindowFlaw
  bool dropped = false, missing = false, unranged = false, overlap = false;
};

// The counter window's content as CUPTI would hand it out, joined by the product's own code.
[[nodiscard]] CounterResult count(const Program& program, const Content& content, Phase phase,
                                  Chance& noise, const JoinChecks& checks);
// How long a launch took in a time window.
[[nodiscard]] double took(const Program& program, const Launch& launch, Chance& noise);

}  // namespace gable::simulation
