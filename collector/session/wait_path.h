// SPDX-License-Identifier: Apache-2.0
// Calls that wait for the GPU: how long, in which layer, and how long the launch after them takes
// to arrive there. Runs within the program's own driver calls.
#pragma once

#include "collector/layers/thread_state.h"
#include "collector/session/collection.h"

namespace gable {

class WaitPath {
 public:
  explicit WaitPath(Collection& collection) : c_(collection) {}

  void enter(ThreadState& thread);
  void exit(ThreadState& thread);
  // Takes the first launch after a wait.
  void launched_after(ThreadState& thread, const LaunchEvent& launch);

 private:
  Collection& c_;
};

}  // namespace gable
