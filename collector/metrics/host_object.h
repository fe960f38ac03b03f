// SPDX-License-Identifier: Apache-2.0
// One object of CUPTI's Profiler Host API: metrics in, a configuration image and its number of
// passes out. Needs no GPU. A rejected metric poisons the object: use a fresh one afterwards (about
// 2 ms).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/remedies.h"

namespace gable {

class HostObject {
 public:
  // `availability`: counter availability image of the device, or empty; must outlive this.
  HostObject(const CuptiApi& api, std::string chip,
             const std::vector<std::uint8_t>* availability = nullptr);
  ~HostObject();
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  [[nodiscard]] CuptiFailure open();
  [[nodiscard]] CuptiFailure add(const std::vector<std::string>& metrics);
  [[nodiscard]] CuptiFailure config_image(std::vector<std::uint8_t>& image);
  [[nodiscard]] CuptiFailure passes(std::vector<std::uint8_t>& image, std::size_t& count);
  [[nodiscard]] CUpti_Profiler_Host_Object* get() const { return object_; }

 private:
  const CuptiApi& api_;
  std::string chip_;
  const std::vector<std::uint8_t>* availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

// Runs `action`, which returns a CuptiFailure; an exception (out of memory) becomes a failure too.
template <typename Action>
CuptiFailure guarded(Action&& action) noexcept {
  try {
    return action();
  } catch (...) {
    CuptiFailure failure;
    failure.code = CUPTI_ERROR_OUT_OF_MEMORY;
    failure.sentence = "no memory";  // short enough to need none
    return failure;
  }
}

}  // namespace gable
