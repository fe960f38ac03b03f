// SPDX-License-Identifier: Apache-2.0
// The work of convolutions by their own records: each operator has its arguments in an order of its
// own.
#pragma once

#include "tools/import/kineto/operator_work.h"

namespace gable {

// Convolutions of PyTorch and their gradients; of others `counts` is false.
[[nodiscard]] OperatorResult convolution_work(const TraceEvent& event);

}  // namespace gable
