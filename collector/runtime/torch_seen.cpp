// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/torch_seen.h"

#include <atomic>
#include <string>

#include "collector/process/loaded_objects.h"

namespace gable {
namespace {

std::atomic<const char*> g_reason{"nothing brought it there."};

}  // namespace

void modules_are_followed(Runtime& rt) {
  rt.hot.copies.store(rt.layers.child(0, "copies", Direction::none), std::memory_order_relaxed);
}

bool modules_followed(const Runtime& rt) {
  return rt.hot.copies.load(std::memory_order_relaxed) != 0;
}

void modules_missing_because(const char* reason) {
  g_reason.store(reason, std::memory_order_relaxed);
}

void note_missing_modules(Runtime& rt) {
  if (rt.settings.layers == ModuleLayers::off || modules_followed(rt)) return;
  if (!is_loaded("libtorch_cpu.so")) return;
  rt.notes.record(
      std::string("PyTorch ran without Gable's Python side, so its modules are not layers: ") +
      g_reason.load(std::memory_order_relaxed));
}

}  // namespace gable
