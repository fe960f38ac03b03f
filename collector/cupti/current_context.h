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

// Looks up the driver's calls for the above, which waits for the loader's lock: in the driver's
// start, so that no launch has to.
void find_driver();

// Null where none is, or nobody can be asked.
[[nodiscard]] CUcontext current_context();

// Until the work of the context that is current on this thread is done.
void wait_for_current_context();

}  // namespace gable
