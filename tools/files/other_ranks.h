// SPDX-License-Identifier: Apache-2.0
// The reports of a job's other ranks, where each rank has a `gable profile` of its own (srun,
// mpirun). The first rank's prints the table of all, if the ranks share the reports' folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "collector/options/ranks.h"

namespace gable {

// A table has this many reports at most: reading a thousand would hold up the end of the job.
inline constexpr std::size_t kMostRanksShown = 64;

struct RanksWanted {
  std::string output;                     // the option's value, from the root
  std::string ranks;                      // --ranks: the others write nothing
  PlaceInJob place;                       // this rank's
  std::vector<std::string> own;           // reports of this rank's own processes
  std::filesystem::file_time_type since;  // when this rank began: older files are of other jobs
  // How long it waits for reports that are not there yet, and for those that are not complete yet.
  std::chrono::milliseconds for_missing{2000}, for_incomplete{10000};
};

struct OtherRanks {
  std::vector<std::string> paths;     // by rank, kMostRanksShown at most
  std::vector<std::int64_t> missing;  // ranks that have no report, if any other rank has one
  std::size_t further = 0;            // reports that are there too
};

// Waits until the other ranks' reports are complete, but not long.
[[nodiscard]] OtherRanks await_other_ranks(const RanksWanted& wanted);

// What a shell expands to the reports of all ranks: "run.json" gives "run-rank*.json".
[[nodiscard]] std::string glob_of_ranks(const std::string& output);

}  // namespace gable
