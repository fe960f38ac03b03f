// SPDX-License-Identifier: Apache-2.0
// Calls of CUPTI may never return. They are made on a thread of ours while the program's own thread
// waits a bounded time: then only ours hangs.
//
// Whether CUPTI takes its profiler's calls from another thread than the one that launches is not
// documented. A call that is refused there, or is only answered once the program's thread has gone
// on, shows that it does not; from then on they are made on the caller's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <cupti.h>

#include "analysis/base/mutex.h"
#include "collector/cupti/patience.h"

namespace gable {

// While one lives, its thread is within the driver's start. That loads libraries itself, so this
// thread may wait for the loader. Helpers may not: a library whose constructor starts CUDA holds
// the loader's lock until we return. A call for which a helper waits in vain is made right here.
class WithinDriverStart {
 public:
  WithinDriverStart();
  ~WithinDriverStart();
  WithinDriverStart(const WithinDriverStart&) = delete;
  WithinDriverStart& operator=(const WithinDriverStart&) = delete;
};

class PatientCalls {
 public:
  // `name` of the thread, at most 15 letters; it begins with the first job.
  PatientCalls(std::shared_ptr<Patience> patience, const char* name);

  // What runs on the helper's thread, and what runs there after it where nobody waited to the end.
  struct Job {
    CUptiResult (*run)(void*) = nullptr;
    void (*late)(void*) = nullptr;  // may be null
    void* data = nullptr;
    std::shared_ptr<void> owner;  // keeps `data`
    bool after_loader = false;    // the helper passes the loader's lock first; make() sets it
  };
  // Runs the job with `context` current. std::nullopt: no answer in time. Allocates nothing.
  [[nodiscard]] std::optional<CUptiResult> make(CUcontext context, const Job& job);

  // The same for anything that returns a code. It may run on after that: it must own what it uses.
  [[nodiscard]] std::optional<CUptiResult> make(CUcontext context,
                                                std::function<CUptiResult()> call,
                                                std::function<void()> late = {});

  // A call that was given up has still not returned: CUPTI is to be left alone.
  [[nodiscard]] bool stuck() const { return patience_->stuck(); }
  // The helper's thread is not the one for such calls; see above.
  void use_callers_thread();
  [[nodiscard]] bool on_callers_thread() const;

 private:
  // Shared with the helper, which outlives everything.
  struct Shared {
    explicit Shared(std::shared_ptr<Patience> of_process) : patience(std::move(of_process)) {}
    const std::shared_ptr<Patience> patience;
    CallMark mark;
    std::atomic<std::uint32_t> asked{0}, done{0};  // jobs; for those who look before they wait
    Mutex mutex;                                   // never held while CUPTI is called
    Condition wanted, changed;
    Job job GABLE_GUARDED_BY(mutex);
    CUcontext context GABLE_GUARDED_BY(mutex) = nullptr;
    bool has_job GABLE_GUARDED_BY(mutex) = false;
    bool working GABLE_GUARDED_BY(mutex) = false;
    bool taken GABLE_GUARDED_BY(mutex) = false;  // a caller waits for the answer
    bool given_up GABLE_GUARDED_BY(mutex) = false;
    Patience::Milliseconds waited GABLE_GUARDED_BY(mutex){};  // for what was given up
    bool past_loader GABLE_GUARDED_BY(mutex) = false;
    bool overtaken GABLE_GUARDED_BY(mutex) = false;  // while the helper waited for the loader
    bool own GABLE_GUARDED_BY(mutex) = false;
    bool idle GABLE_GUARDED_BY(mutex) = false;  // the context's work is done
    CUptiResult answer GABLE_GUARDED_BY(mutex) = CUPTI_SUCCESS;
  };
  static void run(Shared& shared);
  void start_helper() GABLE_REQUIRES(shared_->mutex);
  // The loader keeps the helper from the call, which will not be made there any more.
  bool overtake(UniqueLock& hold) GABLE_REQUIRES(shared_->mutex);
  // The caller has its turn, or (false) CUPTI hangs meanwhile.
  bool take_turn(UniqueLock& hold) GABLE_REQUIRES(shared_->mutex);
  bool answered(UniqueLock& hold, Patience::Milliseconds& waited) GABLE_REQUIRES(shared_->mutex);
  bool answered_late(UniqueLock& hold) GABLE_REQUIRES(shared_->mutex);

  const std::shared_ptr<Patience> patience_;
  const std::shared_ptr<Shared> shared_;
  const char* const name_;
  bool started_ GABLE_GUARDED_BY(shared_->mutex) = false;
};

}  // namespace gable
