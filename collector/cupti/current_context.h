// SPDX-License-Identifier: Apache-2.0
// CUPTI's range profiler is used with its object's context current: whether it must be is not
// documented, and one thread ends the windows of all contexts.
#pragma once

#include <cuda.h>

namespace gable {

class CurrentContext {
 public:
  explicit CurrentContext(CUcontext wanted);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  CUcontext before_ = nullptr;
  bool changed_ = false;
};

// Looks up the driver's calls. That waits for the loader's lock, so it is done in the driver's
// start rather than at a launch.
void find_driver();

// The current context; null if there is none or the driver's calls are missing.
[[nodiscard]] CUcontext current_context();

// Waits until the work of this thread's current context is done.
void wait_for_current_context();

}  // namespace gable
