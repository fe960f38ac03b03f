// SPDX-License-Identifier: Apache-2.0
#include "tests/failures/other_tool.h"

#include <cupti.h>

#include <cstdint>
#include <cstdlib>

namespace {

int g_kernels = 0;
bool g_begun = false;

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 1 << 16;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
}

void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                        std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ++g_kernels;
  std::free(buffer);
}

void CUPTIAPI heard(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

}  // namespace

extern "C" __attribute__((visibility("default"))) int other_tool_begin() {
  CUpti_SubscriberHandle handle = nullptr;
  const auto code = cuptiSubscribe(&handle, heard, nullptr);
  if (code != CUPTI_SUCCESS) return static_cast<int>(code);
  cuptiActivityRegisterCallbacks(requested, completed);
  g_begun = true;
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  return 0;
}

extern "C" __attribute__((visibility("default"))) int other_tool_kernels() {
  if (g_begun) cuptiActivityFlushAll(1);
  return g_kernels;
}
