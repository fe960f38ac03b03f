// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: on which GPUs it takes counters. What it says when it is asked beforehand,
// and what it answers who does not ask.
#include <map>
#include <string>

#include <cupti_profiler_target.h>

#include "tools/playback/cupti/cupti_range.h"

namespace gable::playback {

CUptiResult refused_device() {
  // By number: headers of older releases do not name all of them.
  static const auto& codes = *new std::map<std::string, int>{
      {"architecture", 27}, {"vgpu", 33}, {"vgpu_disabled", 40}, {"cmp", 42},
      {"mig", 43},          {"sli", 44},  {"wsl", 45},           {"confidential_computing", 41}};
  const auto found = codes.find(the_gpu().control().unsupported());
  return found == codes.end() ? CUPTI_SUCCESS : static_cast<CUptiResult>(found->second);
}

}  // namespace gable::playback

using namespace gable::playback;

extern "C" CUptiResult CUPTIAPI
cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  const auto& devices = the_gpu().recording().devices;
  const auto index = static_cast<std::size_t>(params->cuDevice);
  if (params->cuDevice < 0 || index >= devices.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto yes = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  const auto no = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  const std::string why = the_gpu().control().unsupported();
  const auto unless = [&](bool bad) { return bad ? no : yes; };
  params->architecture = unless(why == "architecture" || devices[index].compute_major < 7);
  params->sli = unless(why == "sli");
  params->vGpu =
      why == "vgpu_disabled" ? CUPTI_PROFILER_CONFIGURATION_DISABLED : unless(why == "vgpu");
  params->confidentialCompute = unless(why == "confidential_computing");
  params->cmp = unless(why == "cmp");
  params->wsl = unless(why == "wsl");
  // Of a GPU that is split it tells nothing: only the first call for counters does.
  params->isSupported = unless(params->architecture != yes || (!why.empty() && why != "mig"));
  return CUPTI_SUCCESS;
}
