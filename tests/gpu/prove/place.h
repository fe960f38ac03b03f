// SPDX-License-Identifier: Apache-2.0
// Where this runs. Some places hide the GPU's counters from every profiler, and results must say
// so.
#pragma once

#include <string>

namespace gable::prove {

// "gVisor", "Firecracker", "a virtual machine (QEMU)", "a container" or "the machine itself", with
// the kernel's release.
[[nodiscard]] std::string place_name();

}  // namespace gable::prove
