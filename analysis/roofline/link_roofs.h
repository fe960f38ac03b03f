// SPDX-License-Identifier: Apache-2.0
// Roofs of what goes over a link: copies between host and GPU, and between GPUs; collectives.
#pragma once

#include <optional>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// byte/s in each direction, of the link by which a device reaches its host ("pcie") and other GPUs
// of its node ("nvlink"; "pcie" where it has no NVLink). Nothing where NVML did not tell, and for
// the host of GPUs that are not behind PCIe (GH200, GB200 …).
//   pcie    lanes x transfers per second / 8 x share of the bits that are data (128b/130b …), as
//           PCI-SIG's specifications have them; headers of packets take more
//   nvlink  links x byte/s of one, as NVIDIA's whitepapers of each generation have it
[[nodiscard]] std::optional<Ceiling> host_link(const DeviceInfo& device);
[[nodiscard]] std::optional<Ceiling> peer_link(const DeviceInfo& device);

// Both, each once.
[[nodiscard]] std::vector<Ceiling> link_ceilings(const DeviceInfo& device);

// Rates and roofs of the report's copies and collectives, from their bytes, times and devices; and
// what collectives take in each layer.
void fill_link_roofs(Report& report);

// The time in which a collective's kernel moves its bytes: one launch's transfer, where it is
// known.
[[nodiscard]] Maybe exchange_time(const KernelRow& kernel);

// Of all GPUs together.
[[nodiscard]] std::optional<CollectiveTimes> collectives_of_roots(const Report& report);

}  // namespace gable
