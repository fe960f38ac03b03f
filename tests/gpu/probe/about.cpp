// SPDX-License-Identifier: Apache-2.0
// What is here, and what this user may do.
#include <cupti_profiler_target.h>
#include <unistd.h>

#include <fstream>

#include "collector/cupti/cupti_params.h"
#include "collector/metrics/chip_metrics.h"
#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

// "GH100", its plan on this device, and metrics that need more than one pass.
void about() {
  const gpu::Gpu gpu;
  start_engine();
  GABLE_PARAMS(CUpti_Profiler_DeviceSupported, supported);
  supported.api = CUPTI_PROFILER_RANGE_PROFILING;
  (void)told("cuptiProfilerDeviceSupported", cupti().cuptiProfilerDeviceSupported(&supported));
  const bool has = supported.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  std::size_t hw = 0, metrics = 0;
  bool single = true;
  ChipMetrics asked(cupti(), chip());
  for (const PassPlan& pass : plan().passes) {
    hw += pass.phase.kind == PhaseKind::hw ? 1 : 0;
    metrics += pass.metrics.size();
    single = single && asked.passes(pass.metrics) == 1U;
  }
  const auto fp16 = asked.passes_alone("sm__ops_path_tensor_src_fp16");
  Json fields = {{"chip", chip()},
                 {"compute_capability", gpu.capability()},
                 {"device_supported", has},
                 {"hw_passes", hw},
                 {"flops_metrics", flops_pass().metrics.size()},
                 {"metrics", metrics},
                 {"each_is_one_pass", single},
                 {"tensor_fp16_passes", fp16 ? Json(*fp16) : Json()}};
  if (!fp16) fields["unknown"] = {{"tensor_fp16_passes", "this chip has no such metric"}};
  answer(has && single,
         chip() + ": " + std::to_string(hw) + " hardware passes and one of instructions, " +
             std::to_string(metrics) + " metrics, " +
             (single ? "each configuration one pass" : "NOT every configuration one pass"),
         fields);
}

// Which call refuses a user without permission, and whether instructions can be counted all the
// same.
void permission() {
  const Work work;
  std::ifstream file("/proc/driver/nvidia/params");
  std::string restricted = "unknown";
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("RmProfilingAdminOnly:", 0) == 0) restricted = line.substr(line.find(':') + 2);
  }
  const bool engine = start_engine();
  Profiler profiler(work.context());
  bool hw = false, flops = false;
  std::vector<Profiler::Range> ranges;
  const bool enabled = engine && profiler.enable();
  if (enabled) {
    hw = window(
             profiler, hw_pass(), 16, [&] { work.fma(); }, ranges) &&
         !ranges.empty();
    flops = window(
                profiler, flops_pass(), 16, [&] { work.fma(); }, ranges) &&
            !ranges.empty();
  }
  activity_on();
  work.fma(3);
  work.gpu.wait();
  const std::size_t records = flushed_records().kernels;
  const bool administrator = geteuid() == 0;
  const bool allowed = administrator || restricted == "0";
  const std::string refused = failures().empty() ? "no call" : failures().front();
  answer(records == 3 && (hw || !allowed),
         std::string(administrator ? "the administrator" : "another user") +
             ", counters restricted: " + restricted + "; refused: " + refused + "; hw " +
             (hw ? "works" : "does not") + ", flops " + (flops ? "works" : "does not") +
             ", records " + (records == 3 ? "come" : "do not come"),
         {{"administrator", administrator},
          {"restricted", restricted},
          {"refused", refused},
          {"hw", hw},
          {"flops", flops},
          {"records", records}});
}

}  // namespace

void add_about(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"about", about}, {"permission", permission}});
}

}  // namespace gable::probe
