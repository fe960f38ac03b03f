// SPDX-License-Identifier: Apache-2.0
// Locks that clang checks (-Wthread-safety): what a mutex guards is annotated, and using it without
// the lock fails scripts/lint.sh. libstdc++'s mutex has no annotations, so these classes wrap it;
// every call is inlined, and a thread counts the locks it holds. Other compilers see no
// annotations.
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "analysis/base/held_locks.h"
#include "analysis/base/no_cancel.h"

#ifdef __clang__
#define GABLE_THREAD_ANNOTATION(words) __attribute__((words))
#else
#define GABLE_THREAD_ANNOTATION(words)
#endif

// Annotates a member that is only read or written with the mutex held.
#define GABLE_GUARDED_BY(mutex) GABLE_THREAD_ANNOTATION(guarded_by(mutex))
// The same for what a pointer points to.
#define GABLE_PT_GUARDED_BY(mutex) GABLE_THREAD_ANNOTATION(pt_guarded_by(mutex))
// Annotate a function that is called with the mutex held, or without it.
#define GABLE_REQUIRES(...) GABLE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define GABLE_EXCLUDES(...) GABLE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// Annotates a function that returns the mutex.
#define GABLE_RETURN_CAPABILITY(mutex) GABLE_THREAD_ANNOTATION(lock_returned(mutex))
#define GABLE_CAPABILITY(name) GABLE_THREAD_ANNOTATION(capability(name))
#define GABLE_SCOPED_CAPABILITY GABLE_THREAD_ANNOTATION(scoped_lockable)
#define GABLE_ACQUIRE(...) GABLE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define GABLE_ACQUIRE_SHARED(...) GABLE_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define GABLE_RELEASE(...) GABLE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define GABLE_RELEASE_ANY(...) GABLE_THREAD_ANNOTATION(release_generic_capability(__VA_ARGS__))
#define GABLE_TRY_ACQUIRE(...) GABLE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define GABLE_ASSERT_HELD(...) GABLE_THREAD_ANNOTATION(assert_capability(__VA_ARGS__))
#define GABLE_NO_THREAD_SAFETY_ANALYSIS GABLE_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace gable {

class GABLE_CAPABILITY("mutex") Mutex {
 public:
  void lock() GABLE_ACQUIRE() {
    takes_lock();
    mutex_.lock();
  }
  void unlock() GABLE_RELEASE() {
    mutex_.unlock();
    gave_lock();
  }
  [[nodiscard]] bool try_lock() GABLE_TRY_ACQUIRE(true) {
    takes_lock();
    const bool got = mutex_.try_lock();
    if (!got) gave_lock();
    return got;
  }
  // Tells the compiler of a lock it cannot follow: one that was tried for or is held around a
  // callback.
  void assert_held() const GABLE_ASSERT_HELD(this) {}

 private:
  friend class UniqueLock;
  std::mutex mutex_;
};

class GABLE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) GABLE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() GABLE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Takes the mutex for the rest of the block if it is free. Check first: `if (!lock.held())
// return;`.
class TryLock {
 public:
  explicit TryLock(Mutex& mutex) GABLE_NO_THREAD_SAFETY_ANALYSIS : mutex_(mutex),
                                                                   held_(mutex.try_lock()) {}
  ~TryLock() GABLE_NO_THREAD_SAFETY_ANALYSIS {
    if (held_) mutex_.unlock();
  }
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  Mutex& mutex_;
  const bool held_;
};

// A lock that can be released and taken again, and used to wait.
class GABLE_SCOPED_CAPABILITY UniqueLock {
 public:
  explicit UniqueLock(Mutex& mutex) GABLE_ACQUIRE(mutex) : lock_(mutex.mutex_, std::defer_lock) {
    lock();
  }
  ~UniqueLock() GABLE_RELEASE() {
    if (lock_.owns_lock()) unlock();
  }
  UniqueLock(const UniqueLock&) = delete;
  UniqueLock& operator=(const UniqueLock&) = delete;
  void lock() GABLE_ACQUIRE() {
    takes_lock();
    lock_.lock();
  }
  void unlock() GABLE_RELEASE() {
    lock_.unlock();
    gave_lock();
  }

 private:
  friend class Condition;
  std::unique_lock<std::mutex> lock_;
};

// A condition variable, whose waits no pthread_cancel ends. Its predicate runs with the lock held:
// annotate the lambda with GABLE_REQUIRES(the mutex).
class Condition {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }
  template <typename Until>
  void wait(UniqueLock& lock, Until until) GABLE_NO_THREAD_SAFETY_ANALYSIS {
    const NoCancel hold;
    condition_.wait(lock.lock_, until);
  }
  template <typename Duration, typename Until>
  bool wait_for(UniqueLock& lock, Duration patience, Until until) GABLE_NO_THREAD_SAFETY_ANALYSIS {
    const NoCancel hold;
    return condition_.wait_for(lock.lock_, patience, until);
  }

 private:
  std::condition_variable condition_;
};

class GABLE_CAPABILITY("shared mutex") SharedMutex {
 public:
  void lock() GABLE_ACQUIRE() {
    takes_lock();
    mutex_.lock();
  }
  void unlock() GABLE_RELEASE() {
    mutex_.unlock();
    gave_lock();
  }
  void lock_shared() GABLE_ACQUIRE_SHARED() {
    takes_lock();
    mutex_.lock_shared();
  }
  void unlock_shared() GABLE_THREAD_ANNOTATION(release_shared_capability()) {
    mutex_.unlock_shared();
    gave_lock();
  }

 private:
  std::shared_mutex mutex_;
};

class GABLE_SCOPED_CAPABILITY WriteLock {
 public:
  explicit WriteLock(SharedMutex& mutex) GABLE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriteLock() GABLE_RELEASE() { mutex_.unlock(); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class GABLE_SCOPED_CAPABILITY ReadLock {
 public:
  explicit ReadLock(SharedMutex& mutex) GABLE_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReadLock() GABLE_RELEASE_ANY() { mutex_.unlock_shared(); }
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace gable
