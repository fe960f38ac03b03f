// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/memory_rows.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace gable {
namespace {

constexpr std::size_t kMostPoints = 512;
constexpr std::size_t kMostHeld = 512;  // rows; each purpose has one more for the rest

class Memory {
 public:
  Memory(const Profile::State& state, const LayerRows& layers, const StepMemory& memory)
      : state_(state), layers_(layers), memory_(memory) {
    for (const LayerRow& row : layers.rows)
      if (row.device == memory.device && row.direction != Direction::backward)
        modules_.emplace(row.path, row.id);
  }

  MemoryOfStep run() {
    MemoryOfStep made;
    made.device = memory_.device;
    made.source = memory_.by_allocator ? MemorySource::allocator : MemorySource::tensors;
    made.begin = point(0);
    made.peak = point(memory_.peak);
    made.end = point(memory_.points.size() - 1);
    if (memory_.allocator_peak) made.allocator_peak = static_cast<double>(*memory_.allocator_peak);
    if (memory_.reserved) made.reserved = static_cast<double>(*memory_.reserved);
    add_timeline(made);
    add_held(made);
    return made;
  }

 private:
  // The row of the layer, or of the nearest one around it that has kernels.
  [[nodiscard]] std::optional<std::int64_t> row_of(LayerId layer) const {
    for (;; layer = state_.layers.node(layer).parent) {
      const auto found = layers_.ids.find({memory_.device, layer});
      if (found != layers_.ids.end()) return found->second;
      if (layer == 0) return std::nullopt;  // the root
    }
  }

  [[nodiscard]] MemoryOfStep::Point point(std::size_t place) const {
    const MemoryPoint& of = memory_.points[place];
    return {static_cast<std::int64_t>(place), row_of(of.layer), memory_.names[of.name],
            static_cast<double>(of.bytes)};
  }

  void add_timeline(MemoryOfStep& made) const {
    const std::size_t count = memory_.points.size(), stretches = std::min(kMostPoints, count);
    const auto place = [&](std::size_t stretch) { return stretch * count / stretches; };
    for (std::size_t i = 0; i < stretches; ++i) {
      std::size_t highest = place(i);
      for (std::size_t at = highest; at < place(i + 1); ++at)
        if (memory_.points[at].bytes > memory_.points[highest].bytes) highest = at;
      if (i == 0 && highest != 0) made.timeline.push_back(made.begin);
      made.timeline.push_back(point(highest));
    }
    if (made.timeline.back().at != made.end.at) made.timeline.push_back(made.end);
  }

  [[nodiscard]] HeldFor purpose(const HeldMemory& held) const {
    const bool backward = state_.layers.node(held.layer).direction == Direction::backward;
    switch (held.as) {
      case HeldAs::parameters:
        return HeldFor::parameters;
      case HeldAs::buffers:
        return HeldFor::buffers;
      case HeldAs::gradients:
        return HeldFor::gradients;
      case HeldAs::optimizer_state:
        return HeldFor::optimizer_state;
      case HeldAs::made:
        return backward ? HeldFor::backward : HeldFor::activations;
      case HeldAs::given:  // backward is given what was made outside of modules, for the loss say
        return backward ? HeldFor::activations : HeldFor::inputs;
    }
    return HeldFor::activations;
  }

  void add_held(MemoryOfStep& made) const {
    using Key = std::tuple<HeldFor, std::optional<std::int64_t>, std::vector<std::string>>;
    std::map<Key, MemoryOfStep::Held> rows;
    const auto add = [](MemoryOfStep::Held& to, double bytes, double tensors) {
      to.bytes += bytes;
      to.tensors += tensors;
    };
    for (const HeldMemory& each : memory_.held) {
      const HeldFor held_for = purpose(each);
      std::optional<std::int64_t> layer;
      std::vector<std::string> path = each.module;
      if (!path.empty()) {
        const auto module = modules_.find(path);
        if (module != modules_.end()) layer = module->second;
      } else if (each.as == HeldAs::made ||
                 (each.as == HeldAs::given && held_for == HeldFor::inputs)) {
        layer = row_of(each.layer);
        path = state_.layers.path(each.layer);
      }
      MemoryOfStep::Held& row = rows[{held_for, layer, path}];
      row.held_for = held_for;
      row.layer = layer;
      row.path = path;
      add(row, static_cast<double>(each.bytes), static_cast<double>(each.tensors));
    }
    for (auto& [key, row] : rows) made.held.push_back(std::move(row));
    std::stable_sort(made.held.begin(), made.held.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    if (made.held.size() <= kMostHeld) return;
    std::map<HeldFor, MemoryOfStep::Held> rest;
    for (std::size_t i = kMostHeld; i < made.held.size(); ++i) {
      MemoryOfStep::Held& row = rest[made.held[i].held_for];
      row.held_for = made.held[i].held_for;
      row.path = {"(others)"};
      add(row, made.held[i].bytes, made.held[i].tensors);
    }
    made.held.resize(kMostHeld);
    for (auto& [held_for, row] : rest) made.held.push_back(std::move(row));
  }

  const Profile::State& state_;
  const LayerRows& layers_;
  const StepMemory& memory_;
  std::map<std::vector<std::string>, std::int64_t> modules_;
};

}  // namespace

std::optional<MemoryOfStep> memory_rows(const Profile::State& state, const LayerRows& layers) {
  const StepMemory* highest = nullptr;
  const auto peak_of = [](const StepMemory& memory) { return memory.points[memory.peak].bytes; };
  for (const ModelDescription& model : state.models)
    if (model.memory && (highest == nullptr || peak_of(*model.memory) > peak_of(*highest)))
      highest = &*model.memory;
  if (highest == nullptr) return std::nullopt;
  return Memory(state, layers, *highest).run();
}

}  // namespace gable
