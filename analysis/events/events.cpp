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

}  // namespace gable
