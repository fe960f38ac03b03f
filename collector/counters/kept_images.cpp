// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/kept_images.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace gable {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const CounterImage& image) {
  Json json;
  json["phase"] = to_string(image.phase);
  json["chip"] = image.chip;
  json["cupti"] = image.cupti;
  json["metrics"] = image.metrics;
  json["config"] = Json::binary(image.config);
  json["counters"] = Json::binary(image.counters);
  json["ranges"] = Json::array();
  for (const auto& range : image.ranges)
    json["ranges"].push_back({{"name", range.name}, {"values", range.values}});
  return json;
}

std::vector<std::uint8_t> bytes_of(const Json& json) {
  const auto& binary = json.get_binary();
  return {binary.begin(), binary.end()};
}

CounterImage image_of(const Json& json) {
  CounterImage image;
  image.phase_name = json.at("phase").get<std::string>();
  image.chip = json.at("chip").get<std::string>();
  image.cupti = json.at("cupti").get<std::uint32_t>();
  image.metrics = json.at("metrics").get<std::vector<std::string>>();
  image.config = bytes_of(json.at("config"));
  image.counters = bytes_of(json.at("counters"));
  for (const auto& range : json.at("ranges")) {
    RangeValues values{range.at("name").get<std::string>(),
                       range.at("values").get<std::vector<double>>()};
    if (values.values.size() != image.metrics.size())
      throw std::invalid_argument("a range does not have one value for each metric");
    image.ranges.push_back(std::move(values));
  }
  return image;
}

}  // namespace

void KeptImages::keep(const Read& read) {
  const MutexLock hold(mutex_);
  const Phase phase = read.plan->phase;
  const bool known = std::any_of(images_.begin(), images_.end(),
                                 [phase](const auto& each) { return each.phase == phase; });
  if (known || read.ranges.empty()) return;
  if (read.image.size() > kMostBytes || images_.size() >= kMostImages) {
    if (std::find(too_large_.begin(), too_large_.end(), phase) == too_large_.end())
      too_large_.push_back(phase);
    return;
  }
  images_.push_back({phase,
                     {},
                     read.chip,
                     read.cupti,
                     read.plan->metrics,
                     read.plan->config_image,
                     read.image,
                     read.ranges});
}

bool KeptImages::empty() const {
  const MutexLock hold(mutex_);
  return images_.empty() && too_large_.empty();
}

std::uint64_t KeptImages::left_out() const {
  const MutexLock hold(mutex_);
  std::uint64_t count = 0;
  for (const auto phase : too_large_) {
    const bool kept = std::any_of(images_.begin(), images_.end(),
                                  [phase](const auto& each) { return each.phase == phase; });
    count += kept ? 0 : 1;
  }
  return count;
}

std::string KeptImages::text(const std::string& source) const {
  const MutexLock hold(mutex_);
  Json file;
  file["gable_counter_images"] = 1;
  file["source"] = source;
  file["images"] = Json::array();
  for (const auto& image : images_) file["images"].push_back(json_of(image));
  const auto bytes = Json::to_cbor(file);
  return {bytes.begin(), bytes.end()};
}

ImagesRead read_images(const std::string& path) {
  ImagesRead result;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    result.error = path + ": the counter images cannot be opened.";
    return result;
  }
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  try {
    const Json json = Json::from_cbor(bytes);
    if (!json.is_object() || json.value("gable_counter_images", 0) != 1) {
      result.error = path + ": these are not counter images that this Gable can read.";
      return result;
    }
    result.source = json.at("source").get<std::string>();
    for (const auto& image : json.at("images")) result.images.push_back(image_of(image));
  } catch (const std::exception& problem) {
    result.images.clear();
    result.error = path + ": the counter images are damaged (" + problem.what() + ").";
  }
  return result;
}

}  // namespace gable
