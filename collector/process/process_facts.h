// SPDX-License-Identifier: Apache-2.0
// What files about this process say of it.
#pragma once

#include <string>
#include <vector>

#include "collector/options/settings.h"

namespace gable {

// What a file may say of the command: its secrets are masked, and with --no-command it is empty.
[[nodiscard]] std::vector<std::string> shown_command_line(const Settings& settings);
// On the playback GPU, so that no number is from hardware.
[[nodiscard]] bool is_played(const Settings& settings);
// "run.json" and "2" give "run-2.json".
[[nodiscard]] std::string with_suffix(const std::string& path, const std::string& suffix);

}  // namespace gable
