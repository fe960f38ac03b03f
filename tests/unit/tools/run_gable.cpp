// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tools/run_gable.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace gable::tests {
namespace {

struct Folders {
  ~Folders() {
    for (const std::string& path : paths) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  }
  std::vector<std::string> paths;
};

}  // namespace

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string temporary_folder() {
  static Folders folders;
  std::string pattern = testing::TempDir() + "gable-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    ADD_FAILURE() << "no temporary folder: " << pattern;
    std::abort();
  }
  folders.paths.push_back(pattern);
  return pattern;
}

Ran run_shell(const std::string& line) {
  const std::string folder = temporary_folder();
  const int status =
      std::system(("( " + line + "\n) >" + folder + "/out 2>" + folder + "/err").c_str());
  Ran ran;
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  ran.out = read_text(folder + "/out");
  ran.err = read_text(folder + "/err");
  return ran;
}

Ran run_gable(const std::string& words, const std::string& before) {
  return run_shell("unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH GABLE_OPTIONS; " + before +
                   " '" GABLE_PROGRAM "' " + words);
}

}  // namespace gable::tests
