// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/patient_calls.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "collector/cupti/current_context.h"
#include "collector/process/own_thread.h"

namespace gable {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;

// A push or a pop takes about a microsecond: whoever waits looks for some before it sleeps.
constexpr int kLooks = 400;
constexpr std::chrono::milliseconds kLookAgain{100};  // whether another call was begun

// How long the loader may keep a helper from a call of the driver's start.
constexpr std::chrono::milliseconds kLoaderPatience{500};

// Static model: no lock and no allocation on a thread's first use.
thread_local int t_within_start __attribute__((tls_model("initial-exec"))) = 0;

// Waits until no other thread holds the loader's lock. glibc takes it for every address.
void pass_loader() {
  Dl_info nothing{};
  static_cast<void>(dladdr(nullptr, &nothing));
}

template <typename Until>
bool look_for(Until until) {
  for (int i = 0; i < kLooks; ++i) {
    if (until()) return true;
    if (i % 64 == 63) std::this_thread::yield();
  }
  return false;
}

struct Held {
  std::function<CUptiResult()> call;
  std::function<void()> late;
};

}  // namespace

WithinDriverStart::WithinDriverStart() { ++t_within_start; }
WithinDriverStart::~WithinDriverStart() { --t_within_start; }

PatientCalls::PatientCalls(std::shared_ptr<Patience> patience, const char* name)
    : patience_(std::move(patience)), shared_(std::make_shared<Shared>(patience_)), name_(name) {}

void PatientCalls::run(Shared& shared) {
  be_own_thread();
  detail::call_mark() = &shared.mark;
  for (std::uint32_t next = 1;; ++next) {
    look_for([&] { return shared.asked.load(std::memory_order_acquire) >= next; });
    UniqueLock hold(shared.mutex);
    shared.wanted.wait(hold, [&]() GABLE_REQUIRES(shared.mutex) { return shared.has_job; });
    if (shared.job.after_loader) {
      hold.unlock();
      pass_loader();
      hold.lock();
      if (std::exchange(shared.overtaken, false)) {
        shared.patience->behind_loader.fetch_sub(1, std::memory_order_release);
        continue;  // a later one is counted, too
      }
      shared.past_loader = true;
      shared.changed.notify_all();
    }
    const Job job = std::exchange(shared.job, {});
    const auto context = shared.context;
    shared.has_job = false;
    hold.unlock();
    CUptiResult answer = CUPTI_SUCCESS;
    {
      const CurrentContext current(context);
      answer = job.run(job.data);
    }
    hold.lock();
    // It hung only as long as the program's thread waited: there it would have been answered.
    const bool late = shared.given_up;
    if (late && job.late != nullptr) {
      hold.unlock();
      {
        const CurrentContext current(context);
        job.late(job.data);
      }
      hold.lock();
    }
    shared.answer = answer;
    shared.working = false;
    if (late) {
      shared.own = true;
      shared.given_up = shared.taken = false;
      shared.patience->returned(shared.waited);
    }
    shared.done.fetch_add(1, std::memory_order_release);
    shared.changed.notify_all();
  }
}

void PatientCalls::start_helper() {
  if (started_ || shared_->own) return;
  started_ = start_own_thread(name_, [shared = shared_] { run(*shared); });
  if (!started_) shared_->own = true;
}

bool PatientCalls::take_turn(UniqueLock& hold) {
  const auto free = [this]() GABLE_REQUIRES(shared_->mutex) {
    return !shared_->taken || patience_->stuck();
  };
  return shared_->changed.wait_for(hold, Patience::kPatience + Patience::kMorePatience, free) &&
         !patience_->stuck();
}

