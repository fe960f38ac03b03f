// SPDX-License-Identifier: Apache-2.0
// Parts of a report that are read or written in files of their own. Internal to analysis/.
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/report/json_object.h"

namespace gable::json {

void read_roof(const Object& in, Roof& roof);
void read_model(const Object& in, LayerModel& model);
void read_compiled(const Object& in, CompiledRegion& region);
[[nodiscard]] nlohmann::ordered_json write_compiled(const std::optional<CompiledRegion>& region);

}  // namespace gable::json
