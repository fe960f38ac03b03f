// SPDX-License-Identifier: Apache-2.0
// Stands in front of torch.nn.Module.__call__, which stays PyTorch's own function: CPython calls a
// function through a pointer that every function object has (its vectorcall), and that pointer is
// ours while layers are wanted. So the program's tracebacks show no frame of Gable's, inspect,
// pickle and torch.compile see nothing, and nothing is left when the queue is complete. A store of
// one word puts either in its place, with the interpreter's lock or without.
//
// Nothing of Python is linked: the Python side hands over what is needed, most of it of the stable
// ABI. All functions here that take objects are called with the interpreter's lock held.
#include "inject/module_calls.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/runtime/range_calls.h"

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

extern "C" int gable_module_open(std::uint64_t token);
extern "C" std::uint64_t gable_module_at(int level);
extern "C" int gable_close(int depth);

namespace {

// The top bit of `count` says that the word before the arguments may be written to.
using Call = void* (*)(void* function, void* const* arguments, std::size_t count, void* names);
constexpr std::size_t kWordBefore = ~(~std::size_t{0} >> 1);
constexpr int kBitsOfDepth = 32;
constexpr long kRunsLater = -1;  // as in _modules.py

}  // namespace

// Members in the order of _slot.py. Functions of Gable's own are plain functions of Python.
struct GableModuleCalls {
  Call* slot;  // of torch.nn.Module.__call__
  void* function;
  void* inner;       // torch.nn.Module._call_impl
  Call* inner_slot;  // null where CPython always goes through the first one
  Call call;         // what a function of Python has there
  long (*number_of)(void*);
  void (*take)(void*);
  void (*release)(void*);
  void (*fetch_error)(void** kind, void** value, void** traceback);
  void (*restore_error)(void* kind, void* value, void* traceback);
  void (*set_call)(void* function, Call call);  // null before CPython 3.12
  void* begin_anew;                             // (): the first call since modules are followed
  void* open_first;       // (module, ...): of an outermost module or one without a name
  void* run_later;        // (module, what its call has made): what the program gets instead
  void* describe;         // (module, ...): before the call, while the model is described
  void* described;        // (what that returned[, the call's result]): after it
  void* outermost_ended;  // (module)
};

