// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/events.h"

namespace gable {

std::string to_string(Phase phase) {
  switch (phase.kind) {
    case PhaseKind::off:
      return "off";
    case PhaseKind::wait:
      return "wait";
    case PhaseKind::warmup:
      return "warmup";
    case PhaseKind::hw:
      return "hw:" + std::to_string(phase.group + 1);
    case PhaseKind::flops:
      return "flops";
    case PhaseKind::time:
      return "time";
  }
  return "off";
}

std::string to_string(Direction direction) {
  switch (direction) {
    case Direction::none:
      return "none";
    case Direction::forward:
      return "forward";
    case Direction::backward:
      return "backward";
    case Direction::recompute:
      return "recompute";
  }
  return "none";
}

std::string to_string(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "host_to_device";
    case CopyKind::device_to_host:
      return "device_to_host";
    case CopyKind::device_to_device:
      return "device_to_device";
    case CopyKind::peer:
      return "peer";
    case CopyKind::memset:
      return "memset";
    case CopyKind::other:
      return "other";
  }
  return "other";
}

}  // namespace gable
