// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/layer_rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/roofline/layer_sum.h"

namespace gable {
namespace {

// Layers in the order of a walk through the tree: parents before children, siblings as they were
// first seen.
class TreeOrder {
 public:
  explicit TreeOrder(const LayerTree& layers) {
    const std::size_t size = layers.size();
    nodes_.reserve(size);
    std::vector<std::vector<LayerId>> children(size);
    for (LayerId id = 0; id < size; ++id) {
      nodes_.push_back(layers.node(id));
      if (id != 0) children[nodes_[id].parent].push_back(id);
    }
    place_.resize(size);
    std::vector<LayerId> stack{0};
    for (std::size_t place = 0; !stack.empty(); ++place) {
      const LayerId id = stack.back();
      stack.pop_back();
      place_[id] = place;
      stack.insert(stack.end(), children[id].rbegin(), children[id].rend());
    }
  }
  [[nodiscard]] const LayerTree::Node& node(LayerId id) const { return nodes_[id]; }
  [[nodiscard]] std::size_t place(LayerId id) const { return place_[id]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  std::vector<LayerTree::Node> nodes_;
  std::vector<std::size_t> place_;
};

// Sums are rounded, and which kernel was seen first differs between runs of several threads or with
// the order of windows: so kernels are summed by what they are.
std::vector<std::size_t> order_of_sums(const TreeOrder& tree,
                                       const std::vector<KernelOfLayer>& kernels) {
  std::map<LayerId, std::string> paths;
  for (const KernelOfLayer& kernel : kernels) {
    const auto [found, fresh] = paths.try_emplace(kernel.layer);
    std::string& path = found->second;
    for (LayerId layer = kernel.layer; fresh && layer != 0; layer = tree.node(layer).parent)
      path = '\x1f' + tree.node(layer).name + path;
  }
  const auto what = [&](const KernelOfLayer& kernel) {
    const KernelRow& row = kernel.row;
    const auto size = [](const Dim3& dim) { return std::tuple(dim.x, dim.y, dim.z); };
    return std::tuple(row.device, std::string_view(paths.at(kernel.layer)), word_of(row.direction),
                      std::string_view(row.name), std::string_view(row.symbol), size(row.grid),
                      size(row.block), size(row.cluster), row.dynamic_shared);
  };
  std::vector<std::size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return what(kernels[a]) < what(kernels[b]);
  });
  return order;
}

double ratio(std::uint64_t top, std::uint64_t bottom) {
  return static_cast<double>(top) / static_cast<double>(bottom);
}

void fill_calls(const Profile::State& state, const UnitScale& unit, LayerId layer, LayerRow& row) {
  const auto found = state.calls.find(layer);
  const std::uint64_t calls = found == state.calls.end() ? 0 : found->second;
  if (!unit.step) {
    if (calls > 0) row.calls = static_cast<double>(calls);
  } else if (const PhaseKind kind = unit.launches_from; kind != PhaseKind::off) {
    row.calls = state.per_step([&](const ClassSums& sums) {
      return StepClasses::Mean{static_cast<double>(sums.layer_stats.spans(layer, kind).calls),
                               sums.kept_windows[kind_index(kind)]};
    });
    if (row.calls == 0.0) row.calls.reset();
  } else if (calls > 0) {
    row.calls = ratio(calls, state.classes.steps());
  }
  // Counter windows slow the program down: only time windows tell how long a call takes.
  const SpanSum timed = state.timed_spans(layer);
  if (timed.timed > 0 && row.calls) row.cpu_ns = ratio(timed.cpu_ns, timed.timed) * *row.calls;
}

void fill_busy(const Profile::State& state, const UnitScale& unit, LayerId layer, LayerRow& row) {
  LayerBusy busy;
  for (const ClassSums& sums : state.class_sums) busy.add(sums.layer_stats.busy(row.device, layer));
  if (busy.windows == 0) return;
  if (unit.step) {
    const auto per_step = [&](std::uint64_t LayerBusy::*part) {
      return state.per_step([&](const ClassSums& sums) {
        const LayerBusy of = sums.layer_stats.busy(row.device, layer);
        return StepClasses::Mean{static_cast<double>(of.*part), sums.busy.count()};
      });
    };
    row.time_busy_ns = per_step(&LayerBusy::busy_ns);
    row.span_ns = per_step(&LayerBusy::span_ns);
  } else if (row.time_total_ns && busy.kernel_ns > 0) {
    // What the windows show of the overlap holds for the other launches.
    row.time_busy_ns = *row.time_total_ns * ratio(busy.busy_ns, busy.kernel_ns);
  }
}

Tokens mean_of(const TokenSums& sums) {
  const auto ns = [](const TokenSum& sum) {
    return sum.forwards > 0 ? Maybe(ratio(sum.ns, sum.forwards)) : std::nullopt;
  };
  const TokenSum& sum = sums.gpu.forwards > 0 ? sums.gpu : sums.host;
  return {sum.forwards, ratio(sum.tokens, sum.forwards), ratio(sum.per_sequence, sum.forwards),
          ns(sums.gpu), ns(sums.host)};
}

// Time in synchronising calls of a step by layer, layers within it included.
std::vector<double> waits_by_layer(const Profile::State& state, const TreeOrder& tree) {
  std::vector<double> waits(tree.size());
  for (LayerId id = 0; id < tree.size(); ++id) {
    if (state.timed_spans(id).wait_ns == 0) continue;
    const Maybe own = state.per_step([&](const ClassSums& sums) {
      const auto wait_ns = sums.layer_stats.spans(id, PhaseKind::time).wait_ns;
      return StepClasses::Mean{static_cast<double>(wait_ns),
                               sums.kept_windows[kind_index(PhaseKind::time)]};
    });
    for (LayerId layer = id; own; layer = tree.node(layer).parent) {
      waits[layer] += *own;
      if (layer == 0) break;
    }
  }
  return waits;
}

// What the modules of compiled regions take: the time of each layer's own kernels goes to its
// module, or in equal parts to the modules that they were made of, in every region around it.
void share_among_modules(std::vector<LayerRow>& rows) {
  for (const LayerRow& row : rows) {
    if (!row.time_self_ns || !(*row.time_self_ns > 0)) continue;
    std::vector<std::string> names;
    if (row.compiled && row.compiled->fused) {
      for (const SourceModule& module : row.compiled->modules) names.push_back(module.name);
    } else if (!row.compiled && !row.dotted.empty()) {
      names.push_back(row.dotted);
    }
    if (names.empty()) continue;
    const double part =
        *row.time_self_ns /
        static_cast<double>(names.size() + (row.compiled ? row.compiled->left_out : 0));
    for (auto around = std::optional(row.id); around;) {
      LayerRow& region = rows[static_cast<std::size_t>(*around)];
      around = region.parent;
      if (!region.compiled) continue;
      for (SourceModule& module : region.compiled->modules) {
        if (std::find(names.begin(), names.end(), module.name) != names.end())
          module.time_ns = module.time_ns.value_or(0) + part;
      }
    }
  }
}

}  // namespace

