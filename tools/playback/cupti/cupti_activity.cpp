// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: the calls about activity records, and their rules.
#include "tools/playback/cupti/activity_buffers.h"
#include "tools/playback/cupti/cupti_state.h"

namespace gable::playback {
namespace {

bool is_kernel_kind(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

// As CUPTI's fault: every kernel record from now on has both times zero.
RecordedFault zeros_for_good() {
  RecordedFault fault;
  fault.fault = Fault::zero_timestamps;
  fault.count = 1ULL << 62;
  return fault;
}

bool valid_kind(CUpti_ActivityKind kind) {
  return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT;
}

}  // namespace

void activity_submitted(const Work& work) { Activity::get().append(work); }
bool kernel_activity_enabled() { return Activity::get().kernels(); }

void engine_started() {
  if (the_gpu().control().is("engine_start", "resets_activity")) Activity::get().disable_all();
}

void engine_ended() {
  if (the_gpu().control().is("engine_end", "resets_activity")) Activity::get().disable_all();
}

}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  GABLE_ENTER();
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return Activity::get().register_callbacks(request, complete);
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  GABLE_ENTER();
  if (!valid_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  check_capture("cuptiActivityEnable");
  if (is_kernel_kind(kind) && armed_profilers() > 0 &&
      the_gpu().control().is("activity_with_counters", "hang_reported")) {
    broken("cuptiActivityEnable of kernels was called while counters are armed (a reported hang)");
  }
  attach();
  Activity::get().enabled(kind) = true;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  GABLE_ENTER();
  if (!valid_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  check_capture("cuptiActivityDisable");
  Activity::get().enabled(kind) = false;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag) {
  GABLE_ENTER();
  if (inside() == Inside::resource) {
    broken("cuptiActivityFlushAll was called inside a resource callback");
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  if (inside() == Inside::buffer) {
    broken("cuptiActivityFlushAll was called inside a buffer callback");
    return CUPTI_ERROR_INVALID_OPERATION;  // the real one may wait for itself
  }
  check_capture("cuptiActivityFlushAll");
  if (armed_profilers() > 0 && the_gpu().control().is("activity_with_counters", "hang_reported")) {
    broken("cuptiActivityFlushAll was called while counters are armed");
    // Reported: no record comes, and the subscriber hears nothing any more.
    drop_callbacks();
    return CUPTI_SUCCESS;
  }
  return Activity::get().flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, std::size_t valid,
                                                CUpti_Activity** record) {
  GABLE_ENTER();
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* next = reinterpret_cast<std::uint8_t*>(*record);
  next = next == nullptr ? buffer : next + size_of(*record);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return size_of(*record) == 0 ? CUPTI_ERROR_INVALID_KIND : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, std::size_t* dropped) {
  GABLE_ENTER();
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (Activity::get().take_dropped(*dropped)) return CUPTI_SUCCESS;
  broken(
      "cuptiActivityGetNumDroppedRecords waited for a buffer callback, which waits for a lock of "
      "its caller");
  return CUPTI_ERROR_UNKNOWN;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t* size,
                                               void* value) {
  GABLE_ENTER();
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (the_gpu().any_context()) {
    broken(
        "cuptiActivitySetAttribute was called after the first context, where buffers have their "
        "sizes");
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc) {
  GABLE_ENTER();
  broken(
      "cuptiActivityRegisterTimestampCallback was called, which makes CUPTI of CUDA 12.6 to 13.0 "
      "record zeros");
  the_gpu().control().add(zeros_for_good());
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize(void) {
  GABLE_ENTER();
  const bool at_exit_of_call = inside() == Inside::driver && driver_site() == CUPTI_API_EXIT;
  if (!at_exit_of_call)
    broken("cuptiFinalize was called elsewhere than at the EXIT of a driver call");
  if (armed_profilers() > 0) broken("cuptiFinalize was called while counters are armed");
  Activity::get().disable_all();
  drop_callbacks();
  return CUPTI_SUCCESS;
}

}  // extern "C"
