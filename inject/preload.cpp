// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD only points the two injection variables at this very library: CUDA and NVTX then load
// it as they would have, in this program and in those it starts. In a Python program it also puts
// the folder of the Python side first on PYTHONPATH, as `gable profile` does. A program that uses
// none of them pays for two calls of setenv. Nothing runs beside a constructor yet, and nobody has
// read PYTHONPATH.
#include <cstdlib>
#include <exception>
#include <string>

#include "inject/python_attach.h"

namespace {

void put_first_on_python_path(const std::string& folder) {
  const char* before = std::getenv("PYTHONPATH");
  const std::string rest = before == nullptr ? "" : before;
  if (rest == folder || rest.rfind(folder + ":", 0) == 0) return;
  setenv("PYTHONPATH", (rest.empty() ? folder : folder + ":" + rest).c_str(), 1);
}

__attribute__((constructor)) void point_variables_here() {
  try {
    const std::string library = gable::own_library();
    if (library.empty()) return;
    setenv("CUDA_INJECTION64_PATH", library.c_str(), 0);
    setenv("NVTX_INJECTION64_PATH", library.c_str(), 0);
    const char* injected = std::getenv("CUDA_INJECTION64_PATH");
    const bool ours = injected != nullptr && library == injected;  // else another tool's
    if (!ours || !gable::python_is_loaded()) return;
    const std::string side = gable::python_side_of(library);
    if (!side.empty()) put_first_on_python_path(side + "/startup");
  } catch (const std::exception&) {
    return;  // out of memory: the program runs as it would have
  }
}

}  // namespace
