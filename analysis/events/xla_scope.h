// SPDX-License-Identifier: Apache-2.0
// What XLA calls the operators of JAX and TensorFlow:
// "jit(step)/jit(main)/transpose(jvp(MLP))/Dense_0/dot_general". Names of functions and modules are
// scopes; what transforms a function stands around its name.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

// The scopes' names, without what is around them: MLP, Dense_0, dot_general. The program's own name
// is left out, being its module's. `whole`: the text begins with the program; false for the rest of
// one.
[[nodiscard]] std::vector<std::string_view> xla_scope_parts(std::string_view scope,
                                                            bool whole = true);

// The pass that the operator belongs to: backward if a transposed function is in it, forward if
// one that is differentiated is.
[[nodiscard]] Direction xla_direction(std::string_view scope);

}  // namespace gable
