// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/python_side.h"

#include <cstdlib>
#include <filesystem>

#include "tools/base/wrong_use.h"
#include "tools/launch/install.h"
#include "tools/launch/launch.h"

namespace gable {

namespace {

// The sentence for a file that is missing.
WrongUse not_complete(const std::string& so) {
  return WrongUse("Gable's Python side is not complete beside this program, so " + so +
                  ": build it with cmake --build BUILD --target gable_python, or install Gable "
                  "again.");
}

void put_in_front(const std::string& folder) {
  const char* before = std::getenv("PYTHONPATH");  // NOLINT(concurrency-mt-unsafe)
  const std::string all =
      before == nullptr || *before == '\0' ? folder : folder + ":" + std::string(before);
  setenv("PYTHONPATH", all.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

void show_python_side(const std::string& so) {
  const std::string startup = python_startup_folder();
  if (startup.empty()) throw not_complete(so);
  put_in_front(std::filesystem::path(startup).parent_path().string());
}

std::string default_python() {
  const char* named = std::getenv("GABLE_PYTHON");  // NOLINT(concurrency-mt-unsafe)
  return named == nullptr || *named == '\0' ? "python3" : named;
}

int run_python_side(const std::string& python, const std::string& module,
                    const std::vector<std::string>& arguments, const std::string& so) {
  const std::string folder = python_folder_of(module);
  if (folder.empty()) throw not_complete(so);
  put_in_front(folder);
  std::vector<std::string> words{python, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Ended ended = run_program(words);
  if (!ended.not_started.empty())
    throw WrongUse(ended.not_started + " This command needs a Python: name one with --python.");
  return ended.exit_code;
}

}  // namespace gable
