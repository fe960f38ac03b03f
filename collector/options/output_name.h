// SPDX-License-Identifier: Apache-2.0
// The names of the files that a process writes, made of what the options say.
#pragma once

#include <string>

namespace gable {

// %p (process id), %h (host name), %r (rank in the job) and %q{NAME} (environment variable)
// replaced; an unknown % sequence stays as it is. A variable that is not set, and the rank of a
// process that has none, is the process id, so that no two processes write one file, and is added
// to `unset` as the variable's name, or "%r".
[[nodiscard]] std::string expand_output_name(const std::string& pattern,
                                             std::string* unset = nullptr);

// "run.json" and "2" give "run-2.json".
[[nodiscard]] std::string with_suffix(const std::string& path, const std::string& suffix);

// Whether the name differs from rank to rank because it holds the rank: %r, or %q{RANK} and what
// else launchers call it.
[[nodiscard]] bool names_rank(const std::string& pattern);

// The pattern for a process of a job with several ranks: "run.json" gives "run-rank%r.json". One
// that has the rank already stays.
[[nodiscard]] std::string with_rank(const std::string& pattern);

// What expand_output_name() makes of the pattern, with the rank if the process is one of several.
// What is written in place (a pipe, a terminal) keeps its name.
[[nodiscard]] std::string own_output_name(const std::string& pattern, std::string* unset = nullptr);

}  // namespace gable
