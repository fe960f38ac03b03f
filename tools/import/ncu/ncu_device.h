// SPDX-License-Identifier: Apache-2.0
// What ncu says of the GPU: metrics device__attribute_…, of which the raw page has all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tools/import/counters/ncu_values.h"
#include "tools/import/records/imported.h"

namespace gable {

// An attribute that a report has a place for, or the details page's "# SMs".
[[nodiscard]] bool is_device_attribute(std::string_view metric);

// The GPUs of one file.
class NcuGpus {
 public:
  explicit NcuGpus(Imported& imported) : imported_(imported) {}

  // Takes an attribute; of two that tell the same (the clock's rate and the highest frequency) the
  // first that has a value. Clocks are kHz unless `unit` says otherwise. Empty and "n/a" say
  // nothing. False where the value is none of such an attribute.
  [[nodiscard]] bool take(std::int32_t device, std::string_view metric, std::string_view unit,
                          std::string_view value, DecimalMark mark);
  [[nodiscard]] bool has(std::int32_t device) const { return gpus_.contains(device); }
  // What was read joins what others said. Throws WrongUse where they say it is another GPU.
  void finish(const std::string& file);

 private:
  Imported& imported_;
  std::map<std::int32_t, DeviceInfo> gpus_;
};

}  // namespace gable
