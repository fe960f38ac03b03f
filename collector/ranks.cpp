// SPDX-License-Identifier: Apache-2.0
#include "collector/ranks.h"

#include <cstdlib>
#include <initializer_list>

namespace gable {

bool many_ranks() {
  for (const char* name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                           "SLURM_STEP_NUM_TASKS"}) {
    const char* text = std::getenv(name);
    if (text != nullptr && std::strtoll(text, nullptr, 10) > 1) return true;
  }
  return false;
}

}  // namespace gable
