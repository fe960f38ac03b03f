// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/thread_state.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "collector/process/own_thread.h"

namespace gable {
namespace {

// Reached on every launch and NVTX call: the static TLS model spares a function call. One pointer
// fits into the surplus that the loader keeps for libraries opened at run time.
__attribute__((tls_model("initial-exec"))) thread_local ThreadState* t_state = nullptr;

std::atomic<ThreadRegistry*> g_registry{nullptr};
std::atomic<bool> g_main_seen{false};  // and has not ended since

// Made when the library is loaded: a process may be forked while a thread makes what another waits
// for.
const pthread_key_t g_exit_key = [] {
  pthread_key_t key{};
  pthread_key_create(&key, [](void* state) {
    t_state = nullptr;
    if (static_cast<ThreadState*>(state)->ranges.is_main) g_main_seen.store(false);
    static_cast<ThreadState*>(state)->taken.store(false, std::memory_order_release);
  });
  return key;
}();

// Runs before any of Gable's threads starts.
[[maybe_unused]] const bool g_marks_own_threads = [] {
  mark_own_threads_with([] {
    auto& thread = this_thread();
    thread.busy = true;
    thread.ours.store(true, std::memory_order_relaxed);
  });
  return true;
}();

bool is_main_thread() { return static_cast<pid_t>(syscall(SYS_gettid)) == getpid(); }

}  // namespace

ThreadState& this_thread() {
  if (t_state == nullptr) {
    t_state = ThreadRegistry::instance().acquire();
    pthread_setspecific(g_exit_key, t_state);
    if (t_state->ranges.is_main) g_main_seen.store(true);
  }
  return *t_state;
}

// For who has seen that it is gone.
bool main_thread_vanished() { return g_main_seen.load(); }

ThreadRegistry& ThreadRegistry::instance() {
  auto* existing = g_registry.load(std::memory_order_acquire);
  if (existing != nullptr) return *existing;
  auto* fresh = new ThreadRegistry;
  if (g_registry.compare_exchange_strong(existing, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *existing;
}

void ThreadRegistry::forget_in_child() {
  t_state = nullptr;
  g_main_seen.store(false);
  g_registry.store(nullptr, std::memory_order_release);
}

ThreadState* ThreadRegistry::acquire() {
  const MutexLock hold(mutex_);
  for (auto& state : states_) {
    bool free = false;
    if (state->taken.compare_exchange_strong(free, true, std::memory_order_acq_rel)) {
      state->ranges = ThreadRanges{};
      state->ranges.is_main = is_main_thread();
      state->functions.fill({});
      state->context = {};
      state->capture = {};
      state->nodes.start_anew();
      state->backward = {};
      state->wait = {};
      state->call = {};
      state->number = ++threads_;
      state->steps = {};
      state->busy = state->in_window_launch = false;
      state->ours.store(false, std::memory_order_relaxed);
      return state.get();
    }
  }
  states_.push_back(std::make_unique<ThreadState>());
  states_.back()->ranges.is_main = is_main_thread();
  states_.back()->number = ++threads_;
  return states_.back().get();
}

std::size_t ThreadRegistry::size() {
  const MutexLock hold(mutex_);
  return static_cast<std::size_t>(std::count_if(
      states_.begin(), states_.end(),
      [](const auto& state) { return !state->ours.load(std::memory_order_relaxed); }));
}

ThreadState* ThreadRegistry::at(std::size_t index) {
  const MutexLock hold(mutex_);
  return index < states_.size() ? states_[index].get() : nullptr;
}

}  // namespace gable
