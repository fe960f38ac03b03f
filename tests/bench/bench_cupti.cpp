// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bench_cupti.h"

#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "collector/cupti/cupti_api.h"
#include "collector/process/clock.h"
#include "collector/runtime/nvtx_entry.h"
#include "collector/runtime/runtime.h"
#include "collector/session/session.h"

namespace gable::bench {
namespace {

CUpti_CallbackFunc g_callback = nullptr;
void* g_data = nullptr;
CUpti_BuffersCallbackRequestFunc g_request = nullptr;
CUpti_BuffersCallbackCompleteFunc g_complete = nullptr;

// Records lie one behind the other in a buffer; the structure's size is ours to choose.
using Record = CUpti_ActivityKernel9;

CuptiApi make_api() {
  CuptiApi api;
  api.can_trace = true;
  api.why_not = "The benchmark has no counters.";
  api.cuptiGetVersion = [](std::uint32_t* v) {
    *v = 130000;
    return CUPTI_SUCCESS;
  };
  api.cuptiGetResultString = [](CUptiResult, const char** s) {
    *s = "?";
    return CUPTI_SUCCESS;
  };
  api.cuptiSubscribe = [](CUpti_SubscriberHandle* h, CUpti_CallbackFunc f, void* d) {
    *h = nullptr;
    g_callback = f;
    g_data = d;
    return CUPTI_SUCCESS;
  };
  api.cuptiUnsubscribe = [](CUpti_SubscriberHandle) { return CUPTI_SUCCESS; };
  api.cuptiEnableCallback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                               CUpti_CallbackId) { return CUPTI_SUCCESS; };
  api.cuptiGetTimestamp = [](std::uint64_t* t) {
    *t = system_ns();  // as every CUPTI that was met
    return CUPTI_SUCCESS;
  };
  api.cuptiGetDeviceId = [](CUcontext, std::uint32_t* id) {
    *id = 0;
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityRegisterCallbacks = [](CUpti_BuffersCallbackRequestFunc r,
                                          CUpti_BuffersCallbackCompleteFunc c) {
    g_request = r;
    g_complete = c;
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityEnable = [](CUpti_ActivityKind) { return CUPTI_SUCCESS; };
  api.cuptiActivityDisable = [](CUpti_ActivityKind) { return CUPTI_SUCCESS; };
  api.cuptiActivityFlushAll = [](std::uint32_t) { return CUPTI_SUCCESS; };
  api.cuptiActivityGetNextRecord = [](std::uint8_t* buffer, std::size_t valid,
                                      CUpti_Activity** record) {
    auto* next =
        *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeof(Record);
    if (next + sizeof(Record) > buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
  };
  api.cuptiActivityGetNumDroppedRecords = [](CUcontext, std::uint32_t, std::size_t* n) {
    *n = 0;
    return CUPTI_SUCCESS;
  };
  return api;
}

// NVTX's side of the handshake: tables of pointers to function pointers.
NvtxFunctionPointer g_functions[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer* g_table[NVTX_CBID_CORE_SIZE + 1];
NvtxFunctionPointer* g_no_table[1];

int NVTX_API module_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  const bool core = module == NVTX_CB_MODULE_CORE;
  *table = core ? g_table : g_no_table;
  *size = core ? NVTX_CBID_CORE_SIZE : 0;
  return 1;
}

const void* export_table(std::uint32_t id) {
  static const NvtxExportTableCallbacks callbacks{sizeof callbacks, module_table};
  return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
}

}  // namespace

void start_collection() {
  static std::once_flag once;
  std::call_once(once, [] {
    setenv(
        "GABLE_OPTIONS",
        "--phases time --step-range '^step' --wait 0 --warmup 0 --active 1000000000 -o /dev/null",
        1);
    for (std::size_t i = 0; i < NVTX_CBID_CORE_SIZE; ++i) g_table[i] = &g_functions[i];
    attach_nvtx(export_table);
    if (Session::start(runtime(), make_api()) == nullptr) std::abort();
  });
}

CUpti_CallbackFunc subscriber() { return g_callback; }
void* subscriber_data() { return g_data; }

void complete_records(std::uint32_t first, std::uint32_t last) {
  while (first < last && g_request != nullptr) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, used = 0;
    g_request(&buffer, &size, &most);
    for (; first < last && used + sizeof(Record) <= size; ++first, used += sizeof(Record)) {
      Record record{};
      record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
      record.start = std::uint64_t{first} * 1000;
      record.end = record.start + 800;
      record.correlationId = first;
      std::memcpy(buffer + used, &record, sizeof record);
    }
    g_complete(nullptr, 0, buffer, size, used);
  }
}

PushA nvtx_push() { return reinterpret_cast<PushA>(g_functions[NVTX_CBID_CORE_RangePushA]); }
Pop nvtx_pop() { return reinterpret_cast<Pop>(g_functions[NVTX_CBID_CORE_RangePop]); }

}  // namespace gable::bench
