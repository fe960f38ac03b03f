// SPDX-License-Identifier: Apache-2.0
// What files and variables tell about access to counters before any GPU is queried: whom the driver
// allows, and what changes that.
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

// The rows "rights", "MIG" and "MPS", each only if there is something to say.
[[nodiscard]] std::vector<Finding> examine_rights(const Surroundings& where);

// Whether a device is a virtual GPU, such as "NVIDIA A100-4C" or "GRID T4-16Q".
[[nodiscard]] bool is_virtual_gpu(const std::string& name);

}  // namespace gable
