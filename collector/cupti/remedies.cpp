// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/remedies.h"

#include "collector/cupti/cupti_codes.h"

namespace gable {

std::string remedy_for(CUptiResult code) {
  switch (static_cast<int>(code)) {  // older headers do not name all of them
    case CUPTI_ERROR_OUT_OF_MEMORY:
      return "Memory for counters ran out; use a smaller --window.";
    case CUPTI_ERROR_NOT_INITIALIZED:
      return "CUPTI could not reach the driver, which happens when the driver is older than CUPTI; "
             "point --cupti to that of the driver's CUDA version, or have it loaded first with "
             "LD_PRELOAD where the program brings its own.";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "Another tool holds the GPU's counters; if it is DCGM, run `dcgmi profile --pause` "
             "first "
             "and `dcgmi profile --resume` afterwards.";
    case CUPTI_ERROR_NOT_SUPPORTED:
      return "This GPU has no range profiler (it needs compute capability 7.5 or newer).";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return "Counters do not work on this virtual GPU; use one with profiling, or the whole GPU.";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "Counters are reserved for the administrator: run as root, start the container with "
             "--cap-add=SYS_ADMIN, or load the driver with `options nvidia "
             "NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d and reboot.";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "Another profiler already watches this program; run it without nsys, ncu, cuda-gdb or "
             "torch.profiler.";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "The hypervisor does not allow profiling on this virtual GPU; its administrator can "
             "switch it on (vGPU plugin parameter enable_profiling=1).";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "Counters do not work in confidential computing mode; use a GPU where it is off.";
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
      return "NVIDIA's mining processors (CMP) have no counters; use another GPU.";
    case kMigNotSupported:
      return "Counters do not work on this MIG instance; use the whole GPU (`nvidia-smi -mig 0`).";
    case kSliNotSupported:
      return "Counters do not work while SLI is on; switch it off.";
    case kWslNotSupported:
      return "Counters do not work under WSL with this GPU or driver; use native Linux.";
    case kInvalidChipName:
      return "This CUPTI does not know the GPU's chip; point --cupti to a newer one, or have it "
             "loaded first with LD_PRELOAD where the program brings its own.";
    default:
      return {};
  }
}

CuptiFailure call_failed(const CuptiApi& api, const char* call, CUptiResult code) {
  CuptiFailure failure;
  failure.code = code;
  failure.sentence = std::string(call) + " failed with " + describe(api, code) + ".";
  if (const auto remedy = remedy_for(code); !remedy.empty()) failure.sentence += " " + remedy;
  return failure;
}

}  // namespace gable
