// SPDX-License-Identifier: Apache-2.0
#include "collector/options/ranks.h"

#include <algorithm>
#include <cstdlib>

namespace gable {
namespace {

// The variables of one launcher; null where it has none.
struct Launcher {
  const char *rank, *size, *size_here;
};

// The innermost first: torchrun within srun has ranks of its own.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", nullptr},
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_SIZE"},
    {"PALS_RANKID", nullptr, nullptr},
    {"PMIX_RANK", nullptr, nullptr},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr},
};

std::optional<std::int64_t> number(const char* name) {
  const char* text = name != nullptr ? std::getenv(name) : nullptr;
  if (text == nullptr || *text == 0) return std::nullopt;
  char* end = nullptr;
  const auto value = std::strtoll(text, &end, 10);
  return *end == 0 && value >= 0 ? std::optional<std::int64_t>(value) : std::nullopt;
}

}  // namespace

Ranks told_ranks() {
  auto told = Ranks::unknown;
  for (const Launcher& launcher : kLaunchers) {
    const auto count = number(launcher.size).value_or(0);
    if (count > 1) return Ranks::several;
    if (count == 1) told = Ranks::one;
  }
  return told;
}

bool told_one_node() {
  if (told_ranks() == Ranks::one) return true;
  for (const Launcher& launcher : kLaunchers)
    if (const auto all = number(launcher.size); launcher.size_here != nullptr && all > 0)
      return number(launcher.size_here) == all;
  // A job may be several steps: what counts all of its ranks comes first.
  return number("SLURM_STEP_NUM_NODES") == 1;
}

std::optional<std::int64_t> told_rank() {
  for (const Launcher& launcher : kLaunchers)
    if (const auto rank = number(launcher.rank)) return rank;
  return std::nullopt;
}

std::optional<PlaceInJob> told_place() {
  for (const Launcher& launcher : kLaunchers) {
    const auto size = number(launcher.size);
    const auto rank = number(launcher.rank);
    if (size > 1 && rank) return PlaceInJob{*rank, *size};
  }
  return std::nullopt;
}

bool is_rank_variable(std::string_view name) {
  return std::any_of(std::begin(kLaunchers), std::end(kLaunchers),
                     [name](const Launcher& launcher) { return name == launcher.rank; });
}

}  // namespace gable
