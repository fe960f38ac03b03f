// SPDX-License-Identifier: Apache-2.0
#include "collector/process/process_facts.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/base/plain_file.h"
#include "analysis/masking/mask.h"

namespace gable {
namespace {

std::vector<std::string> command_line() {
  const std::string text = read_plain_file("/proc/self/cmdline").value_or("");
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

std::vector<std::string> shown_command_line(const Settings& settings) {
  return settings.no_command ? std::vector<std::string>{} : mask_command(command_line());
}

// The variable is the playback driver's own: it is also set where the driver was taken by hand.
bool is_played(const Settings& settings) {
  return !settings.playback.empty() || std::getenv("GABLE_PLAYBACK") != nullptr;
}

}  // namespace gable
