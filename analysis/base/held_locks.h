// SPDX-License-Identifier: Apache-2.0
// How many of Gable's locks a thread holds. A signal that ends the program may hit a thread
// anywhere: if it holds a lock, it continues until it holds none and waits there, because the
// thread that writes the report may need that lock.
#pragma once

#include <cstdint>
#include <utility>

namespace gable {

struct HeldLocks {
  std::uint32_t count = 0;
  int signal = 0;               // a signal that waits until no lock is held
  void (*wait)(int) = nullptr;  // called then; it may return
};
extern constinit thread_local HeldLocks t_held_locks
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

inline void takes_lock() noexcept { ++t_held_locks.count; }
inline void gave_lock() noexcept {
  auto& held = t_held_locks;
  if (--held.count == 0 && held.signal != 0) [[unlikely]]
    held.wait(std::exchange(held.signal, 0));
}

// Counts something other than a mutex as a lock, because other threads wait for its release.
class CountsAsLock {
 public:
  CountsAsLock() noexcept { takes_lock(); }
  ~CountsAsLock() { gave_lock(); }
  CountsAsLock(const CountsAsLock&) = delete;
  CountsAsLock& operator=(const CountsAsLock&) = delete;
};

// Called in a signal handler. Returns true if this thread holds a lock: the handler must return at
// once, and `wait` is called when the last lock is released.
[[nodiscard]] inline bool waits_for_locks(int signal, void (*wait)(int)) noexcept {
  auto& held = t_held_locks;
  if (held.count == 0) return false;
  held.wait = wait;
  held.signal = signal;
  return true;
}

}  // namespace gable
