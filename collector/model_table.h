// SPDX-License-Identifier: Apache-2.0
// What the Python side says of the model's operators and modules in the one step in which it
// describes them. Safe on any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "analysis/layer_model.h"

namespace gable {

struct DescribedStep {
  std::uint32_t step = 0;
  ModelDescription model;
};

class ModelTable {
 public:
  // True: step `step` is to be described. Only one is, once.
  [[nodiscard]] bool begin(std::uint32_t step);
  [[nodiscard]] bool under_way() const;
  // One operator that ran in that layer. Negative: not known.
  void add_operator(std::int32_t device, LayerId layer, std::string_view type, double flops,
                    double read, double written);
  // Of several calls the first counts.
  void add_module(LayerId layer, const ModuleFacts& facts);

  // Of several calls the sum counts.
  void add_allocated(LayerId layer, std::uint64_t bytes);

  // What was described since begin(); nothing where that was not called.
  [[nodiscard]] std::optional<DescribedStep> end();

 private:
  mutable std::mutex mutex_;
  bool begun_ = false;
  std::optional<DescribedStep> open_;
};

// "float32[2,3,32,32];int64[2]"
[[nodiscard]] std::vector<TensorShape> shapes_of(std::string_view text);
// "float32;bfloat16"
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace gable
