// SPDX-License-Identifier: Apache-2.0
// How many of Gable's locks a thread holds. A signal that ends the program finds a thread anywhere:
// one that holds a lock goes on until it holds none and waits there, as the thread that writes the
// report may need that very lock.
#pragma once

#include <cstdint>
#include <utility>

namespace gable {

struct HeldLocks {
  std::uint32_t count = 0;
  int signal = 0;               // one that waits until no lock is held
  void (*wait)(int) = nullptr;  // what the thread does then; it may return
};
extern constinit thread_local HeldLocks t_held_locks
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

inline void takes_lock() noexcept { ++t_held_locks.count; }
inline void gave_lock() noexcept {
  auto& held = t_held_locks;
  if (--held.count == 0 && held.signal != 0) [[unlikely]]
    held.wait(std::exchange(held.signal, 0));
}

// For what is as good as a lock: others wait until this thread gives it back.
class CountsAsLock {
 public:
  CountsAsLock() noexcept { takes_lock(); }
  ~CountsAsLock() { gave_lock(); }
  CountsAsLock(const CountsAsLock&) = delete;
  CountsAsLock& operator=(const CountsAsLock&) = delete;
};

// In a signal handler. True: this thread holds a lock, the handler is to return at once, and
// `wait` is called when the last lock was given back.
[[nodiscard]] inline bool waits_for_locks(int signal, void (*wait)(int)) noexcept {
  auto& held = t_held_locks;
  if (held.count == 0) return false;
  held.wait = wait;
  held.signal = signal;
  return true;
}

}  // namespace gable
