// SPDX-License-Identifier: Apache-2.0
// Which layer a backward belongs to, and what it computes again, by what PyTorch's profiler writes
// of autograd: a node has the sequence number of the operator that made it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tools/import/kineto/trace_event.h"
#include "tools/import/records/range_nest.h"

namespace gable {

// Of an operator; traces have millions.
struct AutogradFacts {
  std::uint64_t sequence : 61 = 0;  // of the node that it makes, or is
  std::uint64_t has_sequence : 1 = 0;
  std::uint64_t backward : 1 = 0;      // autograd's engine runs it
  std::uint64_t makes_tensor : 1 = 0;  // out of nothing: such have no number in any case
};
[[nodiscard]] AutogradFacts autograd_facts(const TraceEvent& event);

class BackwardLinks {
 public:
  // `facts`: of an operator by its range's tag. The ranges are nested.
  BackwardLinks(RangeNest& nest, LayerTree& layers,
                std::function<const AutogradFacts&(std::uint32_t tag)> facts);

  // Operators of backward get the layer of the forward whose sequence number they have, and what
  // backward computes again (checkpointing) those of the modules that it is of.
  void link();

 private:
  static constexpr std::uint32_t kNone = RangeNest::kNone;
  enum class Within : std::uint8_t { none, backward, recompute };
  // Operators by their sequence numbers, then by their start, and the layers that they had.
  struct Numbered {
    std::vector<std::uint32_t> ranges;
    std::vector<LayerId> layers;
  };

  // nullptr: the range is of no operator.
  [[nodiscard]] const AutogradFacts* facts(std::uint32_t range) const;
  [[nodiscard]] bool is_backward(std::uint32_t range) const;
  [[nodiscard]] bool is_module(std::uint32_t range) const;
  // The layer of the same path in that direction.
  LayerId turned(LayerId layer, Direction direction);
  [[nodiscard]] bool find_recompute();  // whether there is any
  [[nodiscard]] Numbered number_forward() const;
  // Of several operators with that number the layer of the last.
  [[nodiscard]] std::optional<LayerId> find(const Numbered& forward,
                                            const AutogradFacts& facts) const;
  [[nodiscard]] std::vector<LayerId> find_around() const;
  void link_recompute();
  void link_nodes();

  RangeNest& nest_;
  std::vector<RangeNest::Range>& ranges_;
  LayerTree& layers_;
  const std::function<const AutogradFacts&(std::uint32_t)> facts_;
  std::vector<Within> within_;  // where each range lies
  std::map<std::pair<LayerId, Direction>, LayerId> turned_;
};

}  // namespace gable
