// SPDX-License-Identifier: Apache-2.0
// Roofs of transfers over a link: copies between host and GPU, copies between GPUs, collectives.
#pragma once

#include <optional>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Roofs in byte/s per direction of a device's link to its host ("pcie") and to other GPUs of its
// node ("nvlink", or "pcie" without NVLink). Nothing if NVML does not tell, nor for the host link
// of GPUs not behind PCIe (GH200, GB200 …).
//   pcie    lanes x transfers per second / 8 x share of the bits that are data (128b/130b …), as
//           PCI-SIG's specifications have them; headers of packets take more
//   nvlink  links x byte/s of one, as NVIDIA's whitepapers of each generation have it
[[nodiscard]] std::optional<Ceiling> host_link(const DeviceInfo& device);
[[nodiscard]] std::optional<Ceiling> peer_link(const DeviceInfo& device);

// Both ceilings, each once.
[[nodiscard]] std::vector<Ceiling> link_ceilings(const DeviceInfo& device);

// Fills rates and roofs of the report's copies and collectives, from their bytes, times and
// devices, and the times of collectives in each layer.
void fill_link_roofs(Report& report);

// The time in which one launch of a collective's kernel moves its bytes: its transfer if that is
// known, else the kernel's mean time.
[[nodiscard]] Maybe exchange_time(const KernelRow& kernel);

// Collective times of all GPUs together.
[[nodiscard]] std::optional<CollectiveTimes> collectives_of_roots(const Report& report);

}  // namespace gable