std::optional<CUptiResult> PatientCalls::make(CUcontext context, const Job& job) {
  // This is a helper thread: somebody waits for it, or it may hang alone.
  if (detail::call_mark() != nullptr) return job.run(job.data);
  const CountsAsLock turn;  // the thread that writes the report waits for it
  UniqueLock hold(shared_->mutex);
  if (!take_turn(hold)) return std::nullopt;
  start_helper();
  const bool within_start = t_within_start > 0;
  if (shared_->own || (within_start && patience_->behind_loader.load() > 0)) {
    hold.unlock();
    const CurrentContext current(context);
    return job.run(job.data);
  }
  shared_->job = job;
  shared_->job.after_loader = within_start;
  shared_->past_loader = false;
  shared_->context = context;
  shared_->has_job = shared_->working = shared_->taken = true;
  const auto number = shared_->asked.fetch_add(1, std::memory_order_release) + 1;
  shared_->wanted.notify_one();
  hold.unlock();
  look_for([&] { return shared_->done.load(std::memory_order_acquire) >= number; });
  hold.lock();
  if (within_start && overtake(hold)) {
    hold.unlock();
    const CurrentContext current(context);
    const auto answer = job.run(job.data);
    hold.lock();
    shared_->taken = false;
    shared_->changed.notify_all();
    return answer;
  }
  Patience::Milliseconds waited{};
  if (!answered(hold, waited)) {
    shared_->given_up = true;
    shared_->waited = waited;
    hold.unlock();
    patience_->give_up(shared_->mark.name.load(std::memory_order_relaxed), waited);
    shared_->changed.notify_all();
    return std::nullopt;
  }
  const auto answer = shared_->answer;
  shared_->taken = false;
  shared_->changed.notify_one();
  return answer;
}

bool PatientCalls::overtake(UniqueLock& hold) {
  const auto past = [this]() GABLE_REQUIRES(shared_->mutex) {
    return shared_->past_loader || !shared_->working;
  };
  if (shared_->changed.wait_for(hold, kLoaderPatience, past)) return false;
  shared_->job = {};
  shared_->has_job = shared_->working = false;
  shared_->overtaken = true;
  shared_->done.fetch_add(1, std::memory_order_release);
  patience_->behind_loader.fetch_add(1);
  return true;
}

std::optional<CUptiResult> PatientCalls::make(CUcontext context, std::function<CUptiResult()> call,
                                              std::function<void()> late) {
  const auto held = std::make_shared<Held>(Held{std::move(call), std::move(late)});
  const auto run = [](void* data) { return static_cast<Held*>(data)->call(); };
  const auto after = [](void* data) {
    if (const auto& then = static_cast<Held*>(data)->late) then();
  };
  return make(context, Job{run, after, held.get(), held});
}

// Every call of the job has its own time, and so has what comes between two.
bool PatientCalls::answered(UniqueLock& hold, Patience::Milliseconds& waited) {
  const auto done = [this]() GABLE_REQUIRES(shared_->mutex) { return !shared_->working; };
  auto since = Clock::now();
  for (auto calls = shared_->mark.calls.load();;) {
    const auto patience = patience_->left();
    const Clock::duration rest = since + patience - Clock::now();
    if (shared_->changed.wait_for(hold, std::clamp<Clock::duration>(rest, {}, kLookAgain), done))
      return true;
    if (const auto now = shared_->mark.calls.load(); now != calls) {
      calls = now;
      since = Clock::now();
    }
    if (Clock::now() < since + patience) continue;
    if (shared_->context != nullptr && patience.count() > 0 && answered_late(hold)) return true;
    if (!shared_->working) return true;
    // The time that the GPU worked meanwhile is not charged to CUPTI.
    waited = std::min(duration_cast<Patience::Milliseconds>(Clock::now() - since),
                      Patience::kPatience + Patience::kMorePatience);
    return false;
  }
}

// The GPU may be busy for long, which is no fault of CUPTI's.
bool PatientCalls::answered_late(UniqueLock& hold) {
  shared_->idle = false;
  const bool waiting =
      start_own_thread("gable-waiter", [shared = shared_, context = shared_->context] {
        be_own_thread();
        const CurrentContext current(context);
        wait_for_current_context();
        const MutexLock done(shared->mutex);
        shared->idle = true;
        shared->changed.notify_all();
      });
  shared_->changed.wait_for(
      hold, waiting ? Patience::kWorkPatience : Patience::kMorePatience,
      [this]() GABLE_REQUIRES(shared_->mutex) { return shared_->idle || !shared_->working; });
  return shared_->changed.wait_for(
      hold, Patience::kMorePatience,
      [this]() GABLE_REQUIRES(shared_->mutex) { return !shared_->working; });
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
