// SPDX-License-Identifier: Apache-2.0
#include "collector/torch_seen.h"

#include <dlfcn.h>

#include <atomic>

namespace gable {
namespace {

std::atomic<bool> g_followed{false};

}  // namespace

void modules_are_followed(Runtime& rt) {
  g_followed.store(true, std::memory_order_relaxed);
  rt.hot.copies.store(rt.layers.child(0, "copies", Direction::none), std::memory_order_relaxed);
}

void note_missing_modules(Runtime& rt) {
  if (rt.settings.layers != "auto" || g_followed.load(std::memory_order_relaxed)) return;
  void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (torch == nullptr) return;
  dlclose(torch);
  rt.notes.record(
      "PyTorch ran without Gable's Python side, so its modules are no layers: it is not there "
      "under "
      "python -I, -E or -S, in a program that is not Python, or without the PYTHONPATH that gable "
      "profile and gable env set.");
}

}  // namespace gable
