// SPDX-License-Identifier: Apache-2.0
// Experiments that settle how CUPTI behaves where its documentation is silent;
// docs/hardware-facts.md has the questions. gable_probe NAME runs one, gable_probe alone lists
// them. One JSON object a line.
#include <cstdio>
#include <cstdlib>

#include "tests/gpu/probe/experiments.h"

namespace {

constexpr int kExitFailed = 1, kExitWrongUse = 2, kExitSkipped = 77;

std::vector<gable::probe::Experiment> experiments() {
  std::vector<gable::probe::Experiment> list;
  gable::probe::add_about(list);
  gable::probe::add_windows(list);
  gable::probe::add_launches(list);
  gable::probe::add_user_callbacks(list);
  gable::probe::add_user_ranges(list);
  gable::probe::add_calls(list);
  gable::probe::add_graphs(list);
  gable::probe::add_costs(list);
  gable::probe::add_numbers(list);
  gable::probe::add_sampling(list);
  return list;
}

int run(const gable::probe::Experiment& experiment) {
  try {
    experiment.run();
  } catch (const gable::probe::Skipped& reason) {
    gable::probe::observe("skipped", {{"skipped", reason.what()}});
    return kExitSkipped;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gable_probe: %s\n", problem.what());
    return kExitFailed;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A profiler that waits to be injected would be in the way.
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(name);
  const std::string wanted = argc == 2 ? argv[1] : "";
  for (const auto& experiment : experiments()) {
    if (argc == 1) std::puts(experiment.name);
    if (wanted == experiment.name) return run(experiment);
  }
  if (argc == 1) return 0;
  std::fprintf(stderr, "gable_probe: there is no experiment '%s'; gable_probe lists them\n",
               wanted.c_str());
  return kExitWrongUse;
}
