// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/backward_links.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace gable {
namespace {

// What autograd's engine runs is backward, also nodes that are not called so (AccumulateGrad,
// CppNode of a custom function).
bool is_backward_name(std::string_view name) {
  return name.find("Backward") != std::string_view::npos ||
         name.starts_with("autograd::engine::evaluate_function") ||
         name.starts_with("torch::autograd::");
}

// Operators that make tensors out of nothing have no sequence number in any case.
bool makes_tensor(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {
      "empty", "empty_strided", "zeros", "ones", "full", "arange", "eye", "scalar_tensor"};
  return name.starts_with("aten::") &&
         std::find(kNames.begin(), kNames.end(), name.substr(6)) != kNames.end();
}

}  // namespace

AutogradFacts autograd_facts(const TraceEvent& event) {
  AutogradFacts facts;
  facts.sequence = event.sequence.value_or(0) & ((std::uint64_t{1} << 61) - 1);
  facts.has_sequence = event.sequence.has_value();
  facts.backward = is_backward_name(event.name) || event.forward_thread != 0;
  facts.makes_tensor = makes_tensor(event.name);
  return facts;
}

BackwardLinks::BackwardLinks(RangeNest& nest, LayerTree& layers,
                             std::function<const AutogradFacts&(std::uint32_t)> facts)
    : nest_(nest), ranges_(nest.ranges()), layers_(layers), facts_(std::move(facts)) {}

void BackwardLinks::link() {
  if (find_recompute()) link_recompute();
  link_nodes();
}

const AutogradFacts* BackwardLinks::facts(std::uint32_t range) const {
  return ranges_[range].tag == kNone ? nullptr : &facts_(ranges_[range].tag);
}

bool BackwardLinks::is_backward(std::uint32_t range) const {
  const AutogradFacts* of = facts(range);
  return of != nullptr && of->backward;
}

// Annotations have no direction.
bool BackwardLinks::is_module(std::uint32_t range) const {
  return ranges_[range].tag == kNone && ranges_[range].direction == Direction::forward;
}

LayerId BackwardLinks::turned(LayerId layer, Direction direction) {
  const auto known = turned_.find({layer, direction});
  if (known != turned_.end()) return known->second;
  const LayerTree::Node node = layers_.node(layer);
  LayerId found = layer;
  if (layer != 0 && node.direction != Direction::none)
    found = layers_.child(turned(node.parent, direction), node.name, direction);
  turned_.emplace(std::pair(layer, direction), found);
  return found;
}

// Backward runs without recording what it does, so its own operators have no sequence numbers. It
// computes again what has modules around it, or records itself for another backward while an
// operator beside it does not. (Where all have numbers, a backward of the backward was asked for.)
bool BackwardLinks::find_recompute() {
  within_.assign(ranges_.size(), Within::none);
  std::vector<bool> records_nothing(ranges_.size());  // of the backward at that place
  std::vector<std::uint32_t> node(ranges_.size(), kNone);
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    const std::uint32_t parent = ranges_[i].parent;
    node[i] = is_backward(i) ? i : parent == kNone ? kNone : node[parent];
    if (parent == kNone || !is_backward(parent) || is_backward(i)) continue;
    // Directly in it: what operators call has no numbers either.
    const AutogradFacts* of = facts(i);
    if (of != nullptr && !of->has_sequence && !of->makes_tensor) records_nothing[parent] = true;
  }
  bool any = false;
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    const std::uint32_t parent = ranges_[i].parent;
    if (is_backward(i)) {
      within_[i] = Within::backward;
    } else if (parent != kNone && within_[parent] != Within::none) {
      const AutogradFacts* of = facts(i);
      const bool recorded = of != nullptr && of->has_sequence && node[parent] != kNone &&
                            records_nothing[node[parent]];
      const bool again = within_[parent] == Within::recompute || is_module(i) || recorded;
      within_[i] = again ? Within::recompute : Within::backward;
      any = any || again;
    }
  }
  return any;
}

BackwardLinks::Numbered BackwardLinks::number_forward() const {
  const auto order = [this](std::uint32_t range) {
    const std::uint64_t sequence = facts(range)->sequence;
    return std::tuple(sequence, ranges_[range].start_ns, range);
  };
  Numbered forward;
  for (std::uint32_t i = 0; i < ranges_.size(); ++i)
    if (const AutogradFacts* of = facts(i); of != nullptr && of->has_sequence && !of->backward)
      forward.ranges.push_back(i);
  std::sort(forward.ranges.begin(), forward.ranges.end(),
            [&](std::uint32_t a, std::uint32_t b) { return order(a) < order(b); });
  forward.layers.reserve(forward.ranges.size());
  for (const std::uint32_t range : forward.ranges) forward.layers.push_back(ranges_[range].layer);
  return forward;
}

