// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor_findings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analysis/base/display.h"
#include "collector/counters/counter_access.h"
#include "collector/cupti/cupti_advice.h"
#include "collector/cupti/device_query.h"
#include "collector/metrics/plan.h"
#include "tools/doctor/doctor_holders.h"
#include "tools/doctor/doctor_rights.h"
#include "tools/launch/injection.h"
#include "tools/launch/install.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

std::string cuda_version(int version) {
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version / 10 % 100);
}

// Of the toolkit that a CUPTI came with; 0 for those before CUDA 12.
int cuda_major(std::uint32_t cupti) {
  return cupti >= 130000 ? static_cast<int>(cupti / 10000) : cupti >= 18 ? 12 : 0;
}

std::string why_not_initialized(CUresult code) {
  switch (code) {
    case CUDA_ERROR_NO_DEVICE:
      return "The driver is there but sees no GPU: is CUDA_VISIBLE_DEVICES empty, or the container "
             "started without --gpus all?";
    case CUDA_ERROR_STUB_LIBRARY:
      return "The libcuda.so.1 found here is the toolkit's stub and no driver: take the toolkit's "
             "stubs folder out of LD_LIBRARY_PATH.";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "The driver's library and its kernel module are of different versions: reboot, or "
             "make the container's driver that of the host.";
    default:
      return "The driver could not be initialised: cuInit answered error " + std::to_string(code) +
             "; does nvidia-smi work here?";
  }
}

class Examiner {
 public:
  Examination run(const CuptiWish& wish, const std::vector<Finding>& said) {
    examine_library();
    driver_ = load_driver(true);
    api_ = load_cupti(wish);
    if (wish.asking && !api_.path.empty()) wish.asking(api_.path);  // the one chosen of several
    examine_driver();
    result_.parts.insert(result_.parts.end(), said.begin(), said.end());
    // What was said of the one that was asked for is all there is to say.
    if (said.empty() || api_.can_trace) examine_cupti();
    examine_devices();
    // Of the machine; the playback GPU gives its counters to everybody.
    if (std::getenv("GABLE_PLAYBACK") == nullptr)
      for (Finding& one : examine_rights(Surroundings::here()))
        result_.parts.push_back(std::move(one));
    examine_holders();
    conclude();
    return std::move(result_);
  }

 private:
  void add(const char* part, State state, std::string text) {
    result_.parts.push_back({part, state, std::move(text)});
  }

  void examine_library() {
    const std::string& library = library_ = injected_library();
    if (library.empty()) {
      add("library", State::missing, no_injected_library());
      no_phase_ = "see library";
    } else {
      add("library", State::ready, library);
    }
    const std::string python = python_startup_folder(), playback = playback_folder();
    add("Python", python.empty() ? State::missing : State::ready,
        python.empty() ? no_python_side() : fs::path(python).parent_path().string());
    add("playback", playback.empty() ? State::missing : State::ready,
        playback.empty() ? no_playback() : playback);
    const std::string holder = injection_holder(library);
    if (!holder.empty()) {
      add("injection", State::limited,
          "Another tool is to be injected (" + holder +
              "): gable profile then leaves the program unprofiled. Unset that variable, or take "
              "the "
              "tool's place with --force-inject.");
      no_phase_ = "see injection";
    }
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(name);
  }

  void examine_driver() {
    if (!driver_.usable()) {
      add("driver", State::missing, driver_.why_not);
      return;
    }
    if (const CUresult code = driver_.init(0); code != CUDA_SUCCESS) {
      add("driver", State::limited, why_not_initialized(code));
      return;
    }
    int version = 0;
    const bool known = driver_.version(&version) == CUDA_SUCCESS && version > 0;
    add("driver", State::ready, known ? "for programs up to " + cuda_version(version) : "found");
    driver_ready_ = true;
    driver_version_ = known ? version : 0;
  }

