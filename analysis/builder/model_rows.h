// SPDX-License-Identifier: Apache-2.0
// What the framework says of the model, in the rows of the layers.
#pragma once

#include "analysis/builder/layer_rows.h"
#include "analysis/builder/unit_scale.h"
#include "analysis/profile/profile_state.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// What the model says of the layers, beside what was measured; fills `model` and
// `flops_over_forward`.
void fill_models(const Profile::State& state, const UnitScale& unit, const Roofline& roofline,
                 LayerRows& layers);

// Most steps have the launches of one in which the model was described.
[[nodiscard]] bool model_steps_are_alike(const Profile::State& state);

}  // namespace gable
