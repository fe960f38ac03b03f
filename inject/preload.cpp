// SPDX-License-Identifier: Apache-2.0
// LD_PRELOAD only points the two injection variables at this very library: CUDA and NVTX then load
// it as they would have, in this program and in those it starts. A program that uses neither pays
// for two calls of setenv.
#include <dlfcn.h>

#include <cstdlib>

namespace {

__attribute__((constructor)) void point_variables_here() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&point_variables_here), &self) == 0 ||
      self.dli_fname == nullptr)
    return;
  setenv("CUDA_INJECTION64_PATH", self.dli_fname, 0);
  setenv("NVTX_INJECTION64_PATH", self.dli_fname, 0);
}

}  // namespace
