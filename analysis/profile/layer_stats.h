// SPDX-License-Identifier: Apache-2.0
// What time windows of one class of steps tell about layers: how long the GPU was busy for them
// (unions of kernels), calls and time on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "analysis/events/layer_tree.h"
#include "analysis/profile/key_table.h"

namespace gable {

// A kernel's time, held until its window is complete.
struct HeldRecord {
  std::uint64_t start = 0, end = 0;  // ns
  KeyIndex key = kOtherKey;
  std::uint32_t stream = 0;  // stream_of(its record)
};
// Tells the streams of a process apart.
[[nodiscard]] inline std::uint32_t stream_of(const KernelRecord& record) {
  return record.context * 0x9E3779B1u ^ record.stream;
}

// Sums over the windows whose unions are known, including kernels of child layers.
struct LayerBusy {
  std::uint64_t windows = 0;    // windows in which the layer had a kernel
  std::uint64_t busy_ns = 0;    // sum of the unions
  std::uint64_t kernel_ns = 0;  // sum of the durations
  std::uint64_t span_ns = 0;    // sum of first start to last end
  void add(const LayerBusy& other) {
    windows += other.windows;
    busy_ns += other.busy_ns;
    kernel_ns += other.kernel_ns;
    span_ns += other.span_ns;
  }
};

struct SpanSum {
  std::uint64_t calls = 0, timed = 0, cpu_ns = 0;  // cpu_ns: over the timed calls
  std::uint64_t wait_ns = 0;                       // in synchronising calls
  void add(const SpanSum& other) {
    calls += other.calls;
    timed += other.timed;
    cpu_ns += other.cpu_ns;
    wait_ns += other.wait_ns;
  }
};

class LayerStats {
 public:
  explicit LayerStats(const LayerTree& layers) : layers_(layers) {}

  // Takes the complete records of one window, sorted by start. Returns the union over all devices.
  std::uint64_t add_window(const std::vector<HeldRecord>& records, const KeyTable& keys);
  void add_span(LayerId layer, PhaseKind kind, const SpanSum& span) {
    spans_[layer][kind_index(kind)].add(span);
  }

  // All zero for a layer without kernels on that device.
  [[nodiscard]] LayerBusy busy(std::int32_t device, LayerId layer) const;
  [[nodiscard]] SpanSum spans(LayerId layer, PhaseKind kind) const;  // in kept windows

 private:
  // A union being built; `window` says which window it belongs to.
  struct Sweep {
    std::uint64_t window = 0, first = 0, last = 0, busy = 0, kernels = 0;
    void add(std::uint64_t start, std::uint64_t end);
  };
  struct Device {
    std::vector<Sweep> sweeps;      // by layer
    std::vector<LayerBusy> totals;  // by layer
    std::vector<LayerId> touched;
  };
  LayerId parent(LayerId layer);

  const LayerTree& layers_;
  std::vector<LayerId> parents_;  // copied once: the tree is behind a lock
  std::uint64_t window_ = 0;
  std::map<std::int32_t, Device> devices_;
  std::unordered_map<LayerId, std::array<SpanSum, kMeasuringKinds>> spans_;
};

}  // namespace gable
