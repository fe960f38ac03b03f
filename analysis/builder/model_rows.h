// SPDX-License-Identifier: Apache-2.0
// What the framework says of the model, in the rows of the layers.
#pragma once

#include <cstdint>
#include <map>

#include "analysis/base/maybe.h"
#include "analysis/builder/layer_rows.h"
#include "analysis/builder/unit_scale.h"
#include "analysis/profile/profile_state.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// What the model says of the layers, beside what was measured; fills `model` and
// `flops_over_forward`.
// Returns, by device, the model's FLOPs by formula of a step, and for how long (ns) the compute
// roofs would take them, without what is computed again; null where some operator's FLOPs are not
// known.
struct StepOfModel {
  Maybe flops = 0, compute_ns = 0;
};
std::map<std::int32_t, StepOfModel> fill_models(const Profile::State& state, const UnitScale& unit,
                                                const Roofline& roofline, LayerRows& layers);

// Most steps have the launches of one in which the model was described.
[[nodiscard]] bool model_steps_are_alike(const Profile::State& state);

}  // namespace gable
