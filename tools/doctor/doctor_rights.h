// SPDX-License-Identifier: Apache-2.0
// What files and variables tell of counters, before any GPU is asked: to whom the driver gives
// them, and which surroundings change that.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/doctor/doctor_findings.h"

namespace gable {

// Where to look: everything below `root`, and variables by `variable`, empty where not set.
struct Surroundings {
  std::string root;
  std::function<std::string(const char*)> variable;
  [[nodiscard]] static Surroundings here();
};

// Rows "rights", "MIG" and "MPS", each where there is something to say.
[[nodiscard]] std::vector<Finding> examine_rights(const Surroundings& where);

// "NVIDIA A100-4C", "GRID T4-16Q": a part of a GPU that a hypervisor lends.
[[nodiscard]] bool is_virtual_gpu(const std::string& name);

}  // namespace gable
