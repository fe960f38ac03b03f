// SPDX-License-Identifier: Apache-2.0
// What an operator of PyTorch has to do, by formula from the sizes of its inputs: matrix products,
// convolutions and attention. Analytic, never counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/import/kineto/trace_event.h"

namespace gable {

struct OperatorFormula {
  double flops = 0;
  std::optional<double> bytes;  // each input read once, the output written once
  std::string type;             // "fp32", "bf16", "fp16", "fp64"
};

// A convolution whose output is not told by its own inputs: its FLOPs are `per_output` times the
// output's positions (height x width and batch).
struct PendingConvolution {
  std::int64_t batch = 0, channels = 0;  // of the output
  double per_position = 0;               // FLOP of one output position of one image
  double bytes = 0, bytes_per_position = 0;
  std::string type;
  std::size_t spatial = 0;  // dimensions behind batch and channels
};

struct OperatorResult {
  bool counts = false;  // it multiplies matrices
  std::optional<OperatorFormula> work;
  std::optional<PendingConvolution> pending;
};

[[nodiscard]] OperatorResult operator_work(const TraceEvent& event);

// With the sizes of a later operator's first input, where that is the output. Empty where it is
// not.
[[nodiscard]] std::optional<OperatorFormula> finish(const PendingConvolution& convolution,
                                                    const std::vector<std::int64_t>& sizes);

}  // namespace gable