LayerRows layer_rows(const Profile::State& state, const UnitScale& unit, const Roofline& roofline,
                     std::vector<KernelOfLayer>& kernels) {
  const TreeOrder tree(state.layers);
  using Place = std::tuple<std::int32_t, std::size_t, LayerId>;  // device, place in the walk
  std::map<Place, LayerSum> sums;
  const auto place = [&](std::int32_t device, LayerId layer) {
    return Place{device, tree.place(layer), layer};
  };
  for (const std::size_t index : order_of_sums(tree, kernels)) {
    const KernelOfLayer& kernel = kernels[index];
    LayerId layer = kernel.layer;
    for (bool self = true;; self = false, layer = tree.node(layer).parent) {
      sums.try_emplace(place(kernel.row.device, layer), roofline)
          .first->second.add(kernel.row, self);
      if (layer == 0) break;
    }
  }

  const bool ranges_only = kernels.empty() && state.ranges_only;
  for (LayerId id = 0; ranges_only && id < tree.size(); ++id) {
    if (!state.calls.contains(id)) continue;
    for (LayerId layer = id;; layer = tree.node(layer).parent) {
      sums.try_emplace(place(0, layer), roofline);
      if (layer == 0) break;
    }
  }

  for (const ClassSums& of_class : state.class_sums) {
    for (const auto& [group, copies] : of_class.copies) {
      if (!group.layer || state.copies_lost) continue;
      for (LayerId layer = *group.layer;; layer = tree.node(layer).parent) {
        sums.try_emplace(place(group.device, layer), roofline);
        if (layer == 0) break;
      }
    }
  }

  const auto waits = waits_by_layer(state, tree);
  const auto time_windows = state.kept_windows[kind_index(PhaseKind::time)];
  LayerRows out;
  std::vector<LayerRow>& rows = out.rows;
  LayerIds& ids = out.ids;
  Maybe whole;  // time of the device's root
  for (const auto& [where, sum] : sums) {
    const auto& [device, order, layer] = where;
    LayerRow& row = rows.emplace_back();
    row.id = static_cast<std::int64_t>(ids.size());
    ids[{device, layer}] = row.id;
    const LayerTree::Node& node = tree.node(layer);
    if (layer != 0) {
      row.parent = ids.at({device, node.parent});
      row.path = rows[static_cast<std::size_t>(*row.parent)].path;
      row.path.push_back(node.name);
    }
    row.dotted = state.layers.dotted(layer);
    row.compiled = state.layers.compiled(layer);
    row.direction = node.direction;
    row.device = device;
    row.depth = node.depth;
    if (ranges_only) {
      row.roof.bound = Bound::unknown;
    } else {
      sum.fill(row);
      if (sum.empty()) row.launches = row.time_total_ns = row.time_busy_ns = 0;  // only copies
    }
    fill_calls(state, unit, layer, row);
    fill_busy(state, unit, layer, row);
    if (unit.step && time_windows > 0) row.sync_ns = waits[layer];
    if (const auto tokens = state.tokens.find(layer); tokens != state.tokens.end())
      row.tokens = mean_of(tokens->second);
    if (layer == 0) whole = row.time_total_ns;
    if (row.time_total_ns && whole && *whole > 0) row.time_share = *row.time_total_ns / *whole;
  }
  share_among_modules(rows);
  for (KernelOfLayer& kernel : kernels)
    kernel.row.layer = ids.at({kernel.row.device, kernel.layer});
  std::stable_sort(
      kernels.begin(), kernels.end(), [](const KernelOfLayer& a, const KernelOfLayer& b) {
        return std::tuple(a.row.layer, a.first_seen) < std::tuple(b.row.layer, b.first_seen);
      });
  return out;
}

