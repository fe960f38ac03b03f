// SPDX-License-Identifier: Apache-2.0
// Asking CUPTI where there is no NVIDIA driver: `gable doctor --chip` and tests.
#pragma once

#include <cstdint>

#include <cupti.h>

namespace gable {

// False when cuptiGetVersion would end this process. The CUPTI of CUDA 13.2 looks for the driver
// again and again, until the stack is full, in whatever call comes first. Asked of a child process,
// and only where no driver is loaded: never in a program that uses CUDA.
[[nodiscard]] bool survives_without_driver(CUptiResult (*get_version)(std::uint32_t*));

}  // namespace gable
