// SPDX-License-Identifier: Apache-2.0
#include "collector/work_done.h"

#include "collector/current_context.h"
#include "collector/own_thread.h"

namespace gable {

WorkDone::WorkDone() : done_(std::make_shared<std::atomic<bool>>(false)) {
  const auto context = current_context();
  if (context == nullptr) return;
  (void)start_own_thread("gable-waiter", [done = done_, context] {
    be_own_thread();
    const CurrentContext current(context);
    wait_for_current_context();
    done->store(true, std::memory_order_release);
  });
}

}  // namespace gable
