// SPDX-License-Identifier: Apache-2.0
// Neighbouring steps that were recorded call by call, with what each operation is in the report.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/step_graph/recorded_steps.h"

namespace gable {

[[nodiscard]] constexpr CopyWay copy_way(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return CopyWay::host_to_device;
    case CopyKind::device_to_host:
      return CopyWay::device_to_host;
    case CopyKind::device_to_device:
    case CopyKind::peer:
      return CopyWay::device_to_device;
    case CopyKind::memset:
    case CopyKind::other:
      break;
  }
  return CopyWay::none;
}

// What operations of one key are. Of copies and memsets the layer and the GPU alone count.
struct RecordedWork {
  LaunchKey key;
  bool kernel = true;
};

struct StepRecord {
  RecordedSteps steps;
  std::vector<RecordedWork> work;  // by RecordedOperation::key
  // False: the source does not say which stream waited for what, as a trace without
  // synchronisation records. Edges are missing then, and savings are too large.
  bool stream_waits_known = true;
  // By so much times may be off each other, as where they are rounded: GraphOptions::jitter_ns.
  std::uint64_t jitter_ns = 0;
};

}  // namespace gable
