// SPDX-License-Identifier: Apache-2.0
// What the launchers of parallel programs (torchrun, mpirun, srun, flux, jsrun) say in the
// environment about the ranks of a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gable {

// Unknown without a launcher's variables.
enum class Ranks : std::uint8_t { unknown, one, several };
[[nodiscard]] Ranks told_ranks();

// With several ranks a collective of one may wait for another, so all must be in the same window
// and nothing may wait for a launch.
[[nodiscard]] inline bool many_ranks() { return told_ranks() == Ranks::several; }

// Whether all ranks are on this machine.
[[nodiscard]] bool told_one_node();

// The rank of this process.
[[nodiscard]] std::optional<std::int64_t> told_rank();

// One of several ranks, as one and the same launcher tells both numbers.
struct PlaceInJob {
  std::int64_t rank = 0, size = 0;
};
[[nodiscard]] std::optional<PlaceInJob> told_place();

// Whether this is one of several ranks, and not the first.
[[nodiscard]] inline bool is_later_rank() {
  const auto place = told_place();
  return place && place->rank > 0;
}

// Whether a launcher says the rank in this variable.
[[nodiscard]] bool is_rank_variable(std::string_view name);

}  // namespace gable
