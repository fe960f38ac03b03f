// SPDX-License-Identifier: Apache-2.0
// Calls of CUPTI that may never return (stopping, decoding, disabling) are made on a thread of ours
// while the program's own thread waits a bounded time: then only ours hangs.
//
// Whether CUPTI takes these calls from another thread than the one that started is not documented.
// One that is refused there, or is only answered once the program's thread has gone on, shows that
// it does not; from then on they are made on the caller's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "analysis/mutex.h"
#include "collector/cupti_api.h"

namespace gable {

class PatientCalls {
 public:
  // For an answer of CUPTI.
  static constexpr std::chrono::milliseconds kPatience{2000};
  // Stopping and decoding wait for the program's work in the context: where there is no answer,
  // that work gets its time first, and CUPTI some more after it.
  static constexpr std::chrono::milliseconds kWorkPatience{10000}, kMorePatience{1000};

  PatientCalls();

  // Makes `call` with `context` current. std::nullopt: no answer in time.
  // `call` may run on after that: it must own what it uses. One caller at a time.
  [[nodiscard]] std::optional<CUptiResult> make(CUcontext context,
                                                const std::function<CUptiResult()>& call);
  // A call that was given up has still not returned: CUPTI is to be left alone.
  [[nodiscard]] bool stuck() const;
  // The helper's thread is not the one for such calls; see above.
  void use_callers_thread();
  [[nodiscard]] bool on_callers_thread() const;

 private:
  // Shared with the helper, which outlives everything.
  struct Shared {
    Mutex mutex;  // never held while CUPTI is called
    Condition wanted, changed;
    std::function<CUptiResult()> call GABLE_GUARDED_BY(mutex);
    CUcontext context GABLE_GUARDED_BY(mutex) = nullptr;
    bool has_call GABLE_GUARDED_BY(mutex) = false;
    bool working GABLE_GUARDED_BY(mutex) = false;
    bool given_up GABLE_GUARDED_BY(mutex) = false;
    bool own GABLE_GUARDED_BY(mutex) = false;
    bool idle GABLE_GUARDED_BY(mutex) = false;  // the context's work is done
    CUptiResult answer GABLE_GUARDED_BY(mutex) = CUPTI_SUCCESS;
  };
  static void run(Shared& shared);
  bool answered_late(UniqueLock& hold) GABLE_REQUIRES(shared_->mutex);

  std::shared_ptr<Shared> shared_;
  bool started_ = false;
};

}  // namespace gable
