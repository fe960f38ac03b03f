// SPDX-License-Identifier: Apache-2.0
// Running processes that may hold the GPU's counters, or CUPTI within a program.
#pragma once

#include <string>
#include <vector>

namespace gable {

struct Holder {
  long pid = 0;
  std::string name;    // name of its program
  std::string remedy;  // a clause: what to do about it
};

// Profilers, debuggers and DCGM among the processes under `proc`, and programs into which a library
// other than `library` was injected, by pid. Of other users' processes only the names are visible;
// in a container, only its own processes.
[[nodiscard]] std::vector<Holder> running_holders(const std::string& library,
                                                  const std::string& proc = "/proc");

// "nv-hostengine (process 12): …; ncu (process 34): …"
[[nodiscard]] std::string described(const std::vector<Holder>& holders);

}  // namespace gable
