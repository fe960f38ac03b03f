// SPDX-License-Identifier: Apache-2.0
#include "collector/current_context.h"

#include <dlfcn.h>

namespace gable {
namespace {

struct Driver {
  decltype(&::cuCtxGetCurrent) get = nullptr;
  decltype(&::cuCtxSetCurrent) set = nullptr;
  decltype(&::cuCtxSynchronize) synchronize = nullptr;
};

// The driver of the process; without one (as in tests) contexts are left alone.
const Driver& driver() {
  static const Driver found = [] {
    Driver driver;
    if (void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); library != nullptr) {
      driver.get = reinterpret_cast<decltype(driver.get)>(dlsym(library, "cuCtxGetCurrent"));
      driver.set = reinterpret_cast<decltype(driver.set)>(dlsym(library, "cuCtxSetCurrent"));
      driver.synchronize =
          reinterpret_cast<decltype(driver.synchronize)>(dlsym(library, "cuCtxSynchronize"));
    }
    return driver;
  }();
  return found;
}

}  // namespace

CurrentContext::CurrentContext(CUcontext wanted) {
  const Driver& known = driver();
  if (wanted == nullptr || known.get == nullptr || known.set == nullptr) return;
  if (known.get(&before_) != CUDA_SUCCESS || before_ == wanted) return;
  changed_ = known.set(wanted) == CUDA_SUCCESS;
}

CurrentContext::~CurrentContext() {
  if (changed_ && driver().set != nullptr) driver().set(before_);
}

void wait_for_current_context() {
  if (driver().synchronize != nullptr) driver().synchronize();
}

}  // namespace gable
