// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "analysis/base/display.h"
#include "analysis/base/text.h"

namespace gable {
namespace {

constexpr std::uint64_t kLeastBytes = 8u << 20, kLeastPacked = 1u << 20;
constexpr std::size_t kBar = 24, kNarrowestBar = 4, kShortestName = 8, kUsualColumns = 80;

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsualColumns;
}

}  // namespace

std::string progress_line(unsigned percent, const std::string& name, std::size_t columns) {
  percent = std::min(percent, 100u);
  std::array<char, 16> text{};
  (void)std::snprintf(text.data(), text.size(), "%3u %%", percent);
  std::string line = text.data();
  // The last column stays free: terminals differ in when they go to the next line.
  const std::size_t room = columns == 0 ? 0 : columns - 1;
  if (line.size() > room) return {};
  const std::size_t around = line.size() + 3;  // brackets and a blank
  const std::size_t bar = std::min(kBar, room > around ? room - around : 0);
  if (bar < kNarrowestBar) return line;
  const std::size_t full = bar * percent / 100;
  line = "[" + std::string(full, '#') + std::string(bar - full, '.') + "] " + line;
  if (room < line.size() + 2 + kShortestName) return line;
  return line + "  " + shorten_middle(name, room - line.size() - 2);
}

void Progress::begin(const std::string& path, std::uint64_t whole) {
  std::error_code code;
  const auto bytes = std::filesystem::file_size(path, code);
  whole_ = !code && bytes >= (path.ends_with(".gz") ? kLeastPacked : kLeastBytes) ? whole : 0;
  name_ = clean_name(one_line(std::filesystem::path(path).filename().string()));
  percent_ = kNone;
}

void Progress::at(std::uint64_t done) {
  if (!shown_ || whole_ == 0) return;
  const double share = static_cast<double>(done) / static_cast<double>(whole_);
  const auto percent = static_cast<unsigned>(std::min(1.0, share) * 100);
  if (percent == percent_) return;
  percent_ = percent;
  std::fprintf(stderr, "\r\x1b[K%s", progress_line(percent, name_, terminal_columns()).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace gable
