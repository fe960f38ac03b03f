// SPDX-License-Identifier: Apache-2.0
// Kernels, copies and layers name layers by their ids.
#pragma once

#include <cstdint>
#include <map>

#include "analysis/report/report.h"

namespace gable {

// Finds layers by id; if two share one, the later counts. The report must outlive this object.
class LayersById {
 public:
  explicit LayersById(const Report& report) {
    for (const LayerRow& layer : report.layers) rows_[layer.id] = &layer;
  }
  // The layer, or null if the report has none.
  [[nodiscard]] const LayerRow* find(std::int64_t id) const {
    const auto found = rows_.find(id);
    return found == rows_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::int64_t, const LayerRow*> rows_;
};

}  // namespace gable
