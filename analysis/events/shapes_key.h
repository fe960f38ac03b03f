// SPDX-License-Identifier: Apache-2.0
// Shapes and types of tensors as a part of a key by which equal calls are found.
#pragma once

#include <string>
#include <vector>

#include "analysis/events/layer_model.h"

namespace gable {

// "float32,2,3;int64;"
[[nodiscard]] inline std::string shapes_key(const std::vector<TensorShape>& shapes) {
  std::string key;
  for (const TensorShape& shape : shapes) {
    key += shape.dtype;
    for (const std::int64_t size : shape.sizes) key += ',' + std::to_string(size);
    key += ';';
  }
  return key;
}

}  // namespace gable
