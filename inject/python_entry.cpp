// SPDX-License-Identifier: Apache-2.0
// What CPython calls as builtin functions of its own, which takes a tenth of a call through ctypes.
// Nothing of Python is linked: the Python side hands over the addresses of the three functions that
// are needed, all of its stable ABI. They are called with the interpreter's lock held, as all
// builtins are.
#include <cstdint>

#include "collector/runtime/range_calls.h"

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

extern "C" int gable_module_open(std::uint64_t token);
extern "C" int gable_close(int depth);

namespace {

struct Python {
  void* (*int_of)(long) = nullptr;     // PyLong_FromLong
  long (*number_of)(void*) = nullptr;  // PyLong_AsLong
  void* (*bool_of)(long) = nullptr;    // PyBool_FromLong
};
Python g_python;

}  // namespace

// Before the first call of those below.
GABLE_ENTRY void gable_python(void* (*int_of)(long), long (*number_of)(void*),
                              void* (*bool_of)(long)) {
  g_python = {int_of, number_of, bool_of};
}

// As gable_module_open, and 0 also for an outermost module. A module's token is its address.
GABLE_ENTRY void* gable_builtin_open(void*, void* module) {
  int depth = -1;
  if (gable::ranges_active())
    depth = gable::open_module_at(0) == 0
                ? 0
                : gable_module_open(reinterpret_cast<std::uintptr_t>(module));
  return g_python.int_of(depth);
}

// As gable_close.
GABLE_ENTRY void* gable_builtin_close(void*, void* depth) {
  return g_python.bool_of(gable_close(static_cast<int>(g_python.number_of(depth))));
}
