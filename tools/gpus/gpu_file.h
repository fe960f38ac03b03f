// SPDX-License-Identifier: Apache-2.0
// A GPU described in a file, if the catalogue lacks it or its clocks are limited. docs/predict.md
// has the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/gpus/gpu_catalogue.h"

namespace gable {

struct DescribedGpu {
  std::optional<GpuSpec> gpu;
  std::string error;  // one sentence, if there is no GPU
};

[[nodiscard]] DescribedGpu gpu_from_json(std::string_view text);
[[nodiscard]] DescribedGpu read_gpu_file(const std::string& path);
// Whether the word given for a GPU names a file: it ends with ".json" or has a slash.
[[nodiscard]] bool names_gpu_file(std::string_view word);

}  // namespace gable
