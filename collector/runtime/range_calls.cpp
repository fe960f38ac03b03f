// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/range_calls.h"

#include <algorithm>
#include <utility>

#include "collector/layers/thread_state.h"
#include "collector/process/clock.h"
#include "collector/runtime/runtime.h"

namespace gable {
namespace {

constexpr DomainId kOwn = RangeTracker::kOwnDomain;
std::atomic<void (*)()> g_then{nullptr};

// Nodes that autograd makes from now on belong to the layer that is open now.
void tell_autograd(Runtime& rt, ThreadState& thread) {
  if (rt.autograd.numbered()) rt.autograd.opened(thread.nodes, thread.ranges.current);
}

// A range that is the step itself begins a window: it is timed within that window.
void time_in_new_window(Runtime& rt, ThreadRanges& ranges, WindowId before) {
  const WindowId after = rt.hot.span_window.load(std::memory_order_relaxed);
  if (after == before) return;
  ranges.open.back().window = after;
  ranges.open.back().start_ticks = ticks();
}

// Before the pop, which ends the window where the range is the step itself. Only ranges that began
// in the window that is open are timed.
void count_span(ThreadState& thread, DomainId domain, WindowId window) {
  const auto& open = thread.ranges.open;
  for (auto range = open.rbegin(); range != open.rend(); ++range) {
    if (range->domain != domain) continue;
    if (domain == kOwn && range->levels == 0) return;  // a wrapper is no layer
    const bool timed = window != kNoWindow && range->window == window;
    thread.spans.add(range->layer,
                     timed ? std::max<std::uint64_t>(ticks() - range->start_ticks, 1) : 0);
    return;
  }
}

int own_depth(const ThreadRanges& ranges) {
  return ranges.depth.size() > kOwn ? static_cast<int>(ranges.depth[kOwn]) : 0;
}

int open_own(Runtime& rt, ThreadState& thread, const ModulePlace& place, ModuleToken token,
             std::uint64_t node, bool automatic = false) {
  const WindowId window = rt.hot.span_window.load(std::memory_order_relaxed);
  rt.ranges.push_layer(thread.ranges, kOwn,
                       {.layer = place.layer,
                        .domain = kOwn,
                        .window = window,
                        .is_step = false,
                        .start_ticks = window != kNoWindow ? ticks() : 0,
                        .levels = place.levels,
                        .token = token,
                        .node = node,
                        .automatic = automatic});
  tell_autograd(rt, thread);
  return own_depth(thread.ranges);
}

// The module's range that is `level` places from the innermost module's.
const ThreadRanges::Open* module_range(const ThreadRanges& ranges, int level) {
  for (auto range = ranges.open.rbegin(); range != ranges.open.rend(); ++range) {
    if (range->token != 0 && level-- == 0) return &*range;
  }
  return nullptr;
}

int open_part_at(Runtime& rt, ThreadState& thread, ModuleToken token, ModulePlace place) {
  const auto node = rt.autograd.running_node();
  // In backward no range of this thread is around it.
  if (node != Autograd::kNoNode) place.levels = rt.layers.node(place.layer).depth;
  return open_own(rt, thread, place, token, node, true);
}

// A module that runs within backward runs again: its forward is recomputed.
bool open_recomputed(Runtime& rt, ThreadState& thread, ModuleToken token, std::uint64_t node) {
  const LayerId forward = rt.modules.last_layer(token);
  if (forward == 0) return false;
  const LayerId layer = rt.autograd.turned(forward, Direction::recompute);
  open_own(rt, thread, {layer, rt.layers.node(layer).depth}, token, node);
  return true;
}

}  // namespace

void set_ranges_active(bool active) {
  detail::ranges_active.store(active);
  if (!active) return;
  if (auto* then = g_then.load(std::memory_order_acquire); then != nullptr) then();
}

void when_ranges_follow(void (*then)()) { g_then.store(then, std::memory_order_release); }

int push_range(DomainId domain, std::string_view name, Direction direction) {
  auto& rt = runtime();
  auto& thread = this_thread();
  const WindowId window = rt.hot.span_window.load(std::memory_order_relaxed);
  const int depth = rt.ranges.push(thread.ranges, domain, name, direction, window,
                                   window != kNoWindow ? ticks() : 0);
  time_in_new_window(rt, thread.ranges, window);
  tell_autograd(rt, thread);
  return depth;
}

void backward_begins() {
  auto& rt = runtime();
  auto& thread = this_thread();
  end_automatic_range();
  rt.autograd.backward_begins(thread.nodes);
}

void backward_ends() {
  auto& rt = runtime();
  tell_autograd(rt, this_thread());
}

int pop_range(DomainId domain) {
  auto& rt = runtime();
  auto& thread = this_thread();
  count_span(thread, domain, rt.hot.span_window.load(std::memory_order_relaxed));
  const int depth = rt.ranges.pop(thread.ranges, domain).depth;
  tell_autograd(rt, thread);
  return depth;
}

int open_module(ModuleToken token) {
  auto& rt = runtime();
  auto& thread = this_thread();
  end_automatic_range();
  rt.ranges.catch_up(thread.ranges);
  const auto node = rt.autograd.running_node();
  if (node != Autograd::kNoNode && open_recomputed(rt, thread, token, node))
    return own_depth(thread.ranges);
  const auto place = rt.modules.find(thread.modules, thread.ranges.current, token);
  if (!place) return 0;
  return open_own(rt, thread, *place, token, node);
}

int name_module(ModuleToken token, int level, const std::vector<std::string_view>& names,
                std::string_view dotted) {
  auto& rt = runtime();
  auto& thread = this_thread();
  rt.ranges.catch_up(thread.ranges);
  const LayerId current = thread.ranges.current;
  const auto* around = level > 0 ? module_range(thread.ranges, level) : nullptr;
  ModulePlace place{around != nullptr ? around->layer : current, 0};
  for (const auto& name : names) {
    const LayerId child = rt.layers.child(place.layer, name, Direction::forward);
    if (child == place.layer) break;  // too deep, or too many
    place.layer = child;
    ++place.levels;
  }
  if (place.levels > 0) rt.layers.set_dotted(place.layer, dotted);
  rt.modules.add(current, token, place);
  return open_own(rt, thread, place, token, rt.autograd.running_node());
}

ModuleToken open_module_at(int level) {
  const auto* range = module_range(this_thread().ranges, level);
  return range == nullptr ? 0 : range->token;
}

LayerId layer_of_module(ModuleToken token) {
  const auto& open = this_thread().ranges.open;
  for (auto range = open.rbegin(); range != open.rend(); ++range) {
    if (range->token == token) return range->levels > 0 ? range->layer : 0;
  }
  return 0;
}

int open_own_range(std::string_view name, Direction direction, bool automatic) {
  end_automatic_range();
  push_range(kOwn, name, direction);
  auto& ranges = this_thread().ranges;
  ranges.open.back().automatic = automatic;
  return own_depth(ranges);
}

bool close_own(int depth) {
  auto& ranges = this_thread().ranges;
  const auto* module = module_range(ranges, 0);
  const bool is_forward = module != nullptr && module->node == Autograd::kNoNode;
  while (depth > 0 && own_depth(ranges) >= depth) pop_range(kOwn);
  return is_forward && module_range(ranges, 0) == nullptr;
}

void end_automatic_range() {
  const auto& open = this_thread().ranges.open;
  if (!open.empty() && open.back().automatic) pop_range(kOwn);
}

int open_part(ModuleToken token) {
  auto& rt = runtime();
  auto& thread = this_thread();
  end_automatic_range();
  bool inherited = false;
  const LayerId parent = layer_of_launch(rt, thread, inherited);
  const auto place = rt.modules.find(thread.modules, parent, token);
  return place ? open_part_at(rt, thread, token, *place) : 0;
}

int name_part(ModuleToken token, const std::vector<std::string_view>& names, std::size_t modules,
              bool within, std::vector<SourceModule> fused) {
  auto& rt = runtime();
  auto& thread = this_thread();
  end_automatic_range();
  bool inherited = false;
  const LayerId parent = layer_of_launch(rt, thread, inherited);
  Direction direction = rt.layers.node(parent).direction;
  if (direction == Direction::none)
    direction =
        rt.autograd.running_node() != Autograd::kNoNode ? Direction::backward : Direction::forward;
  ModulePlace place{parent, 0};
  const std::string around = within ? rt.layers.dotted(parent) : std::string();
  std::string dotted = around;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const LayerId child = rt.layers.child(place.layer, names[i], direction);
    if (child == place.layer) break;  // too deep, or too many
    place.layer = child;
    ++place.levels;
    if (i >= modules || (i == 0 && !within)) continue;
    if (!dotted.empty()) dotted += '.';
    rt.layers.set_dotted(child, dotted.append(names[i]));
  }
  if (!fused.empty() && place.levels > 0) {
    for (SourceModule& module : fused) {
      module.name = around + (around.empty() || module.name.empty() ? "" : ".") + module.name;
      if (module.name.empty()) module.name = module.kind;  // the region's own module
    }
    rt.layers.set_compiled(place.layer,
                           {.modules = std::move(fused), .left_out = 0, .fused = true});
  }
  rt.modules.add(parent, token, place);
  return open_part_at(rt, thread, token, place);
}

void end_part() {
  const auto& open = this_thread().ranges.open;
  if (!open.empty() && open.back().automatic && open.back().token != 0) pop_range(kOwn);
}

LayerId layer_of_launch(Runtime& rt, ThreadState& thread, bool& inherited) {
  inherited = false;
  const auto node = rt.autograd.running_node();
  if (node != Autograd::kNoNode) {
    // A module that was opened while this very node ran is recomputed, and knows better.
    const auto* module = module_range(thread.ranges, 0);
    if (module == nullptr || module->node != node) {
      if (const LayerId layer = rt.autograd.backward_layer(thread); layer != 0) return layer;
    }
  }
  return rt.ranges.layer_of_launch(thread.ranges, inherited);
}

}  // namespace gable
