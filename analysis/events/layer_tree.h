// SPDX-License-Identifier: Apache-2.0
// The layers of a program: a tree of range names. Nodes are interned, never removed, and bounded in
// number and depth; beyond the bounds a range counts as part of its parent (and is counted). All
// members are safe on any thread; callers on hot paths cache the ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/events/layer_model.h"

namespace gable {

class LayerTree {
 public:
  static constexpr std::size_t kDefaultMaxLayers = 65536;
  static constexpr std::uint16_t kMaxDepth = 128;

  struct Node {
    LayerId parent = 0;
    std::uint16_t depth = 0;  // root 0
    Direction direction = Direction::none;
    std::string name;  // UTF-8
  };

  explicit LayerTree(std::size_t max_layers = kDefaultMaxLayers);
  ~LayerTree();
  LayerTree(const LayerTree&) = delete;
  LayerTree& operator=(const LayerTree&) = delete;

  // The child of `parent` with that name. Direction::none inherits the parent's direction.
  LayerId child(LayerId parent, std::string_view name, Direction direction = Direction::none);

  // Sets the name by which PyTorch's users know a layer: "layer1.0.conv1"; empty for all others.
  void set_dotted(LayerId id, std::string_view dotted);
  [[nodiscard]] std::string dotted(LayerId id) const;

  // Marks the layer as a compiled region. Only the first call has an effect.
  void set_compiled(LayerId id, CompiledRegion region);
  [[nodiscard]] std::optional<CompiledRegion> compiled(LayerId id) const;

  [[nodiscard]] Node node(LayerId id) const;                      // a copy
  [[nodiscard]] std::vector<std::string> path(LayerId id) const;  // root's path is empty
  // "ResNet/layer1/0/conv1"; "(no layer)" for the root.
  [[nodiscard]] std::string shown(LayerId id) const;
  [[nodiscard]] std::size_t size() const;      // nodes, the root included
  [[nodiscard]] std::uint64_t folded() const;  // number of ranges without a node of their own

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How a layer's path is shown everywhere: "ResNet/layer1/0/conv1"; "(no layer)" for the root.
[[nodiscard]] std::string shown_path(const std::vector<std::string>& path);

}  // namespace gable
