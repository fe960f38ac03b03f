// SPDX-License-Identifier: Apache-2.0
// Puts what the framework says of the model into the rows of the layers.
#pragma once

#include <cstdint>
#include <map>

#include "analysis/base/maybe.h"
#include "analysis/builder/layer_rows.h"
#include "analysis/builder/unit_scale.h"
#include "analysis/profile/profile_state.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// Fills `model` and `flops_over_forward` from what the model says of the layers. Returns, by
// device, the model's FLOPs of a step by formula and their time (ns) under the compute roofs,
// without recomputation; null if some operator's FLOPs are unknown, or layers without operators
// take more than a twentieth of the model's time.
struct StepOfModel {
  Maybe flops = 0, compute_ns = 0;
  double time_ns = 0, not_understood_ns = 0;  // of kernels; of those in layers without operators
};
std::map<std::int32_t, StepOfModel> fill_models(const Profile::State& state, const UnitScale& unit,
                                                const Roofline& roofline, LayerRows& layers);

// Whether most steps have the same launches as a step in which the model was described.
[[nodiscard]] bool model_steps_are_alike(const Profile::State& state);

}  // namespace gable
