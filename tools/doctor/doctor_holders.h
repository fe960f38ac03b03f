// SPDX-License-Identifier: Apache-2.0
// Which running processes may hold the GPU's counters, or CUPTI within a program.
#pragma once

#include <string>
#include <vector>

namespace gable {

struct Holder {
  long pid = 0;
  std::string name;    // of its program
  std::string remedy;  // half a sentence: what to do about it
};

// Profilers, debuggers and DCGM among the processes under `proc`, and programs into which a library
// other than `library` was injected, by pid. Those of other users show their names only; in a
// container, only its own are seen.
[[nodiscard]] std::vector<Holder> running_holders(const std::string& library,
                                                  const std::string& proc = "/proc");

// "nv-hostengine (process 12): …; ncu (process 34): …"
[[nodiscard]] std::string described(const std::vector<Holder>& holders);

}  // namespace gable
