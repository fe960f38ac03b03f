// SPDX-License-Identifier: Apache-2.0
// The entry points. CUDA's driver calls InitializeInjection inside cuInit; every shared object that
// uses NVTX calls one of the other two once, and the third before its first payload. Either may
// come first, several times, on several threads, or never.
#include <atomic>
#include <cstdint>
#include <exception>

#include "analysis/base/no_cancel.h"
#include "collector/runtime/nvtx_entry.h"
#include "collector/runtime/runtime.h"
#include "collector/session/session.h"
#include "inject/process.h"
#include "inject/python_attach.h"

namespace {

std::atomic_flag g_started = ATOMIC_FLAG_INIT;

using GetExportTable = const void* (*)(std::uint32_t);

int attach(GetExportTable get_export_table) {
  try {
    gable::watch_process();
    // 0: NVTX lets go of us and becomes a no-op.
    return gable::attach_nvtx(get_export_table) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

void step(gable::StepPoint point, bool anew = false) {
  const gable::NoCancel hold;
  try {
    auto* session = gable::runtime().session.load(std::memory_order_acquire);
    if (session != nullptr) session->step_point(point, anew);
  } catch (const std::exception&) {
    return;  // this border is missed
  }
}

}  // namespace

#define GABLE_ENTRY extern "C" __attribute__((visibility("default")))

GABLE_ENTRY int InitializeInjection(void) {
  const gable::NoCancel hold;
  try {
    gable::watch_process();
    if (!gable::first_in_process(g_started)) return 1;
    auto& rt = gable::runtime();
    if (gable::Session::start(rt) == nullptr) return 1;
    gable::watch_end(!gable::python_is_to_start());
    gable::attach_python_side(rt);
  } catch (const std::exception&) {
    // Nothing may leave: the driver would take the program down.
  }
  return 1;  // also when nothing can be collected: the program must run
}

GABLE_ENTRY int InitializeInjectionNvtx2(GetExportTable get_export_table) {
  return attach(get_export_table);
}

GABLE_ENTRY int InitializeInjectionNvtxExtension(void* module_info) {
  try {
    gable::watch_process();
    return gable::attach_nvtx_payloads(module_info) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

GABLE_ENTRY int InitializeInjectionNvtx(GetExportTable get_export_table) {
  return attach(get_export_table);
}

// 0: the end of the outermost forward ends the step; 1: an optimizer; 2: an optimizer, and what
// ended steps before was no end of one.
GABLE_ENTRY void gable_step_found(int how) {
  step(how != 0 ? gable::StepPoint::optimizer : gable::StepPoint::forward, how == 2);
}

GABLE_ENTRY void gable_step(void) { step(gable::StepPoint::call); }
