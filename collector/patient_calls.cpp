// SPDX-License-Identifier: Apache-2.0
#include "collector/patient_calls.h"

#include "collector/current_context.h"
#include "collector/own_thread.h"
#include "collector/thread_state.h"

namespace gable {

PatientCalls::PatientCalls() : shared_(std::make_shared<Shared>()) {}

void PatientCalls::run(Shared& shared) {
  this_thread().busy = true;  // what CUPTI calls out of here is not the program's
  UniqueLock hold(shared.mutex);
  for (;;) {
    shared.wanted.wait(hold, [&]() GABLE_REQUIRES(shared.mutex) { return shared.has_call; });
    const auto call = std::move(shared.call);
    const auto context = shared.context;
    shared.has_call = false;
    hold.unlock();
    CUptiResult answer = CUPTI_SUCCESS;
    {
      const CurrentContext current(context);
      answer = call();
    }
    hold.lock();
    shared.answer = answer;
    shared.working = false;
    // It hung only as long as the program's thread waited: there it would have been answered.
    if (shared.given_up) shared.own = true;
    shared.given_up = false;
    shared.changed.notify_all();
  }
}

std::optional<CUptiResult> PatientCalls::make(CUcontext context,
                                              const std::function<CUptiResult()>& call) {
  UniqueLock hold(shared_->mutex);
  if (shared_->working) return std::nullopt;
  if (!started_ && !shared_->own) {
    started_ = start_own_thread("gable-counters", [shared = shared_] { run(*shared); });
    if (!started_) shared_->own = true;
  }
  if (shared_->own) {
    hold.unlock();
    const CurrentContext current(context);
    return call();
  }
  shared_->call = call;
  shared_->context = context;
  shared_->has_call = shared_->working = true;
  shared_->wanted.notify_one();
  const auto done = [this]() GABLE_REQUIRES(shared_->mutex) { return !shared_->working; };
  if (shared_->changed.wait_for(hold, kPatience, done) || answered_late(hold))
    return shared_->answer;
  shared_->given_up = true;
  return std::nullopt;
}

// The GPU may be busy for long, which is no fault of CUPTI's.
bool PatientCalls::answered_late(UniqueLock& hold) {
  shared_->idle = false;
  const bool waiting =
      start_own_thread("gable-waiter", [shared = shared_, context = shared_->context] {
        this_thread().busy = true;
        const CurrentContext current(context);
        wait_for_current_context();
        const MutexLock done(shared->mutex);
        shared->idle = true;
        shared->changed.notify_all();
      });
  shared_->changed.wait_for(
      hold, waiting ? kWorkPatience : kMorePatience,
      [this]() GABLE_REQUIRES(shared_->mutex) { return shared_->idle || !shared_->working; });
  return shared_->changed.wait_for(
      hold, kMorePatience, [this]() GABLE_REQUIRES(shared_->mutex) { return !shared_->working; });
}

bool PatientCalls::stuck() const {
  const MutexLock hold(shared_->mutex);
  return shared_->given_up;
}

void PatientCalls::use_callers_thread() {
  const MutexLock hold(shared_->mutex);
  shared_->own = true;
}

bool PatientCalls::on_callers_thread() const {
  const MutexLock hold(shared_->mutex);
  return shared_->own;
}

}  // namespace gable
