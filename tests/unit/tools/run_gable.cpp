// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tools/run_gable.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <list>

#include "tests/unit/temporary_folder.h"

namespace gable::tests {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string temporary_folder() {
  static std::list<TemporaryFolder> folders;
  return folders.emplace_back().path();
}

Ran run_shell(const std::string& line) {
  const TemporaryFolder folder;
  const int status =
      std::system(("( " + line + "\n) >" + folder.at("out") + " 2>" + folder.at("err")).c_str());
  Ran ran;
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  ran.out = folder.text_of("out");
  ran.err = folder.text_of("err");
  return ran;
}

Ran run_gable(const std::string& words, const std::string& before) {
  return run_shell("unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH GABLE_OPTIONS; " + before +
                   " '" GABLE_PROGRAM "' " + words);
}

}  // namespace gable::tests
