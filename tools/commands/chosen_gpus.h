// SPDX-License-Identifier: Apache-2.0
// What --gpu names: boards of the catalogue, and files that describe one.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "tools/gpus/gpu_catalogue.h"

namespace gable {

// The parts between commas.
[[nodiscard]] std::vector<std::string> words_between_commas(const std::string& list);

class ChosenGpus {
 public:
  // The GPUs of all lists, each once: two names of one board are one. Throws WrongUse.
  void choose(const std::vector<std::string>& lists);
  [[nodiscard]] const std::vector<const GpuSpec*>& all() const { return all_; }

 private:
  std::vector<const GpuSpec*> all_;
  std::deque<GpuSpec> described_;
};

}  // namespace gable
