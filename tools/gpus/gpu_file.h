// SPDX-License-Identifier: Apache-2.0
// A GPU that a file describes, for those that the catalogue lacks or whose clocks someone limits.
// docs/predict.md has the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/gpus/gpu_catalogue.h"

namespace gable {

struct DescribedGpu {
  std::optional<GpuSpec> gpu;
  std::string error;  // one sentence, where there is none
};

[[nodiscard]] DescribedGpu gpu_from_json(std::string_view text);
[[nodiscard]] DescribedGpu read_gpu_file(const std::string& path);
// What is given for a GPU names a file: it ends with ".json" or has a slash.
[[nodiscard]] bool names_gpu_file(std::string_view word);

}  // namespace gable
