// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/chosen_gpus.h"

#include <algorithm>
#include <sstream>

#include "tools/base/wrong_use.h"
#include "tools/gpus/gpu_file.h"

namespace gable {

std::vector<std::string> words_between_commas(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) out.push_back(word);
  return out;
}

void ChosenGpus::choose(const std::vector<std::string>& lists) {
  for (const std::string& list : lists) {
    for (const std::string& name : words_between_commas(list)) {
      if (names_gpu_file(name)) {
        DescribedGpu described = read_gpu_file(name);
        if (!described.gpu) throw WrongUse(described.error);
        all_.push_back(&described_.emplace_back(std::move(*described.gpu)));
        continue;
      }
      std::string error;
      const GpuSpec* gpu = find_gpu(name, error);
      if (gpu == nullptr) throw WrongUse(error);
      if (std::find(all_.begin(), all_.end(), gpu) == all_.end()) all_.push_back(gpu);
    }
  }
  if (all_.empty())
    throw WrongUse("--gpu takes the names of GPUs, or files that describe them, with commas.");
}

}  // namespace gable