  void examine_cupti() {
    if (!api_.can_trace) {
      add("CUPTI", State::missing, api_.why_not);
      return;
    }
    const fs::path folder = fs::path(api_.path).parent_path();
    std::string missing;
    std::error_code code;
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
      if (!fs::exists(folder / name, code)) {
        missing += (missing.empty() ? "" : " and ") + std::string(name);
      }
    }
    if (!api_.can_profile && missing.empty()) {
      add("CUPTI", State::limited, api_.why_not);
      no_counters_ = "see CUPTI";
      return;
    }
    const int release = cuda_major(api_.version);
    if (driver_version_ > 0 && driver_version_ / 1000 < release) {
      add("CUPTI", State::limited,
          api_.path + " (" + version_of(api_) + ") is newer than the driver supports (" +
              cuda_version(driver_version_) +
              "): update the driver, or point --cupti to "
              "the CUPTI of CUDA " +
              std::to_string(driver_version_ / 1000) + ".");
    } else {
      add("CUPTI", State::ready, api_.path + " (" + version_of(api_) + ")");
    }
    if (!api_.can_profile) {
      add("libnvperf", State::missing, api_.why_not);
      no_counters_ = "see libnvperf";
    } else if (missing.empty()) {
      add("libnvperf", State::ready, "libnvperf_host.so and libnvperf_target.so beside it");
    } else {
      add("libnvperf", State::ready, missing + " not beside it, but found by the loader");
    }
  }

  void examine_devices() {
    if (!driver_ready_) {
      add("device", State::unknown, "There is no driver to ask.");
      return;
    }
    // Without CUPTI's engine devices do not tell their chip, and it may be fatal to ask.
    const CuptiFailure refused = api_.can_profile ? start_engine(api_) : CuptiFailure{};
    const bool started = api_.can_profile && !refused.failed();
    // Then it takes no times either.
    if (refused.code == CUPTI_ERROR_NOT_INITIALIZED || refused.code == CUPTI_ERROR_UNKNOWN)
      no_times_ = "see counters";
    const std::vector<DeviceInfo> devices = query_devices(driver_, started ? &api_ : nullptr);
    result_.has_gpu = !devices.empty();
    if (devices.empty()) add("device", State::missing, "The driver lists no GPU.");
    for (const DeviceInfo& device : devices) {
      add("device", State::ready, described(device));
      if (is_virtual_gpu(device.name)) {
        add("vGPU", State::ready,
            "Device " + std::to_string(device.id) +
                " is lent by a hypervisor: counters need enable_profiling=1 in this virtual "
                "machine's configuration, on the host; docs/administrators.md says how.");
      }
      if (!api_.can_profile) continue;
      const std::string reason = started ? why_no_counters_on(device) : refused.sentence;
      if (reason.empty()) {
        add("counters", State::ready, "permitted on device " + std::to_string(device.id));
      } else {
        add("counters", State::limited, reason);
        no_counters_ = "see counters";
      }
    }
  }

  // Who it may be, where counters are refused or held; else nobody's business.
  void examine_holders() {
    const auto holders = running_holders(library_);
    if (holders.empty()) return;
    if (no_counters_.empty()) {
      add("others", State::ready,
          gable::described(holders) + ". " +
              (result_.has_gpu ? "The counters were free just now."
                               : "They may hold a GPU's counters."));
    } else {
      add("holder", State::limited, gable::described(holders) + ".");
    }
  }

  static std::string described(const DeviceInfo& device) {
    std::string text = std::to_string(device.id) + ": " + device.name;
    if (!device.chip.empty()) text += ", " + device.chip;
    if (device.compute_major > 0) {
      text += ", compute capability " + std::to_string(device.compute_major) + "." +
              std::to_string(device.compute_minor);
    }
    if (device.sm_count > 0) text += ", " + std::to_string(device.sm_count) + " SMs";
    if (device.memory_bytes > 0) {
      text += ", " + with_prefix(static_cast<double>(device.memory_bytes), "B");
    }
    return text;
  }

  std::string why_no_counters_on(const DeviceInfo& device) {
    if (std::string reason = why_no_counters(api_, device.id); !reason.empty()) return reason;
    if (device.chip.empty()) return "CUPTI does not say which chip this GPU is.";
    const MetricPlan plan = plan_metrics(api_, device.chip);
    if (plan.passes.empty()) {
      return plan.error.empty() ? "No metric of this chip fits a single pass." : plan.error;
    }
    const auto groups = static_cast<std::size_t>(
        std::count_if(plan.passes.begin(), plan.passes.end(),
                      [](const PassPlan& pass) { return pass.phase.kind == PhaseKind::hw; }));
    hw_groups_ = std::max(hw_groups_, groups);
    return why_counters_fail(api_, device.id, device.chip, plan.passes.front());
  }

  // What keeps a phase from running: where to look, or empty.
  [[nodiscard]] std::string obstacle(bool counters) const {
    if (!no_phase_.empty()) return no_phase_;
    if (!driver_ready_) return "see driver";
    if (!result_.has_gpu) return "see device";
    if (!api_.can_trace) return "see CUPTI";
    return counters ? no_counters_ : no_times_;
  }

  void conclude() {
    const auto phase = [this](std::string name, bool counters, const char* gives) {
      const std::string why = obstacle(counters);
      result_.phases.push_back({std::move(name), why.empty() ? State::ready : State::missing,
                                why.empty() ? gives : "does not run here: " + why});
    };
    phase(hw_groups_ > 1 ? "hw:1.." + std::to_string(hw_groups_) : "hw", true,
          "DRAM, L2 and L1 bytes, tensor-core operations");
    phase("flops", true, "FP64, FP32 and FP16 operations");
    phase("time", false, "kernel and copy times without counters");
  }

  CuptiApi api_;
  DriverCalls driver_;
  Examination result_;
  bool driver_ready_ = false;
  int driver_version_ = 0;  // 13000: CUDA 13.0; 0: unknown
  std::size_t hw_groups_ = 0;
  std::string library_, no_phase_, no_counters_, no_times_;
};

}  // namespace

const char* to_string(State state) {
  switch (state) {
    case State::ready:
      return "ready";
    case State::limited:
      return "limited";
    case State::missing:
      return "missing";
    case State::unknown:
      break;
  }
  return "unknown";
}

bool Examination::limited() const {
  const auto bad = [](const Finding& finding) { return finding.state != State::ready; };
  return std::any_of(parts.begin(), parts.end(), bad) ||
         std::any_of(phases.begin(), phases.end(), bad);
}

Examination examine(const CuptiWish& wish, const std::vector<Finding>& said) {
  return Examiner().run(wish, said);
}

std::string version_of(const CuptiApi& api) {
  if (api.version == 0) return "it does not tell its version here";
  return cuda_release(api.version) + ", API " + std::to_string(api.version);
}

}  // namespace gable
