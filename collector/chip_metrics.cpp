// SPDX-License-Identifier: Apache-2.0
#include "collector/chip_metrics.h"

#include <algorithm>
#include <utility>

#include "collector/host_object.h"

namespace gable {

CuptiFailure ChipMetrics::check() {
  HostObject probe(api_, chip_, &availability_);
  return probe.open();
}

std::optional<std::size_t> ChipMetrics::configure(const MetricNames& metrics,
                                                  std::vector<std::uint8_t>& image) {
  HostObject host(api_, chip_, &availability_);
  std::size_t count = 0;
  if (host.open().failed() || host.add(metrics).failed() || host.config_image(image).failed() ||
      host.passes(image, count).failed())
    return std::nullopt;
  return count;
}

std::optional<std::size_t> ChipMetrics::passes(const MetricNames& metrics) {
  std::string key;
  for (const std::string& metric : metrics) key.append(metric).push_back(',');
  const auto known = answers_.find(key);
  if (known != answers_.end()) return known->second;
  std::vector<std::uint8_t> image;
  return answers_[key] = configure(metrics, image);
}

std::optional<std::size_t> ChipMetrics::passes_alone(std::string_view metric) {
  return passes({std::string(metric)});
}

bool ChipMetrics::fits(const MetricNames& group, const std::string& metric) {
  if (std::find(group.begin(), group.end(), metric) != group.end()) return true;
  auto more = group;
  more.push_back(metric);
  return passes(more) == std::size_t{1};
}

}  // namespace gable
