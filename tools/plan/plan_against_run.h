// SPDX-License-Identifier: Apache-2.0
// A plan held against a run of the model: what each layer was to do, and what it did.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plan/plan.h"

namespace gable {

// What a step of the run did in some layers, without the layers below them. Empty: unknown of one.
struct DoneWork {
  Maybe ns, flops, bytes;  // kernels' time, counted FLOP, counted DRAM bytes
  Maybe formula_flops;     // by the operators' formulas
};

// Equal layers of the plan.
struct PlannedRow {
  PlanGroup group;
  PlanWork work;
  PlanTime unfused, fused;  // on the run's GPU; unknown without one
  double found = 0;         // of the group's layers, those that launched kernels in the run
  DoneWork done;            // of those; empty where none did
  // Time beyond what the plan says at least, unfused. Empty if not all layers were found.
  [[nodiscard]] Maybe over_ns() const;
};

struct RunAlone {  // a layer with kernels that the plan lacks
  std::string name;
  Direction direction = Direction::none;
  Maybe ns;
};

struct PlanAgainstRun {
  const Plan* plan = nullptr;
  const PlanRun* batch = nullptr;
  const Report* run = nullptr;
  const GpuSpec* gpu = nullptr;  // null: the catalogue does not know the run's
  std::string device;            // the run's GPU, by its own name
  std::size_t devices = 1;       // of the run; it is the one with the longest time
  std::vector<PlannedRow> rows;
  std::vector<RunAlone> alone;  // longest first
  PlanWork work;                // of the whole plan
  PlanTime unfused, fused;
  DoneWork done;  // of the layers that both have; of the whole run where they have none
  // The run's layers have other names, as in a trace of operators: only the wholes are compared.
  bool whole_only = false;
  double planned_alone = 0;  // layers of the plan that launched no kernel in the run
};

// `gpu`: what the run's GPU is by the caller; null: by its name. `batch` is one of the plan's, and
// 0 the one whose FLOPs are nearest to the run's. Throws WrongUse where the two cannot be compared:
// the run has no steps, has neither one of the plan's layers nor known FLOPs, or does not tell the
// batch.
[[nodiscard]] PlanAgainstRun plan_against_run(const Plan& plan, const Report& run,
                                              std::uint64_t batch, const GpuSpec* gpu);

}  // namespace gable
