// SPDX-License-Identifier: Apache-2.0
// Models described by their layers, for predictions before anything runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gable {

// A matrix product, a convolution or an attention. What is cheap and usually fused into these
// (normalisation, activation, pooling, residual sums) is left out.
struct ModelLayer {
  std::string name;
  double flops = 0;    // of one sample: 2 a multiply-add
  double weights = 0;  // elements, read once for the whole batch
  double values = 0;   // elements of one sample that are read or written: inputs and outputs
  int repeats = 1;     // layers that are equal
  double cached = 0;   // of `values`: K and V, which stay for the tokens to come
};

struct DescribedModel {
  std::string name;
  std::string sample;  // what a throughput counts: "image", "prompt", "token"
  std::vector<ModelLayer> layers;
  double parameters = 0;               // published
  [[nodiscard]] double flops() const;  // of one sample
};

// "resnet18", "resnet50", "vgg16", "mobilenet" (V2), "llama2-7b-prefill", "llama2-7b-decode", and
// the same of llama2-70b. 224 x 224 images; of Llama a prompt of `sequence` tokens, or one token
// after so many. An empty name where there is no such model.
[[nodiscard]] DescribedModel described_model(std::string_view name, int sequence);
[[nodiscard]] std::string described_model_names();

}  // namespace gable