std::vector<CopyRow> copy_rows(const Profile::State& state, const UnitScale& unit,
                               const LayerIds& ids) {
  if (state.copies_lost) return {};
  using Group =
      std::tuple<CopyKind, std::int32_t, std::optional<std::int64_t>, Direction, HostMemory>;
  std::map<Group, std::map<const ClassSums*, CopySum>> sums;
  for (const ClassSums& of_class : state.class_sums) {
    for (const auto& [group, sum] : of_class.copies) {
      std::optional<std::int64_t> id;
      Direction direction = Direction::none;
      if (group.layer) {
        direction = state.layers.node(*group.layer).direction;
        id = ids.at({group.device, *group.layer});
      }
      sums[{group.kind, group.device, id, direction, group.host}][&of_class].add(sum);
    }
  }
  std::vector<CopyRow> rows;
  for (const auto& [group, by_class] : sums) {
    CopyRow& row = rows.emplace_back();
    row.kind = std::get<CopyKind>(group);
    row.device = std::get<std::int32_t>(group);
    row.layer = std::get<std::optional<std::int64_t>>(group);
    row.direction = std::get<Direction>(group);
    row.host_memory = std::get<HostMemory>(group);
    const auto amount = [&state, &unit, &of = by_class](std::uint64_t CopySum::*part) {
      return state.per_step([&](const ClassSums& each) {
        const auto found = of.find(&each);
        const auto sum = found == of.end() ? 0 : found->second.*part;
        // In reports per run there is one class, and all its windows count as one.
        return StepClasses::Mean{static_cast<double>(sum), unit.step ? each.copy_windows : 1};
      });
    };
    row.count = amount(&CopySum::count).value_or(0);
    const bool sized = std::all_of(by_class.begin(), by_class.end(), [](const auto& of_class) {
      return of_class.second.sized == of_class.second.count;
    });
    if (sized) row.bytes = amount(&CopySum::bytes);
    row.time_ns = amount(&CopySum::time_ns);
  }
  return rows;
}

}  // namespace gable
