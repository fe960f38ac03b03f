// SPDX-License-Identifier: Apache-2.0
// gable ceilings: measures the roofs of this machine's GPUs and keeps them for later reports.
#include <dlfcn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <ctime>

#include "tools/ceilings/ceilings_gpu.h"
#include "tools/ceilings/ceilings_latency.h"
#include "tools/ceilings/ceilings_repeat.h"
#include "tools/ceilings/ceilings_table.h"
#include "tools/commands/command.h"
#include "tools/launch/injection.h"

namespace gable {
namespace {

constexpr int kExitNothing = 1;

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

bool same_kind(const DeviceInfo& a, const DeviceInfo& b) {
  return a.name == b.name && a.sm_count == b.sm_count && a.sm_clock_max_hz == b.sm_clock_max_hz;
}

// On a terminal one line that changes, elsewhere a line each.
class StageLine {
 public:
  void show(const std::string& text) {
    std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
    std::fflush(stderr);
  }
  ~StageLine() {
    if (terminal_) std::fprintf(stderr, "\r\033[K");
  }
  StageLine() = default;
  StageLine(const StageLine&) = delete;
  StageLine& operator=(const StageLine&) = delete;

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
};

class CeilingsCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("-o,--output", output_);
    app.add_option("--device", device_);
    app.add_option("--playback", playback_);
  }

  int run() override {
    prepare_playback();
    std::string why_not;
    const std::vector<DeviceInfo> all = RoofGpu::devices(why_not);
    if (all.empty()) {
      say(why_not);
      return kExitNothing;
    }
    const std::vector<DeviceInfo> chosen = choose(all);
    int code = kExitGood;
    for (const DeviceInfo& device : chosen) code = std::max(code, measure(device));
    return code;
  }

