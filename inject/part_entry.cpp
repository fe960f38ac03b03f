// SPDX-License-Identifier: Apache-2.0
// What the code that launches a compiled region's kernels calls before each of them, while layers
// are wanted: a function of Python in C, because it is called as often as kernels are launched.
// Nothing of Python is linked; the Python side hands over what is needed.
#include <cstddef>
#include <cstdint>
#include <exception>

#include "collector/runtime/range_calls.h"
#include "inject/names.h"

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

namespace {

struct PythonSide {
  long (*number_of)(void*) = nullptr;
  void (*take)(void*) = nullptr;
  void* none = nullptr;
};
PythonSide g_python;  // written before any code calls the function

}  // namespace

// (number): what is false where the part has to be named, or nobody looks any more; else true.
// 0 ends the part that is open.
extern "C" {
static void* gable_part(void* /*self*/, void* number) {
  const long token = g_python.number_of(number);
  bool open = false;
  if (gable::ranges_active() && token >= 0) {
    try {
      if (token == 0)
        gable::end_part();
      else
        open = gable::open_part(static_cast<gable::ModuleToken>(token)) > 0;
    } catch (const std::exception&) {
      open = true;  // out of memory: these kernels are the region's
    }
  }
  void* const answer = open ? number : g_python.none;
  g_python.take(answer);
  return answer;
}
}

// The function above; its members are PyLong_AsLong, Py_IncRef and None.
GABLE_ENTRY void* gable_part_function(long (*number_of)(void*), void (*take)(void*), void* none) {
  g_python = {number_of, take, none};
  return reinterpret_cast<void*>(&gable_part);
}

// Names a part and opens it, as name_part() says; `names` are separated by the byte 0x1f, and so
// are the modules in `fused`, of which each is a name, 0x1e and a class. Negative: nobody looks any
// more.
GABLE_ENTRY int gable_part_name(std::uint64_t token, const char* names, std::size_t modules,
                                int within, const char* fused) {
  if (!gable::ranges_active()) return -1;
  try {
    return gable::name_part(token, gable::names_in(names), modules, within != 0,
                            gable::modules_in(fused));
  } catch (const std::exception&) {
    return 0;
  }
}
