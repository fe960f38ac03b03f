// SPDX-License-Identifier: Apache-2.0
// How fast a report's copies and collectives are, and what memory of the host copies use.
// Internal to this folder.
#pragma once

#include <optional>
#include <string>

#include "analysis/report/report.h"

namespace gable {

// Copies between host and GPU.
struct HostCopies {
  double time_ns = 0, pageable_ns = 0, pinned_ns = 0;
  [[nodiscard]] bool mostly_pageable() const { return 2 * pageable_ns > time_ns; }
  [[nodiscard]] bool all_pinned() const { return time_ns > 0 && pinned_ns >= time_ns; }
};
[[nodiscard]] HostCopies host_copies(const Report& report);

// " They reach 9.24 GB/s, 29.3 % of PCIe's 31.5 GB/s." For copies between host and GPU, and for
// collectives; empty if some bytes or times are unknown, and without the share if the link is
// unknown.
[[nodiscard]] std::string rate_of_copies(const Report& report);
[[nodiscard]] std::string rate_of_collectives(const Report& report);

// The share of the collectives' time spent waiting for other ranks; empty if unknown.
struct WaitingShare {
  double of_time = 0;
  std::string for_whom;  // the one late rank; empty: they wait in turn
};
[[nodiscard]] std::optional<WaitingShare> waiting_share(const Report& report);

}  // namespace gable
