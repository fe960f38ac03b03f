// SPDX-License-Identifier: Apache-2.0
#include "collector/torch_seen.h"

#include <atomic>

#include "collector/loaded_objects.h"

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
  if (!is_loaded("libtorch_cpu.so")) return;
  rt.notes.record(
      "PyTorch ran without Gable's Python side, so its modules are no layers: it is not there "
      "under "
      "python -I, -E or -S, in a program that is not Python, or without the PYTHONPATH that gable "
      "profile and gable env set.");
}

}  // namespace gable
