// SPDX-License-Identifier: Apache-2.0
// Activity records for the probe.
#include <cupti_activity.h>

#include <cstdlib>
#include <mutex>

#include "tests/gpu/probe/cupti.h"

namespace gable::probe {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

struct Taken {
  std::mutex mutex;
  Records records;
};

Taken& taken() {
  static auto* one = new Taken;
  return *one;
}

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void take(const CUpti_Activity* record, Records& records) {
  if (record->kind != CUPTI_ACTIVITY_KIND_KERNEL &&
      record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    ++records.others;
    return;
  }
  const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
  ++records.kernels;
  if (kernel->start == 0 || kernel->end <= kernel->start) {
    ++records.zero_times;
  } else {
    records.durations_ns.push_back(static_cast<double>(kernel->end - kernel->start));
  }
}

void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                        std::size_t valid) {
  const std::lock_guard<std::mutex> hold(taken().mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cupti().cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    take(record, taken().records);
  std::free(buffer);
}

}  // namespace

bool activity_on() {
  static const bool registered = told("cuptiActivityRegisterCallbacks",
                                      cupti().cuptiActivityRegisterCallbacks(requested, completed));
  return registered && told("cuptiActivityEnable",
                            cupti().cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

bool activity_off() {
  return told("cuptiActivityDisable",
              cupti().cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

Records flushed_records() {
  (void)told("cuptiActivityFlushAll",
             cupti().cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  const std::lock_guard<std::mutex> hold(taken().mutex);
  return std::exchange(taken().records, Records{});
}

}  // namespace gable::probe
