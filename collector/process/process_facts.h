// SPDX-License-Identifier: Apache-2.0
// Facts about this process for the files that Gable writes.
#pragma once

#include <string>
#include <vector>

#include "collector/options/settings.h"

namespace gable {

// The command line as files show it: secrets are masked; empty with --no-command.
[[nodiscard]] std::vector<std::string> shown_command_line(const Settings& settings);
// Whether the process runs on the playback GPU, so that no number is from hardware.
[[nodiscard]] bool is_played(const Settings& settings);

}  // namespace gable