 private:
  void prepare_playback() {
    if (playback_.empty()) return;
    const std::string folder = set_playback(playback_);
    // Found by its name from here on, as a machine's own would be.
    if (dlopen((folder + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
      throw WrongUse("The playback GPU could not be opened: " + std::string(dlerror()) + ".");
    (void)dlopen((folder + "/libnvidia-ml.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  }

  // One of every kind, unless one is named.
  [[nodiscard]] std::vector<DeviceInfo> choose(const std::vector<DeviceInfo>& all) const {
    std::vector<DeviceInfo> chosen;
    for (const DeviceInfo& device : all) {
      if (device_ && *device_ != device.id) continue;
      const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const DeviceInfo& each) {
        return same_kind(each, device);
      });
      if (!known) chosen.push_back(device);
    }
    if (chosen.empty()) {
      throw WrongUse("There is no device " + std::to_string(*device_) +
                     ": --device takes a number from 0 to " + std::to_string(all.size() - 1) + ".");
    }
    if (chosen.size() > 1 && !output_.empty()) {
      throw WrongUse("There are several kinds of GPU here: name one with --device for -o.");
    }
    return chosen;
  }

  int measure(const DeviceInfo& device) {
    MeasuredRoofs measured;
    measured.device = device;
    measured.playback = !playback_.empty();
    measured.measured_at = now();
    std::vector<FailedRoof> failed;
    std::string no_latency;
    RoofGpu gpu(device);
    if (!gpu.problem().empty()) {
      say("No kernel can run on device " + std::to_string(device.id) + ": " + gpu.problem() + ".");
      return kExitNothing;
    }
    {
      StageLine progress;
      const auto kernels = roof_kernels_of(device.compute_major * 10 + device.compute_minor);
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        progress.show("measuring " + std::to_string(i + 1) + " of " +
                      std::to_string(kernels.size()) + ": " + kernels[i]->roof + ", " +
                      kernels[i]->how);
        measure(gpu, *kernels[i], measured, failed);
      }
      for (const CopyKind kind : {CopyKind::host_to_device, CopyKind::device_to_host}) {
        progress.show(std::string("measuring copies from ") +
                      (kind == CopyKind::host_to_device ? "host to GPU" : "GPU to host"));
        measure_copies(gpu, kind, measured, failed);
      }
      measured.device.links = gpu.links();
      progress.show("measuring the launch latency");
      no_latency = measure_latency(gpu, measured);
    }
    std::printf("%s", ceilings_table(measured, failed, no_latency).c_str());
    if (measured.roofs.empty() && !measured.latency) {
      say("Nothing could be measured.");
      return kExitNothing;
    }
    return store(measured);
  }

  // Returns an empty text, or why it could not be measured.
  static std::string measure_latency(RoofGpu& gpu, MeasuredRoofs& measured) {
    const std::string why = gpu.load_latency();
    if (!why.empty()) return why;
    measured.latency = gable::measure_latency([&gpu] { return gpu.launch_latency(); });
    if (measured.latency) return {};
    return gpu.problem().empty() ? "launches took no time" : gpu.problem();
  }

  static void measure(RoofGpu& gpu, const RoofKernel& kernel, MeasuredRoofs& measured,
                      std::vector<FailedRoof>& failed) {
    std::string why = gpu.load(kernel);
    std::optional<Repeated> repeated;
    Maybe clock;
    if (why.empty()) {
      repeated = repeat_until_steady([&](std::uint32_t iterations) -> std::optional<double> {
        const std::optional<LaunchTime> time = gpu.launch(iterations);
        if (!time) return std::nullopt;
        clock = time->clock_hz;
        return time->seconds;
      });
      if (!repeated) why = gpu.problem().empty() ? "its launches took no time" : gpu.problem();
    }
    if (!repeated) {
      failed.push_back({kernel.roof, kernel.how, why});
      return;
    }
    MeasuredRoof roof;
    roof.kind = kernel.kind;
    roof.name = kernel.roof;
    roof.how = kernel.how + (gpu.window().empty() ? "" : ", " + gpu.window());
    roof.value = gpu.operations(repeated->iterations) / repeated->seconds;
    roof.spread = repeated->spread;
    roof.steady = repeated->steady;
    roof.sm_clock_hz = clock;
    measured.roofs.push_back(std::move(roof));
  }

  static void measure_copies(RoofGpu& gpu, CopyKind kind, MeasuredRoofs& measured,
                             std::vector<FailedRoof>& failed) {
    MeasuredRoof roof;
    roof.kind = CeilingKind::link;
    roof.name = to_string(kind);
    roof.how = "copies, pinned";
    std::string why = gpu.load_copies(kind);
    std::optional<Repeated> repeated;
    if (why.empty()) {
      roof.how += ", " + gpu.window();
      RepeatLimits limits;
      limits.least = 10;  // a link has no clock that rises under load
      limits.most_iterations = 256;
      repeated = repeat_until_steady([&](std::uint32_t times) { return gpu.copy(times); }, limits);
      if (!repeated) why = gpu.problem().empty() ? "its copies took no time" : gpu.problem();
    }
    if (!repeated) {
      failed.push_back({roof.name, roof.how, why});
      return;
    }
    roof.value = RoofGpu::copied_bytes(repeated->iterations) / repeated->seconds;
    roof.spread = repeated->spread;
    roof.steady = repeated->steady;
    measured.roofs.push_back(std::move(roof));
  }

  [[nodiscard]] int store(const MeasuredRoofs& measured) const {
    const std::string folder = roofs_folder();
    if (output_.empty() && folder.empty()) {
      say("The roofs were not kept: neither XDG_CACHE_HOME nor HOME is set; name a file with -o.");
      return kExitGood;
    }
    const std::string path =
        output_.empty() ? folder + "/" + roofs_file_name(measured.device, measured.playback)
                        : output_;
    const std::string problem = write_roofs_file(measured, path);
    if (!problem.empty()) throw WrongUse("The roofs were not kept: " + problem);
    std::printf("\nKept in %s\n", path.c_str());
    return kExitGood;
  }

  std::string output_, playback_;
  std::optional<int> device_;
};

}  // namespace

std::unique_ptr<Command> make_ceilings_command() { return std::make_unique<CeilingsCommand>(); }

}  // namespace gable
