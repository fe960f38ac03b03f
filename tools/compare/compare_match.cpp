// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare_match.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

namespace gable {
namespace {

using LayerKey = std::tuple<std::int32_t, Direction, std::vector<std::string>>;

LayerKey key_of(const LayerRow& layer) { return {layer.device, layer.direction, layer.path}; }

std::string text(const Dim3& dim) {
  return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
}

// What a layer's own kernels are, by the layer's id.
std::map<std::int64_t, std::string> signatures(const Report& report) {
  std::map<std::int64_t, std::vector<std::string>> kernels;
  for (const KernelRow& kernel : report.kernels)
    kernels[kernel.layer].push_back(kernel.name + "\n" + shape_of(kernel) + "\n" +
                                    launches_text(kernel.launches));
  std::map<std::int64_t, std::string> out;
  for (auto& [layer, lines] : kernels) {
    std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines) out[layer] += line + "\n\n";
  }
  return out;
}

// Layers that no other report has, by direction, device and kernels.
using Strangers =
    std::map<std::tuple<std::int32_t, Direction, std::string>, std::vector<const LayerRow*>>;

Strangers strangers(const Report& report, const std::map<LayerKey, const LayerRow*>& others) {
  const auto signature = signatures(report);
  Strangers out;
  for (const LayerRow& layer : report.layers) {
    const auto own = signature.find(layer.id);
    if (own == signature.end() || others.contains(key_of(layer))) continue;
    out[{layer.device, layer.direction, own->second}].push_back(&layer);
  }
  return out;
}

std::map<LayerKey, const LayerRow*> by_key(const Report& report) {
  std::map<LayerKey, const LayerRow*> out;
  for (const LayerRow& layer : report.layers) out.emplace(key_of(layer), &layer);
  return out;
}

using Shape = std::array<std::uint32_t, 12>;
Shape shape_key(const KernelRow& kernel) {
  const auto& [grid, block, cluster] = std::tie(kernel.grid, kernel.block, kernel.cluster);
  return {grid.x,
          grid.y,
          grid.z,
          block.x,
          block.y,
          block.z,
          cluster.x,
          cluster.y,
          cluster.z,
          kernel.dynamic_shared,
          kernel.graph.has_value() ? 1u : 0u,
          kernel.ranges.has_value() ? 1u : 0u};
}

}  // namespace

const LayerRow* LayerMatches::layer(std::int64_t id, bool of_b) const {
  const auto& ids = of_b ? ids_b : ids_a;
  const auto found = ids.find(id);
  return found == ids.end() ? nullptr : found->second;
}

std::string shape_of(const KernelRow& kernel) {
  std::string out = "grid " + text(kernel.grid) + ", block " + text(kernel.block);
  if (kernel.cluster.x * kernel.cluster.y * kernel.cluster.z > 1)
    out += ", cluster " + text(kernel.cluster);
  if (kernel.dynamic_shared > 0)
    out += ", " + std::to_string(kernel.dynamic_shared) + " B of shared memory";
  return out;
}

LayerMatches match_layers(const Report& a, const Report& b) {
  LayerMatches out;
  const auto keys_a = by_key(a), keys_b = by_key(b);
  std::map<const LayerRow*, const LayerRow*> partner;  // of B's layers
  for (const auto& [key, layer] : keys_b) {
    if (const auto found = keys_a.find(key); found != keys_a.end()) partner[layer] = found->second;
  }
  const Strangers only_a = strangers(a, keys_b);
  for (const auto& [key, layers] : strangers(b, keys_a)) {
    const auto found = only_a.find(key);
    if (found == only_a.end() || found->second.size() != layers.size()) continue;
    for (std::size_t i = 0; i < layers.size(); ++i) partner[layers[i]] = found->second[i];
  }
  for (const LayerRow& layer : a.layers) out.ids_a[layer.id] = &layer;
  for (const LayerRow& layer : b.layers) {
    out.ids_b[layer.id] = &layer;
    const auto found = partner.find(&layer);
    const LayerRow* before = found == partner.end() ? nullptr : found->second;
    out.place_b[&layer] = out.pairs.size();
    if (before != nullptr) out.place_a[before] = out.pairs.size();
    out.pairs.emplace_back(before, &layer);
  }
  for (const LayerRow& layer : a.layers) {
    if (out.place_a.contains(&layer)) continue;
    out.place_a[&layer] = out.pairs.size();
    out.pairs.emplace_back(&layer, nullptr);
  }
  return out;
}

std::vector<KernelMatch> match_kernels(const Report& a, const Report& b,
                                       const LayerMatches& layers) {
  // Layers that are not in the report have a place of their own.
  const auto place = [&](const KernelRow& kernel, bool of_b) {
    const LayerRow* layer = layers.layer(kernel.layer, of_b);
    const auto& places = of_b ? layers.place_b : layers.place_a;
    const auto found = places.find(layer);
    return found == places.end() ? layers.pairs.size() : found->second;
  };
  using Named = std::tuple<std::size_t, std::int32_t, Direction, std::string>;
  const auto named = [&](const KernelRow& kernel, bool of_b) {
    return Named{place(kernel, of_b), kernel.device, kernel.direction, kernel.name};
  };
  // By shape, as one name may have very many; those of one shape in their order.
  std::map<Named, std::multimap<Shape, const KernelRow*>> left;
  for (const KernelRow& kernel : a.kernels)
    left[named(kernel, false)].emplace(shape_key(kernel), &kernel);

  std::vector<KernelMatch> out;
  std::map<Named, std::vector<std::size_t>> open;  // places in `out` of B's without a partner
  for (const KernelRow& kernel : b.kernels) {
    KernelMatch& match = out.emplace_back(KernelMatch{nullptr, &kernel, Match::added});
    const Named name = named(kernel, true);
    auto& candidates = left[name];
    const Shape shape = shape_key(kernel);
    const auto same = candidates.lower_bound(shape);  // the first of them
    if (same == candidates.end() || same->first != shape) {
      open[name].push_back(out.size() - 1);
    } else {
      match.a = same->second;
      match.match = Match::same;
      candidates.erase(same);
    }
  }
  // One that is left on each side is the same kernel in another shape; of more nobody knows which.
  for (const auto& [name, places] : open) {
    auto& candidates = left[name];
    if (places.size() != 1 || candidates.size() != 1) continue;
    out[places.front()].a = candidates.begin()->second;
    out[places.front()].match = Match::reshaped;
    candidates.clear();
  }
  for (const auto& [name, kernels] : left) {
    std::vector<const KernelRow*> gone;
    for (const auto& [shape, kernel] : kernels) gone.push_back(kernel);
    std::sort(gone.begin(), gone.end());  // as they stand in the report
    for (const KernelRow* kernel : gone) out.push_back({kernel, nullptr, Match::gone});
  }
  return out;
}

}  // namespace gable
