// SPDX-License-Identifier: Apache-2.0
#include "collector/metrics/chip_metrics.h"

#include <algorithm>
#include <utility>

#include "collector/metrics/host_object.h"

namespace gable {
namespace {

// What 12.6 to 13.1 answer where a chip lacks a metric, or where metrics share no configuration:
// CUPTI_ERROR_INVALID_PARAMETER. The others have names that say as much.
bool refuses_metric(CUptiResult code) {
  return code == CUPTI_ERROR_INVALID_PARAMETER || code == CUPTI_ERROR_INVALID_METRIC_NAME ||
         code == CUPTI_ERROR_INVALID_METRIC_ID || code == CUPTI_ERROR_NOT_SUPPORTED;
}

}  // namespace

CuptiFailure ChipMetrics::check() {
  HostObject probe(api_, chip_, &availability_);
  return probe.open();
}

std::optional<std::size_t> ChipMetrics::configure(const MetricNames& metrics,
                                                  std::vector<std::uint8_t>& image) {
  HostObject host(api_, chip_, &availability_);
  std::size_t count = 0;
  CuptiFailure failure = host.open();
  if (!failure.failed()) {
    failure = host.add(metrics);
    if (failure.failed() && refuses_metric(failure.code)) return std::nullopt;
  }
  if (!failure.failed()) failure = host.config_image(image);
  if (!failure.failed()) failure = host.passes(image, count);
  if (!failure.failed()) return count;
  if (!trouble_.failed()) trouble_ = std::move(failure);
  return std::nullopt;
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
