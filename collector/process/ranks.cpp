// SPDX-License-Identifier: Apache-2.0
#include "collector/process/ranks.h"

#include <cstdlib>
#include <initializer_list>
#include <utility>

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

bool told_one_node() {
  const auto number = [](const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoll(text, nullptr, 10) : 0;
  };
  if (told_ranks() == Ranks::one) return true;
  for (const auto& [here, all] : {std::pair("LOCAL_WORLD_SIZE", "WORLD_SIZE"),
                                  std::pair("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"),
                                  std::pair("MPI_LOCALNRANKS", "PMI_SIZE"),
                                  std::pair("MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_SIZE")})
    if (number(all) > 0) return number(here) == number(all);
  // A job may be several steps: what counts all of its ranks comes first.
  return number("SLURM_STEP_NUM_NODES") == 1;
}

}  // namespace gable
