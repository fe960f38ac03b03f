// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/python_side.h"

#include <cstdlib>
#include <filesystem>

#include "tools/base/wrong_use.h"
#include "tools/launch/install.h"

namespace gable {

void show_python_side(const std::string& so) {
  const std::string startup = python_startup_folder();
  if (startup.empty())
    throw WrongUse("Gable's Python side is not complete beside this program, so " + so +
                   ": build it with cmake --build BUILD --target gable_python, or install Gable "
                   "again.");
  const std::string folder = std::filesystem::path(startup).parent_path().string();
  const char* before = std::getenv("PYTHONPATH");  // NOLINT(concurrency-mt-unsafe)
  const std::string all =
      before == nullptr || *before == '\0' ? folder : folder + ":" + std::string(before);
  setenv("PYTHONPATH", all.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace gable
