// SPDX-License-Identifier: Apache-2.0
// Counts what the instructions of a PTX kernel do: those before its loop, within it, and after.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gable::truth {

// Of one thread: "fadd", "fmul", "ffma", "hadd" … "dfma" in instructions; "tensor" in operations.
struct PtxWork {
  std::map<std::string, double> once, each_turn;
  [[nodiscard]] double of(const std::string& name, double turns) const;
};

// The loop runs from the label again_ to the branch back to it. `shares`: of the threads, for
// predicates ("odd") and labels ("low_"); others are 1.
[[nodiscard]] PtxWork ptx_work(const std::string& ptx,
                               const std::vector<std::pair<std::string, double>>& shares);

}  // namespace gable::truth
