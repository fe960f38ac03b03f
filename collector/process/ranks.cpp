// SPDX-License-Identifier: Apache-2.0
#include "collector/process/ranks.h"

#include <cstdlib>
#include <initializer_list>

namespace gable {

Ranks told_ranks() {
  auto told = Ranks::unknown;
  for (const char* name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                           "SLURM_STEP_NUM_TASKS"}) {
    const char* text = std::getenv(name);
    const auto count = text != nullptr ? std::strtoll(text, nullptr, 10) : 0;
    if (count > 1) return Ranks::several;
    if (count == 1) told = Ranks::one;
  }
  return told;
}

}  // namespace gable
