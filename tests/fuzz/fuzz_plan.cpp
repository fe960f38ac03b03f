// SPDX-License-Identifier: Apache-2.0
// Plans, which may come from another machine: read, and put under a GPU's roofs.
#include "tests/fuzz/fuzz.h"
#include "tools/base/wrong_use.h"
#include "tools/plan/plan.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  using fuzz::expect;
  static const GpuSpec* const gpu = [] {
    std::string error;
    return find_gpu("H100", error);
  }();
  Plan plan;
  try {
    plan = plan_from_json(fuzz::text_of(data, size), "The file");
  } catch (const WrongUse& wrong) {
    expect(std::string_view(wrong.what()).starts_with("The file is no plan: "), "a reason");
    return 0;
  }
  for (const PlanRun& run : plan.runs) {
    double layers = 0;
    for (const PlanGroup& group : groups_of(plan, run)) {
      const PlanTime unfused = time_of(group.operators, *gpu, {}, Fusion::none);
      expect(!unfused.ns || *unfused.ns >= 0, "a time is no less than 0");
      expect(!group.operators.empty(), "a group has operators");
      layers += group.layers;
    }
    expect(layers <= 8 * static_cast<double>(plan.layers.size()), "layers are those of the plan");
    expect(memory_of(plan, run) >= 0, "memory is no less than 0");
    (void)row_of(plan, run, *gpu, {});
  }
  (void)batches_of(plan, *gpu, {});
  return 0;
}
