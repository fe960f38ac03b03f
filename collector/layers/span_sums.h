// SPDX-License-Identifier: Apache-2.0
// Calls and CPU time of the ranges that ended on one thread, by layer. The thread adds without a
// lock or an atomic exchange; whoever holds the analysis lock takes what was added since it last
// looked. Costs memory by layers, never by ranges.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "analysis/events/events.h"
#include "analysis/events/layer_tree.h"

namespace gable {

class SpanSums {
 public:
  // Adds an ended range, on the owning thread; `ticks`: 0 if it was not timed. Allocates once per
  // 256 layers.
  void add(LayerId layer, std::uint64_t ticks) {
    if (layer >= kLayers) return;
    auto& place = chunks_[layer / kChunk];
    Chunk* chunk = place.load(std::memory_order_relaxed);
    if (chunk == nullptr) {
      chunk = new Chunk;
      place.store(chunk, std::memory_order_release);
    }
    Cell& cell = (*chunk)[layer % kChunk];
    // Only this thread writes: no read-modify-write is needed.
    if (ticks != 0) {
      cell.ticks.store(cell.ticks.load(std::memory_order_relaxed) + ticks,
                       std::memory_order_relaxed);
      cell.timed.store(cell.timed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    cell.calls.store(cell.calls.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  struct Sums {
    std::uint64_t calls = 0, timed = 0, ticks = 0;
  };
  struct Taken {
    LayerId layer;
    Sums sums;
  };
  // One reader at a time. Calls use(Taken) for layers with ranges since the last take.
  template <typename Use>
  void take(Use&& use) {
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      Chunk* chunk = chunks_[c].load(std::memory_order_acquire);
      if (chunk == nullptr) continue;
      for (std::size_t i = 0; i < kChunk; ++i) {
        Cell& cell = (*chunk)[i];
        const auto calls = cell.calls.load(std::memory_order_acquire);
        auto& before = cell.before;
        if (calls == before.calls) continue;
        const Sums now{calls, cell.timed.load(std::memory_order_relaxed),
                       cell.ticks.load(std::memory_order_relaxed)};
        use(Taken{static_cast<LayerId>(c * kChunk + i),
                  {now.calls - before.calls, now.timed - before.timed, now.ticks - before.ticks}});
        before = now;
      }
    }
  }

  SpanSums() = default;
  SpanSums(const SpanSums&) = delete;
  SpanSums& operator=(const SpanSums&) = delete;
  ~SpanSums() {
    for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> calls{0}, timed{0}, ticks{0};
    Sums before;  // what the reader has taken so far
  };
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kLayers = LayerTree::kDefaultMaxLayers + kChunk;
  using Chunk = std::array<Cell, kChunk>;
  std::array<std::atomic<Chunk*>, (kLayers + kChunk - 1) / kChunk> chunks_{};
};

}  // namespace gable