std::optional<LayerId> BackwardLinks::find(const Numbered& forward,
                                           const AutogradFacts& wanted) const {
  if (!wanted.has_sequence) return std::nullopt;
  const auto& all = forward.ranges;
  const std::uint64_t sequence = wanted.sequence;
  const auto behind = std::upper_bound(all.begin(), all.end(), sequence,
                                       [this](std::uint64_t number, std::uint32_t range) {
                                         return number < facts(range)->sequence;
                                       });
  if (behind == all.begin() || facts(behind[-1])->sequence != sequence) return std::nullopt;
  return forward.layers[static_cast<std::size_t>(behind - all.begin()) - 1];
}

// Of what lies in backward: the layer around the operator that made the node.
std::vector<LayerId> BackwardLinks::find_around() const {
  const Numbered forward = number_forward();
  std::vector<LayerId> around(ranges_.size(), 0);
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    if (within_[i] != Within::backward) continue;
    const AutogradFacts* of = facts(i);
    if (const auto found = of != nullptr ? find(forward, *of) : std::nullopt) {
      around[i] = layers_.node(*found).parent;
    } else if (ranges_[i].parent != kNone) {
      around[i] = around[ranges_[i].parent];
    }
  }
  return around;
}

void BackwardLinks::link_recompute() {
  std::unordered_map<std::uint32_t, LayerId> modules;  // by name: each has one of its own
  for (std::uint32_t i = 0; i < ranges_.size(); ++i)
    if (within_[i] == Within::none && is_module(i))
      modules.try_emplace(ranges_[i].name, ranges_[i].layer);
  const std::vector<LayerId> around = find_around();
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    if (within_[i] != Within::recompute) continue;
    RangeNest::Range& range = ranges_[i];
    const std::uint32_t parent = range.parent;
    const bool begins = within_[parent] != Within::recompute;
    if (!begins && range.within && ranges_[parent].tag != kNone) {  // of the operator around it
      range.layer = ranges_[parent].layer;
      continue;
    }
    const auto module = is_module(i) ? modules.find(range.name) : modules.end();
    if (module != modules.end()) {
      range.layer = turned(module->second, Direction::recompute);
    } else {
      const LayerId above = begins ? around[parent] : ranges_[parent].layer;
      range.layer = layers_.child(turned(above, Direction::recompute), nest_.text(range.name),
                                  Direction::recompute);
    }
    range.is_layer = true;
    range.within = false;
  }
}

void BackwardLinks::link_nodes() {
  // Operators that make no node of autograd have the number of the next one that does. One that
  // makes several nodes (linear: of a transposition and of a product) does so within.
  const Numbered forward = number_forward();
  std::vector<bool> moved(ranges_.size());
  std::vector<std::uint32_t> node(ranges_.size(), kNone);  // of those: the innermost with a number
  for (std::uint32_t i = 0; i < ranges_.size(); ++i) {
    if (within_[i] == Within::recompute) continue;
    RangeNest::Range& range = ranges_[i];
    const bool inside = range.parent != kNone && moved[range.parent];
    const AutogradFacts* of = facts(i);
    const bool starts = of != nullptr && of->backward;
    if (starts && of->has_sequence) {
      node[i] = i;
    } else if (inside) {
      node[i] = node[range.parent];
    }
    // A backward within another one, of what that one computed again, is found by its own number.
    const auto number = [&](std::uint32_t at) -> std::uint64_t {
      return node[at] == kNone ? 0 : facts(node[at])->sequence;
    };
    const bool again = inside && number(i) != number(range.parent);
    if (inside && !again) {
      range.layer = ranges_[range.parent].layer;
      range.is_layer = false;
      moved[i] = true;
      continue;
    }
    if (!starts || !(range.is_layer || again)) continue;
    moved[i] = range.is_layer = true;
    range.within = false;
    if (const auto found = find(forward, *of)) {
      range.layer = turned(*found, Direction::backward);
    } else {
      const LayerId around = range.parent == kNone ? 0 : ranges_[range.parent].layer;
      range.layer = layers_.child(around, nest_.text(range.name), Direction::backward);
    }
  }
}

}  // namespace gable
