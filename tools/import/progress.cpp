// SPDX-License-Identifier: Apache-2.0
#include "tools/import/progress.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace gable {
namespace {

constexpr auto kBetween = std::chrono::milliseconds(100);
constexpr std::size_t kBar = 24, kLongestName = 40;

}  // namespace

void Progress::begin(const std::string& path, std::uint64_t size) {
  name_ = std::filesystem::path(path).filename().string().substr(0, kLongestName);
  size_ = size;
  last_ = std::chrono::steady_clock::now();
}

void Progress::at(std::uint64_t done) {
  if (!shown_ || size_ == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kBetween) return;
  last_ = now;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(size_));
  const auto full = static_cast<std::size_t>(share * kBar);
  const std::string bar = std::string(full, '#') + std::string(kBar - full, '.');
  std::fprintf(stderr, "\r\x1b[K[%s] %3.0f %%  %s", bar.c_str(), share * 100, name_.c_str());
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
