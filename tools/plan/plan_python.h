// SPDX-License-Identifier: Apache-2.0
// Has a Python build the user's model and write down what it has to do.
#pragma once

#include <string>
#include <vector>

namespace gable {

struct PlanRequest {
  std::string python;  // empty: the first python3 of PATH
  std::string model;   // "mymodel:build", or a file of Hugging Face
  std::vector<std::string> inputs;
  std::string batches;  // "1,2,4"; empty: as the inputs are written
  bool train = false;
  std::string precision, optimizer;  // empty: Python's defaults
  std::string past;                  // empty: none
};

struct PlanAnswer {
  int exit_code = 0;  // where it is not 0, what is wrong has been said on standard error
  std::string document;
};

// Throws WrongUse if no Python can be run.
[[nodiscard]] PlanAnswer ask_python(const PlanRequest& request);

}  // namespace gable
