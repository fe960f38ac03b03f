// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/layer_stats.h"

#include <algorithm>

namespace gable {

// Intervals come in the order of their starts.
void LayerStats::Sweep::add(std::uint64_t start, std::uint64_t end) {
  kernels += end - start;
  if (start >= last) {
    busy += end - start;
    last = end;
  } else if (end > last) {
    busy += end - last;
    last = end;
  }
}

LayerId LayerStats::parent(LayerId layer) {
  while (parents_.size() <= layer)
    parents_.push_back(layers_.node(static_cast<LayerId>(parents_.size())).parent);
  return parents_[layer];
}

std::uint64_t LayerStats::add_window(const std::vector<HeldRecord>& records, const KeyTable& keys) {
  ++window_;
  Sweep all;
  Device* device = nullptr;
  std::int32_t device_id = 0;
  for (const HeldRecord& record : records) {
    const LaunchKey& key = keys.row(record.key).key;
    if (device == nullptr || key.device != device_id) {
      device_id = key.device;
      device = &devices_[device_id];
    }
    all.add(record.start, record.end);
    for (LayerId layer = key.layer;; layer = parent(layer)) {
      if (layer >= device->sweeps.size()) {
        device->sweeps.resize(layer + 1);
        device->totals.resize(layer + 1);
      }
      Sweep& sweep = device->sweeps[layer];
      if (sweep.window != window_) {
        sweep = Sweep{window_, record.start, 0, 0, 0};
        device->touched.push_back(layer);
      }
      sweep.add(record.start, record.end);
      if (layer == 0) break;
    }
  }
  for (auto& [id, each] : devices_) {
    for (const LayerId layer : each.touched) {
      const Sweep& sweep = each.sweeps[layer];
      LayerBusy& total = each.totals[layer];
      ++total.windows;
      total.busy_ns += sweep.busy;
      total.kernel_ns += sweep.kernels;
      total.span_ns += sweep.last - sweep.first;
    }
    each.touched.clear();
  }
  return all.busy;
}

LayerBusy LayerStats::busy(std::int32_t device, LayerId layer) const {
  const auto found = devices_.find(device);
  if (found == devices_.end() || layer >= found->second.totals.size()) return {};
  return found->second.totals[layer];
}

SpanSum LayerStats::spans(LayerId layer, PhaseKind kind) const {
  const auto found = spans_.find(layer);
  return found == spans_.end() ? SpanSum{} : found->second[kind_index(kind)];
}

}  // namespace gable
