// SPDX-License-Identifier: Apache-2.0
// Parts of a report that are read in files of their own. Internal to analysis/.
#pragma once

#include "analysis/json_object.h"

namespace gable::json {

void read_roof(const Object& in, Roof& roof);
void read_model(const Object& in, LayerModel& model);

}  // namespace gable::json
