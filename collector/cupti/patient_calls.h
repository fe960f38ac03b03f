// SPDX-License-Identifier: Apache-2.0
// Calls of CUPTI may never return. They are made on a helper thread while the program's thread
// waits a bounded time, so that only the helper hangs.
//
// Whether CUPTI takes its profiler's calls from another thread than the one that launches is not
// documented. If a call is refused there, or returns only after the program's thread has moved on,
// it does not; later calls are then made on the caller's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <cupti.h>

#include "analysis/base/mutex.h"
#include "collector/cupti/patience.h"

namespace gable {

// While an object lives, its thread is within the driver's start, which loads libraries itself, so
// this thread may wait for the loader. Helpers may not: a library whose constructor starts CUDA
// holds the loader's lock until we return. A call whose helper is blocked by that lock is made on
// this thread.
class WithinDriverStart {
 public:
  WithinDriverStart();
  ~WithinDriverStart();
  WithinDriverStart(const WithinDriverStart&) = delete;
  WithinDriverStart& operator=(const WithinDriverStart&) = delete;
};

class PatientCalls {
 public:
  // `name`: of the thread, at most 15 characters; the thread starts with the first job.
  PatientCalls(std::shared_ptr<Patience> patience, const char* name);

  // What runs on the helper's thread, and what runs after it if nobody waited for the end.
  struct Job {
    CUptiResult (*run)(void*) = nullptr;
    void (*late)(void*) = nullptr;  // may be null
    void* data = nullptr;
    std::shared_ptr<void> owner;  // keeps `data` alive
    bool after_loader = false;    // the helper waits for the loader's lock first; set by make()
  };
  // Runs the job with `context` current. std::nullopt: no answer in time. Allocates nothing.
  [[nodiscard]] std::optional<CUptiResult> make(CUcontext context, const Job& job);

  // The same for any callable that returns a code. It may outlive this call, so it must own what it
  // uses.
  [[nodiscard]] std::optional<CUptiResult> make(CUcontext context,
                                                std::function<CUptiResult()> call,
                                                std::function<void()> late = {});

  // A call that was given up has still not returned: CUPTI is to be left alone.
  [[nodiscard]] bool stuck() const { return patience_->stuck(); }
  // Makes all later calls on the caller's thread; see above.
  void use_callers_thread();
  [[nodiscard]] bool on_callers_thread() const;

 private:
  // State shared with the helper thread, which is never ended.
  struct Shared {
    explicit Shared(std::shared_ptr<Patience> of_process) : patience(std::move(of_process)) {}
    const std::shared_ptr<Patience> patience;
    CallMark mark;
    std::atomic<std::uint32_t> asked{0}, done{0};  // job counts, polled before waiting
    Mutex mutex;                                   // never held while CUPTI is called
    Condition wanted, changed;
    Job job GABLE_GUARDED_BY(mutex);
    CUcontext context GABLE_GUARDED_BY(mutex) = nullptr;
    bool has_job GABLE_GUARDED_BY(mutex) = false;
    bool working GABLE_GUARDED_BY(mutex) = false;
    bool taken GABLE_GUARDED_BY(mutex) = false;  // a caller waits for the answer
    bool given_up GABLE_GUARDED_BY(mutex) = false;
    Patience::Milliseconds waited GABLE_GUARDED_BY(mutex){};  // time waited for an abandoned call
    bool past_loader GABLE_GUARDED_BY(mutex) = false;
    bool overtaken GABLE_GUARDED_BY(mutex) = false;  // overtake() took the call back
    bool own GABLE_GUARDED_BY(mutex) = false;
    bool idle GABLE_GUARDED_BY(mutex) = false;  // the context's work is done
    CUptiResult answer GABLE_GUARDED_BY(mutex) = CUPTI_SUCCESS;
  };
  static void run(Shared& shared);
  void start_helper() GABLE_REQUIRES(shared_->mutex);
  // Takes the call back from a helper that the loader blocks.
  bool overtake(UniqueLock& hold) GABLE_REQUIRES(shared_->mutex);
  // Waits for the caller's turn; returns false if CUPTI hangs meanwhile.
  bool take_turn(UniqueLock& hold) GABLE_REQUIRES(shared_->mutex);
  bool answered(UniqueLock& hold, Patience::Milliseconds& waited) GABLE_REQUIRES(shared_->mutex);
  bool answered_late(UniqueLock& hold) GABLE_REQUIRES(shared_->mutex);

  const std::shared_ptr<Patience> patience_;
  const std::shared_ptr<Shared> shared_;
  const char* const name_;
  bool started_ GABLE_GUARDED_BY(shared_->mutex) = false;
};

}  // namespace gable
