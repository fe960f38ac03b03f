// SPDX-License-Identifier: Apache-2.0
#include "tools/ceilings/ceilings_repeat.h"

#include <algorithm>
#include <numeric>

namespace gable {
namespace {

constexpr std::uint32_t kFirstIterations = 8;
constexpr double kMostGrowth = 64;
constexpr double kTooShort = 0.1;  // of the wanted time: such a kernel does not do its work

}  // namespace

std::optional<Repeated> repeat_until_steady(
    const std::function<std::optional<double>(std::uint32_t)>& launch, const RepeatLimits& limits) {
  Repeated result;
  result.iterations = kFirstIterations;
  while (true) {
    const std::optional<double> seconds = launch(result.iterations);
    if (!seconds) return std::nullopt;
    if (*seconds >= limits.launch_s) break;
    if (result.iterations >= limits.most_iterations) {
      if (*seconds < kTooShort * limits.launch_s) return std::nullopt;
      break;
    }
    const double wanted = *seconds > 0 ? 1.25 * limits.launch_s / *seconds : kMostGrowth;
    const double next = result.iterations * std::clamp(wanted, 2.0, kMostGrowth);
    result.iterations = static_cast<std::uint32_t>(std::min<double>(next, limits.most_iterations));
  }
  std::vector<double> times;
  while (result.launches < limits.most && !result.steady) {
    const std::optional<double> seconds = launch(result.iterations);
    if (!seconds || *seconds <= 0) return std::nullopt;
    times.push_back(*seconds);
    ++result.launches;
    if (static_cast<int>(times.size()) < limits.last) continue;
    const auto first = times.end() - limits.last;
    const auto [shortest, longest] = std::minmax_element(first, times.end());
    result.seconds = std::accumulate(first, times.end(), 0.0) / limits.last;
    result.spread = (*longest - *shortest) / result.seconds;
    result.steady = result.launches >= limits.least && result.spread < limits.spread;
  }
  return result;
}

}  // namespace gable
