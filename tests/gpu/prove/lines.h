// SPDX-License-Identifier: Apache-2.0
// The results of scripts/gpu/prove.sh: JSON lines, one file a stage, appended as they come.
//   {"stage", "experiment", "source", "gpu", "driver", "cupti", "what", …}
// What a program printed has `fields` (its own names), `says` (one sentence for the table) and
// `unknown` ({field: why it is null}). "what": "skipped" has `reason`; "what": "end", the last of
// an experiment, has `exit` and `seconds`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gable::prove {

using Json = nlohmann::ordered_json;

inline constexpr int kExitSkipped = 77;  // a program that printed {"skipped": why}
inline constexpr int kExitTimedOut = 124, kExitKilled = 137;

// One run of an experiment: its lines up to the one that ended it.
struct Experiment {
  std::string stage, name;
  std::vector<Json> results;  // "what" is neither "skipped" nor "end"
  std::string skipped;        // why
  Json end;                   // null while it has not ended
  [[nodiscard]] int exit_code() const;
  [[nodiscard]] bool ended() const { return end.is_object(); }
};

// The last run of every experiment in a file of results, in the order in which they first began. A
// missing file has none; lines that are no results are left out.
[[nodiscard]] std::vector<Experiment> read_results(const std::string& path);

// The line for one object that a program printed.
[[nodiscard]] Json result_line(const Json& head, const Json& printed);

// Appends one line with a single write, so that a killed run leaves whole lines.
void append_line(const std::string& path, const Json& line);

}  // namespace gable::prove
