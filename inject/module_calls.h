// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace gable::detail {
// A step of the model is being described: Python wants to see every call of a module.
inline std::atomic<bool> model_is_described{false};
}  // namespace gable::detail
