// SPDX-License-Identifier: Apache-2.0
// Small files of the kernel, such as /proc/PID/status.
#pragma once

#include <filesystem>
#include <string>

namespace gable {

// The whole file; empty if it does not exist or its process ended meanwhile.
[[nodiscard]] std::string proc_file(const std::filesystem::path& path);

}  // namespace gable
