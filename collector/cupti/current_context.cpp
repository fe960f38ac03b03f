// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/current_context.h"

#include <dlfcn.h>

#include <atomic>

namespace gable {
namespace {

struct Driver {
  decltype(&::cuCtxGetCurrent) get = nullptr;
  decltype(&::cuCtxSetCurrent) set = nullptr;
  decltype(&::cuCtxSynchronize) synchronize = nullptr;
};

Driver look_up() {
  Driver driver;
  if (void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); library != nullptr) {
    driver.get = reinterpret_cast<decltype(driver.get)>(dlsym(library, "cuCtxGetCurrent"));
    driver.set = reinterpret_cast<decltype(driver.set)>(dlsym(library, "cuCtxSetCurrent"));
    driver.synchronize =
        reinterpret_cast<decltype(driver.synchronize)>(dlsym(library, "cuCtxSynchronize"));
  }
  return driver;
}

std::atomic<const Driver*> g_driver{nullptr};

const Driver& keep(const Driver& found) {
  const Driver* before = nullptr;
  const auto* fresh = new Driver(found);  // never freed: threads may use it to the end
  if (g_driver.compare_exchange_strong(before, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *before;
}

// The driver of the process; without one (as in tests) contexts are left alone. No lock of Gable's
// is held while calling the loader.
const Driver& driver() {
  const auto* known = g_driver.load(std::memory_order_acquire);
  return known != nullptr ? *known : keep(look_up());
}

}  // namespace

void find_driver() {
  const auto found = look_up();
  if (found.get != nullptr && g_driver.load(std::memory_order_acquire) == nullptr) keep(found);
}

CurrentContext::CurrentContext(CUcontext wanted) {
  const Driver& known = driver();
  if (wanted == nullptr || known.get == nullptr || known.set == nullptr) return;
  if (known.get(&before_) != CUDA_SUCCESS || before_ == wanted) return;
  changed_ = known.set(wanted) == CUDA_SUCCESS;
}

CurrentContext::~CurrentContext() {
  if (changed_ && driver().set != nullptr) driver().set(before_);
}

CUcontext current_context() {
  CUcontext context = nullptr;
  const auto get = driver().get;
  return get != nullptr && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

void wait_for_current_context() {
  if (driver().synchronize != nullptr) driver().synchronize();
}

}  // namespace gable
