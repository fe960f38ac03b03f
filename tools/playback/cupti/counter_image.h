// SPDX-License-Identifier: Apache-2.0
// The images of the playback range profiler: blobs in the client's memory that explain themselves,
// as CUPTI's do. Configuration image: chip and metrics. Counter image: metrics, room for ranges,
// and per range a name and its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gable::playback {

struct ConfigImage {
  std::string chip;
  std::vector<std::string> metrics;

  [[nodiscard]] std::vector<std::uint8_t> write() const;
  static bool read(const std::uint8_t* data, std::size_t size, ConfigImage& image);
};

struct CounterRange {
  std::string name;
  std::vector<double> values;
};

class CounterImage {
 public:
  static constexpr std::size_t kNameBytes = 256;  // of one range, with nesting

  static std::size_t size_for(const std::vector<std::string>& metrics, std::size_t max_ranges);
  static void initialize(std::uint8_t* data, std::size_t size,
                         const std::vector<std::string>& metrics, std::size_t max_ranges);

  // Looks at an image; false from `valid` when the bytes are none.
  CounterImage(const std::uint8_t* data, std::size_t size);
  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] const std::vector<std::string>& metrics() const { return metrics_; }
  [[nodiscard]] std::size_t ranges() const { return ranges_; }
  [[nodiscard]] std::size_t max_ranges() const { return max_ranges_; }
  [[nodiscard]] CounterRange range(std::size_t index) const;

  // Appends; false when there is no room.
  static bool append(std::uint8_t* data, std::size_t size, const CounterRange& range);

 private:
  [[nodiscard]] const std::uint8_t* slot(std::size_t index) const;

  const std::uint8_t* data_;
  std::size_t size_, ranges_ = 0, max_ranges_ = 0, first_slot_ = 0, slot_bytes_ = 0;
  std::vector<std::string> metrics_;
  bool valid_ = false;
};

std::uint64_t checksum(const std::uint8_t* data, std::size_t size);

}  // namespace gable::playback