namespace {

GableModuleCalls g_calls;
std::atomic<Call*> g_slot{nullptr};
std::atomic<bool> g_anew{false};
thread_local void* t_entered = nullptr;  // a module whose _call_impl is about to be called

Call call_of_python() { return g_calls.call; }

// An error that is on its way to the program.
struct Error {
  void *kind = nullptr, *value = nullptr, *traceback = nullptr;
  void fetch() { g_calls.fetch_error(&kind, &value, &traceback); }
  void restore() const { g_calls.restore_error(kind, value, traceback); }
  void drop() const {
    for (void* part : {kind, value, traceback}) {
      if (part != nullptr) g_calls.release(part);
    }
  }
};

// A function of Gable's Python side. False: it was interrupted, and that is the program's.
bool ask(void* function, void* const* arguments, std::size_t count, void* names, long* answer) {
  void* result = call_of_python()(function, arguments, count, names);
  if (result == nullptr) return false;
  if (answer != nullptr) *answer = g_calls.number_of(result);
  g_calls.release(result);
  return true;
}

void* call_followed(void* function, void* const* arguments, std::size_t count, void* names);
void* inner_followed(void* function, void* const* arguments, std::size_t count, void* names);

void put(Call outer, Call inner) {
  __atomic_store_n(g_slot.load(std::memory_order_acquire), outer, __ATOMIC_SEQ_CST);
  if (g_calls.inner_slot != nullptr) __atomic_store_n(g_calls.inner_slot, inner, __ATOMIC_SEQ_CST);
}

// The queue may open again on another thread at this very moment, which says so before it writes
// the pointers. All is in one order, so either this sees it, or the pointers that stay are that
// thread's.
void leave() {
  put(call_of_python(), call_of_python());
  if (gable::detail::ranges_active.load()) put(&call_followed, &inner_followed);
}

void follow_again() {
  if (g_slot.load(std::memory_order_acquire) == nullptr) return;
  g_anew.store(true, std::memory_order_release);
  put(&call_followed, &inner_followed);
}

// After a call, whose error, if it has one, goes on. False: this was interrupted instead.
bool ask_after(void* function, void* const* arguments, std::size_t count, bool failed) {
  Error error;
  if (failed) error.fetch();
  const bool asked = ask(function, arguments, count, nullptr, nullptr);
  if (failed && asked) error.restore();
  if (failed && !asked) error.drop();
  return asked;
}

// The call itself, between two of Python's functions that look at it. Neither is on the program's
// stack meanwhile.
void* call_described(void* function, void* const* arguments, std::size_t count, void* names,
                     void* entered) {
  const std::size_t positional = count & ~kWordBefore;
  void* begun = call_of_python()(g_calls.describe, arguments, positional, names);
  if (begun == nullptr) return nullptr;
  t_entered = entered;
  void* result = call_of_python()(function, arguments, count, names);
  void* const seen[] = {begun, result};
  if (!ask_after(g_calls.described, seen, result == nullptr ? 1 : 2, result == nullptr)) {
    if (result != nullptr) g_calls.release(result);
    result = nullptr;
  }
  g_calls.release(begun);
  return result;
}

// The call of a module whose forward is a generator or a coroutine, which is only made by it.
void* call_made(void* function, void* const* arguments, std::size_t count, void* names,
                bool is_outer) {
  t_entered = is_outer ? arguments[0] : nullptr;
  void* const made = call_of_python()(function, arguments, count, names);
  t_entered = nullptr;
  if (made == nullptr) return nullptr;
  void* const both[] = {arguments[0], made};
  void* const followed = call_of_python()(g_calls.run_later, both, 2, nullptr);
  g_calls.release(made);
  return followed;
}

// `is_outer`: _call_impl of the same module comes within it, and is no call of its own.
void* follow(void* function, void* const* arguments, std::size_t count, void* names,
             bool is_outer) {
  const std::size_t positional = count & ~kWordBefore;
  if (!gable::ranges_active()) leave();
  if (!gable::ranges_active() || positional == 0)
    return call_of_python()(function, arguments, count, names);
  void* module = arguments[0];
  int depth = 0, around = 0;
  if (gable_module_at(0) != 0) depth = gable_module_open(reinterpret_cast<std::uintptr_t>(module));
  if (depth == 0) {
    long opened = 0;
    if (g_anew.exchange(false, std::memory_order_acq_rel) &&
        !ask(g_calls.begin_anew, nullptr, 0, nullptr, nullptr))
      return nullptr;
    if (!ask(g_calls.open_first, arguments, positional, names, &opened)) return nullptr;
    if (opened == kRunsLater) return call_made(function, arguments, count, names, is_outer);
    depth = static_cast<int>(opened & 0x7fffffff);
    around = static_cast<int>(opened >> kBitsOfDepth);
  }
  void* const entered = is_outer ? module : nullptr;
  void* result = nullptr;
  if (gable::detail::model_is_described.load(std::memory_order_relaxed)) {
    result = call_described(function, arguments, count, names, entered);
  } else {
    t_entered = entered;
    result = call_of_python()(function, arguments, count, names);
  }
  t_entered = nullptr;
  const bool outermost = depth > 0 && gable_close(depth) != 0;
  if (around > 0) gable_close(around);
  if (outermost && !ask_after(g_calls.outermost_ended, &module, 1, result == nullptr)) {
    if (result != nullptr) g_calls.release(result);
    result = nullptr;
  }
  return result;
}

void* call_followed(void* function, void* const* arguments, std::size_t count, void* names) {
  return follow(function, arguments, count, names, true);
}

void* inner_followed(void* function, void* const* arguments, std::size_t count, void* names) {
  if ((count & ~kWordBefore) == 0 || t_entered != arguments[0])
    return follow(function, arguments, count, names, false);
  t_entered = nullptr;
  return call_of_python()(function, arguments, count, names);
}

}  // namespace

// Once in a process. From then on modules are followed, until all is measured.
GABLE_ENTRY void gable_modules_follow(const GableModuleCalls* calls) {
  g_calls = *calls;
  // For ever: a queue that opens while Python ends writes to the function too.
  for (void* kept :
       {g_calls.function, g_calls.inner, g_calls.begin_anew, g_calls.open_first, g_calls.run_later,
        g_calls.describe, g_calls.described, g_calls.outermost_ended})
    g_calls.take(kept);
  // CPython forgets what it knows of the function, so that its call sites look at the pointer.
  if (g_calls.set_call != nullptr) g_calls.set_call(g_calls.function, g_calls.call);
  g_slot.store(g_calls.slot, std::memory_order_release);
  gable::when_ranges_follow(follow_again);
  follow_again();
}
