// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/layer_tree.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <unordered_map>

#include "analysis/base/mutex.h"
#include "analysis/base/text.h"

namespace gable {
namespace {

struct ChildKey {
  LayerId parent;
  Direction direction;
  std::string_view name;  // lives in the node
  friend bool operator==(const ChildKey&, const ChildKey&) = default;
};

struct ChildKeyHash {
  std::size_t operator()(const ChildKey& key) const {
    const std::size_t name = std::hash<std::string_view>{}(key.name);
    const std::uint64_t where =
        (std::uint64_t{key.parent} << 2) | static_cast<std::uint64_t>(key.direction);
    return name ^ static_cast<std::size_t>(where * 0x9E3779B97F4A7C15ull);
  }
};

}  // namespace

struct LayerTree::State {
  explicit State(std::size_t max) : max_layers(std::max<std::size_t>(max, 1)) {
    nodes.emplace_back();
  }

  const std::size_t max_layers;
  std::atomic<std::uint64_t> folded{0};
  mutable SharedMutex mutex;  // guards what follows; nothing is called while it is held
  std::deque<Node> nodes GABLE_GUARDED_BY(mutex);  // a deque, so that the map's views stay valid
  std::unordered_map<ChildKey, LayerId, ChildKeyHash> children GABLE_GUARDED_BY(mutex);
  std::unordered_map<LayerId, std::string> dotted GABLE_GUARDED_BY(mutex);
  std::unordered_map<LayerId, CompiledRegion> compiled GABLE_GUARDED_BY(mutex);
};

LayerTree::LayerTree(std::size_t max_layers) : state_(std::make_unique<State>(max_layers)) {}
LayerTree::~LayerTree() = default;

LayerId LayerTree::child(LayerId parent, std::string_view name, Direction direction) {
  std::string cleaned;
  if (!is_clean_name(name)) {
    cleaned = fitting_name(name);
    name = cleaned;
  }
  State& state = *state_;
  {
    const ReadLock lock(state.mutex);
    if (parent >= state.nodes.size()) parent = 0;
    if (direction == Direction::none) direction = state.nodes[parent].direction;
    const auto found = state.children.find({parent, direction, name});
    if (found != state.children.end()) return found->second;
    if (state.nodes[parent].depth >= kMaxDepth || state.nodes.size() >= state.max_layers) {
      ++state.folded;
      return parent;
    }
  }
  const WriteLock lock(state.mutex);
  // Another thread may have been first.
  const auto found = state.children.find({parent, direction, name});
  if (found != state.children.end()) return found->second;
  if (state.nodes.size() >= state.max_layers) {
    ++state.folded;
    return parent;
  }
  const auto id = static_cast<LayerId>(state.nodes.size());
  const auto depth = static_cast<std::uint16_t>(state.nodes[parent].depth + 1);
  const Node& node = state.nodes.emplace_back(Node{parent, depth, direction, std::string(name)});
  state.children.emplace(ChildKey{parent, direction, node.name}, id);
  return id;
}

void LayerTree::set_dotted(LayerId id, std::string_view dotted) {
  if (dotted.empty() || id == 0) return;
  const WriteLock lock(state_->mutex);
  if (id < state_->nodes.size()) state_->dotted.try_emplace(id, clean_name(dotted));
}

std::string LayerTree::dotted(LayerId id) const {
  const ReadLock lock(state_->mutex);
  const auto found = state_->dotted.find(id);
  return found == state_->dotted.end() ? std::string() : found->second;
}

void LayerTree::set_compiled(LayerId id, CompiledRegion region) {
  for (SourceModule& module : region.modules) {
    module.name = clean_name(module.name);
    module.kind = clean_name(module.kind);
  }
  const WriteLock lock(state_->mutex);
  if (id != 0 && id < state_->nodes.size()) state_->compiled.try_emplace(id, std::move(region));
}

std::optional<CompiledRegion> LayerTree::compiled(LayerId id) const {
  const ReadLock lock(state_->mutex);
  const auto found = state_->compiled.find(id);
  if (found == state_->compiled.end()) return std::nullopt;
  return found->second;
}

LayerTree::Node LayerTree::node(LayerId id) const {
  const ReadLock lock(state_->mutex);
  return id < state_->nodes.size() ? state_->nodes[id] : Node{};
}

std::vector<std::string> LayerTree::path(LayerId id) const {
  std::vector<std::string> names;
  const ReadLock lock(state_->mutex);
  if (id >= state_->nodes.size()) return names;
  for (; id != 0; id = state_->nodes[id].parent) names.push_back(state_->nodes[id].name);
  std::reverse(names.begin(), names.end());
  return names;
}

std::string LayerTree::shown(LayerId id) const { return shown_path(path(id)); }

std::size_t LayerTree::size() const {
  const ReadLock lock(state_->mutex);
  return state_->nodes.size();
}

std::uint64_t LayerTree::folded() const { return state_->folded; }

std::string shown_path(const std::vector<std::string>& path) {
  if (path.empty()) return "(no layer)";
  std::string text;
  for (const std::string& name : path) {
    if (&name != &path.front()) text += '/';
    text += name;
  }
  return text;
}

}  // namespace gable
