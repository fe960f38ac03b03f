// SPDX-License-Identifier: Apache-2.0
// What an operator of PyTorch has to do, by formula from the sizes of its inputs: matrix products,
// convolutions, attention and recurrent layers. Analytic, never counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/import/kineto/trace_event.h"

namespace gable {

struct OperatorFormula {
  double flops = 0;
  std::optional<double> bytes;  // each input read once, the output written once
  std::string type;             // "fp32", "bf16", "fp16", "fp64"
};

// A convolution whose output is not told by its own record.
struct PendingConvolution {
  std::int64_t batch = 0, channels = 0;  // of the output
  double per_position = 0;               // FLOP of one output position of one image
  double bytes = 0, bytes_per_position = 0;
  std::string type;
  std::vector<std::int64_t> weight;
};

struct OperatorResult {
  bool counts = false;  // it multiplies matrices; without `work` nobody knows how many
  std::optional<OperatorFormula> work;
  std::optional<PendingConvolution> pending;
  // Of a convolution's backward: the sizes of its output, and the weight.
  std::optional<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> gradient;
  bool by_parts = false;  // `work` is that of each part within it
  bool part = false;      // one of those
};

[[nodiscard]] OperatorResult operator_work(const TraceEvent& event);

// With the output's sizes. Empty where they are another convolution's.
[[nodiscard]] std::optional<OperatorFormula> finish(const PendingConvolution& convolution,
                                                    const std::vector<std::int64_t>& sizes);

// By its name, what PyTorch itself has.
[[nodiscard]] bool is_of_pytorch(std::string_view name);

// Whether an operator without a formula has work all the same if it launches kernels itself: one
// that multiplies matrices by its name, or nobody knows what.
[[nodiscard]] bool may_multiply(std::string_view name);

}  // namespace gable
