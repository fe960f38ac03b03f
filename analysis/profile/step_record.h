// SPDX-License-Identifier: Apache-2.0
// Neighbouring steps recorded call by call, with the launch key by which the report knows each
// operation.
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

// What the operations of one key are. For copies and memsets only the layer and the GPU count.
struct RecordedWork {
  LaunchKey key;
  bool kernel = true;
};

struct StepRecord {
  RecordedSteps steps;
  std::vector<RecordedWork> work;  // by RecordedOperation::key
  // Whether the source says which stream waited for what. A trace without synchronisation records
  // does not: edges are then missing, and savings too large.
  bool stream_waits_known = true;
  // How far times may be off each other, for example by rounding; see GraphOptions::jitter_ns.
  std::uint64_t jitter_ns = 0;
};

}  // namespace gable
