// SPDX-License-Identifier: Apache-2.0
// The NVTX ranges that XLA opens while a program of JAX or TensorFlow runs, in the domain "TSL":
// "XlaModule:#prefix=jit(f)/jit(main),hlo_module=jit_f,program_id=1#" around a module, and
// "Thunk:#name=MLP/Dense_0/dot_general,hlo_op=fusion.3,unique_hlo_op_id=7#" around an operator,
// whose name is without the module's prefix. Operators that TensorFlow runs without XLA are
// "model/dense/MatMul:MatMul#id=7#".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

inline constexpr std::string_view kXlaDomain = "TSL";

struct XlaRange {
  std::vector<std::string> names;  // layers from the outside in; at least one
  Direction direction = Direction::none;
};

// What a range stands for: the module, then its scopes, then the operator. Other ranges of XLA,
// such as those of its compiler, are their first word.
[[nodiscard]] XlaRange xla_range(std::string_view title);

}  // namespace gable
