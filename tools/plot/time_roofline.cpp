// SPDX-License-Identifier: Apache-2.0
#include "tools/plot/time_roofline.h"

#include <algorithm>

namespace gable {

std::optional<TimePoint> time_point(const Maybe& time_ns, const Maybe& compute_roof,
                                    const Maybe& memory_roof) {
  if (!time_ns || !compute_roof || !memory_roof) return std::nullopt;
  const double longer = std::max(*compute_roof, *memory_roof);
  if (!(longer > 0)) return std::nullopt;
  return TimePoint{*time_ns * *compute_roof / longer, *time_ns * *memory_roof / longer,
                   *time_ns / longer};
}

Maybe overhead_box_ns(const Maybe& launches, const Maybe& launch_latency_ns) {
  if (!launches || !launch_latency_ns) return std::nullopt;
  return *launches * *launch_latency_ns;
}

}  // namespace gable
