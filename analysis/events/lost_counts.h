// SPDX-License-Identifier: Apache-2.0
// Adds up what several parts of a run lost.
#pragma once

#include "analysis/events/events.h"

namespace gable {

inline LostCounts& operator+=(LostCounts& sum, const LostCounts& more) {
  sum.records += more.records;
  sum.ranges += more.ranges;
  sum.zero_timestamps += more.zero_timestamps;
  sum.windows += more.windows;
  sum.unattributed_launches += more.unattributed_launches;
  sum.folded_keys += more.folded_keys;
  sum.folded_layers += more.folded_layers;
  return sum;
}

}  // namespace gable
