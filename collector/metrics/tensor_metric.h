// SPDX-License-Identifier: Apache-2.0
// The names of the metrics that count tensor-core operations, taken apart: a name that leaves out
// the instruction, the destination type or the sparsity is the sum over them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace gable {

struct TensorName {
  std::string_view op;        // "hmma", "hgmma" …; empty is all
  std::string_view source;    // "fp16", "fp4_fp6_fp8" …
  std::string_view target;    // "fp32" …; empty is all
  std::string_view sparsity;  // "on" or "off"; empty is both
  friend bool operator==(const TensorName&, const TensorName&) = default;
};

// nullopt when `metric` ("sm__ops_path_tensor_src_fp64.sum") is no such name.
[[nodiscard]] std::optional<TensorName> parse_tensor_name(std::string_view metric);

// How a name is split into parts that add up to it.
enum class TensorSplit { op, target, sparsity };

// The names of the role table that are parts of `metric`, split in that one way; a chip has some of
// them or none.
[[nodiscard]] std::vector<std::string_view> tensor_parts(std::string_view metric,
                                                         TensorSplit split);

// True when `whole` counts everything that `part` counts.
[[nodiscard]] bool tensor_includes(const TensorName& whole, const TensorName& part);

}  // namespace gable
