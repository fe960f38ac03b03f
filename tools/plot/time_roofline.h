// SPDX-License-Identifier: Apache-2.0
// The time-based roofline (Wang et al., "Time-Based Roofline for Deep Learning Performance
// Analysis", arXiv 2009.04598): complexity in FLOP and byte, and the time that each of the two
// takes.
//   machine balance MB = compute ceiling / memory ceiling
//   intensity >= MB:  t_compute = t,                  t_memory = t MB / intensity
//   else              t_compute = t intensity / MB,   t_memory = t
// With compute_roof = FLOP / compute ceiling and memory_roof = bytes / memory ceiling that is
//   t_compute = t compute_roof / max(compute_roof, memory_roof),  t_memory likewise.
// Drawn in units of work (times the ceiling), the point of the times lies on the same intensity as
// that of the complexity, and further out by t / max(compute_roof, memory_roof) = 1 / fraction.
#pragma once

#include <optional>

#include "analysis/report/report.h"

namespace gable {

struct TimePoint {
  double compute_ns = 0, memory_ns = 0;
  double over_roof = 0;  // t / max(compute_roof, memory_roof)
};

// Empty where a part is unknown, or there is no work at all.
[[nodiscard]] std::optional<TimePoint> time_point(const Maybe& time_ns, const Maybe& compute_roof,
                                                  const Maybe& memory_roof);

// A side of the overhead box: the time that so many launches cost one after the other. A point
// inside the box is bound by launches.
[[nodiscard]] Maybe overhead_box_ns(const Maybe& launches, const Maybe& launch_latency_ns);

}  // namespace gable
