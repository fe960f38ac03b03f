// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/module_table.h"

namespace gable {
namespace {

// A shared module that is called in ever new layers must not cost memory for ever.
constexpr std::size_t kMaxParents = 4096;

std::size_t place_of(ModuleToken token, LayerId parent) {
  const std::uint64_t mixed = (token ^ (std::uint64_t{parent} << 40)) * 0x9E3779B97F4A7C15ull;
  return static_cast<std::size_t>(mixed >> 40) & (ThreadModules::kSlots - 1);
}

}  // namespace

std::optional<ModulePlace> ModuleTable::find(ThreadModules& thread, LayerId parent,
                                             ModuleToken token) const {
  const auto epoch = epoch_.load(std::memory_order_acquire);
  if (thread.slots.empty()) thread.slots.resize(ThreadModules::kSlots);
  auto& slot = thread.slots[place_of(token, parent)];
  if (slot.token == token && slot.parent == parent && slot.epoch == epoch) return slot.place;
  const MutexLock hold(mutex_);
  const auto module = modules_.find(token);
  if (module == modules_.end()) return std::nullopt;
  const auto place = module->second.by_parent.find(parent);
  if (place == module->second.by_parent.end()) return std::nullopt;
  slot = {token, parent, epoch, place->second};
  return place->second;
}

void ModuleTable::add(LayerId parent, ModuleToken token, const ModulePlace& place) {
  const MutexLock hold(mutex_);
  auto& module = modules_[token];
  if (module.by_parent.size() >= kMaxParents) {
    module.by_parent.clear();
    epoch_.fetch_add(1, std::memory_order_release);
  }
  module.by_parent[parent] = place;
  module.last = place.layer;
}

void ModuleTable::forget(ModuleToken token) {
  const MutexLock hold(mutex_);
  if (modules_.erase(token) > 0) epoch_.fetch_add(1, std::memory_order_release);
}

LayerId ModuleTable::last_layer(ModuleToken token) const {
  const MutexLock hold(mutex_);
  const auto module = modules_.find(token);
  return module == modules_.end() ? 0 : module->second.last;
}

}  // namespace gable
