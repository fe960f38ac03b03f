// SPDX-License-Identifier: Apache-2.0
// The layers of PyTorch's modules. The Python side knows a module by a token (its address while it
// lives) and names it once for each layer it is called in; from then on a call is one look-up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/events/events.h"

namespace gable {

using ModuleToken = std::uint64_t;  // 0 is none

// Where a module's kernels go when it is called in some layer.
struct ModulePlace {
  LayerId layer = 0;
  std::uint32_t levels = 0;  // names below the parent; 0: a wrapper, which is no layer of its own
};

// One thread's cache of places; only that thread uses it.
struct ThreadModules {
  struct Slot {
    ModuleToken token = 0;
    LayerId parent = 0;
    std::uint32_t epoch = 0;
    ModulePlace place;
  };
  static constexpr std::size_t kSlots = 2048;
  std::vector<Slot> slots;  // empty until the first module
};

// Safe on any thread.
class ModuleTable {
 public:
  // nullopt: the module has to be named first.
  [[nodiscard]] std::optional<ModulePlace> find(ThreadModules& thread, LayerId parent,
                                                ModuleToken token) const;
  void add(LayerId parent, ModuleToken token, const ModulePlace& place);
  // Forgets a destroyed module, whose token may be reused.
  void forget(ModuleToken token);
  // The layer that a module was called in last, on whatever thread; 0 when it is not known.
  [[nodiscard]] LayerId last_layer(ModuleToken token) const;

 private:
  struct Known {
    std::unordered_map<LayerId, ModulePlace> by_parent;
    LayerId last = 0;
  };
  mutable Mutex mutex_;
  std::unordered_map<ModuleToken, Known> modules_ GABLE_GUARDED_BY(mutex_);
  std::atomic<std::uint32_t> epoch_{1};  // incremented when a module goes: caches are emptied
};

}  // namespace gable
