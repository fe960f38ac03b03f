// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/cupti/counter_image.h"

#include <algorithm>
#include <cstring>

namespace gable::playback {
namespace {

constexpr char kConfigMagic[8] = {'g', 'b', 'l', 'c', 'o', 'n', 'f', '1'};
constexpr char kCounterMagic[8] = {'g', 'b', 'l', 'd', 'a', 't', 'a', '1'};

struct CounterHeader {
  char magic[8];
  std::uint64_t max_ranges, ranges, metric_count, names_bytes;
};

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all.append(text).push_back('\0');
  return all;
}

std::vector<std::string> split(const char* data, std::size_t size) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < size;) {
    const std::size_t length = strnlen(data + at, size - at);
    texts.emplace_back(data + at, length);
    at += length + 1;
  }
  return texts;
}

std::size_t round_up(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

std::vector<std::uint8_t> ConfigImage::write() const {
  std::vector<std::string> all = {chip};
  all.insert(all.end(), metrics.begin(), metrics.end());
  const std::string text = std::string(kConfigMagic, sizeof kConfigMagic) + joined(all);
  return {text.begin(), text.end()};
}

bool ConfigImage::read(const std::uint8_t* data, std::size_t size, ConfigImage& image) {
  if (data == nullptr || size <= sizeof kConfigMagic ||
      std::memcmp(data, kConfigMagic, sizeof kConfigMagic) != 0) {
    return false;
  }
  image.metrics =
      split(reinterpret_cast<const char*>(data) + sizeof kConfigMagic, size - sizeof kConfigMagic);
  image.chip = image.metrics.front();
  image.metrics.erase(image.metrics.begin());
  return true;
}

std::size_t CounterImage::size_for(const std::vector<std::string>& metrics,
                                   std::size_t max_ranges) {
  return sizeof(CounterHeader) + round_up(joined(metrics).size()) +
         max_ranges * (kNameBytes + metrics.size() * sizeof(double));
}

void CounterImage::initialize(std::uint8_t* data, std::size_t size,
                              const std::vector<std::string>& metrics, std::size_t max_ranges) {
  std::memset(data, 0, size);
  const std::string names = joined(metrics);
  CounterHeader header{};
  std::memcpy(header.magic, kCounterMagic, sizeof kCounterMagic);
  header.max_ranges = max_ranges;
  header.metric_count = metrics.size();
  header.names_bytes = names.size();
  std::memcpy(data, &header, sizeof header);
  std::copy(names.begin(), names.end(), data + sizeof header);
}

CounterImage::CounterImage(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {
  CounterHeader header{};
  if (data == nullptr || size < sizeof header) return;
  std::memcpy(&header, data, sizeof header);
  if (std::memcmp(header.magic, kCounterMagic, sizeof kCounterMagic) != 0) return;
  metrics_ = split(reinterpret_cast<const char*>(data) + sizeof header, header.names_bytes);
  max_ranges_ = header.max_ranges;
  ranges_ = header.ranges;
  first_slot_ = sizeof header + round_up(header.names_bytes);
  slot_bytes_ = kNameBytes + metrics_.size() * sizeof(double);
  valid_ = first_slot_ + max_ranges_ * slot_bytes_ <= size_ && ranges_ <= max_ranges_;
}

const std::uint8_t* CounterImage::slot(std::size_t index) const {
  return data_ + first_slot_ + index * slot_bytes_;
}

CounterRange CounterImage::range(std::size_t index) const {
  CounterRange range;
  const std::uint8_t* at = slot(index);
  range.name.assign(reinterpret_cast<const char*>(at),
                    strnlen(reinterpret_cast<const char*>(at), kNameBytes));
  range.values.resize(metrics_.size());
  std::memcpy(range.values.data(), at + kNameBytes, range.values.size() * sizeof(double));
  return range;
}

bool CounterImage::append(std::uint8_t* data, std::size_t size, const CounterRange& range) {
  const CounterImage image(data, size);
  if (!image.valid() || image.ranges_ >= image.max_ranges_) return false;
  std::uint8_t* at = data + image.first_slot_ + image.ranges_ * image.slot_bytes_;
  std::memset(at, 0, image.slot_bytes_);
  std::copy_n(range.name.begin(), std::min(range.name.size(), kNameBytes - 1), at);
  std::memcpy(at + kNameBytes, range.values.data(), range.values.size() * sizeof(double));
  CounterHeader header{};
  std::memcpy(&header, data, sizeof header);
  ++header.ranges;
  std::memcpy(data, &header, sizeof header);
  return true;
}

std::uint64_t checksum(const std::uint8_t* data, std::size_t size) {
  std::uint64_t sum = 1469598103934665603ULL;  // FNV-1a, eight bytes a step
  for (; size >= 8; size -= 8, data += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, 8);
    sum = (sum ^ word) * 1099511628211ULL;
    sum ^= sum >> 32;
  }
  for (; size > 0; --size, ++data) sum = (sum ^ *data) * 1099511628211ULL;
  return sum;
}

}  // namespace gable::playback
