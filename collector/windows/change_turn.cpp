// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/change_turn.h"

namespace gable {

ChangeTurn::ChangeTurn(ChangeTurns& turns, std::chrono::seconds patience)
    : turns_(turns), of_program_(patience.count() > 0) {
  {
    UniqueLock hold(turns_.mutex_);
    auto& taken = turns_.taken_;
    held_ = turns_.given_back_.wait_for(hold, patience,
                                        [&]() GABLE_REQUIRES(turns_.mutex_) { return !taken; });
    if (held_) taken = true;
  }
  if (held_) thread_.busy = true;
  if (!held_ && of_program_) turns_.gave_up_();
}

ChangeTurn::~ChangeTurn() {
  if (of_program_) turns_.spent_ns_.fetch_add(steady_ns() - began_ns_, std::memory_order_relaxed);
  if (!held_) return;
  thread_.busy = false;
  const MutexLock hold(turns_.mutex_);
  turns_.taken_ = false;
  turns_.given_back_.notify_one();
}

}  // namespace gable
