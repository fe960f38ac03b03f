// SPDX-License-Identifier: Apache-2.0
// Runs kernels whose work is known, in steps: gable_truth FAMILY. Prints what a report of it must
// say, one JSON object a line, for `gable_prove truth`.
#include <nvtx3/nvToolsExt.h>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/gpu/driver.h"
#include "tests/gpu/truth/gemm.h"
#include "tests/gpu/truth/truth.h"

namespace {

using gable::truth::Expectation;
using gable::truth::Kernel;
using gable::truth::Memory;
using Json = nlohmann::ordered_json;

constexpr int kSteps = 60;       // more than every window takes
constexpr int kTimedSteps = 20;  // the last ones: nothing is collected any more
constexpr int kBackToBack = 4;
constexpr std::size_t kStream = std::size_t{4} << 30, kLeast = std::size_t{256} << 20;
constexpr int kExitSkipped = 77;

bool rehearsed() { return std::getenv("GABLE_PLAYBACK") != nullptr; }

void print(const char* row, const std::string& name, const Expectation& one) {
  static const char* const kKinds[] = {"exact", "near", "between"};
  Json json = {{"row", row},
               {"name", name},
               {"quantity", one.quantity},
               {"kind", kKinds[static_cast<int>(one.kind)]},
               {"value", one.value},
               {"why", one.why}};
  if (one.kind == Expectation::Kind::between) json["high"] = one.high;
  if (one.kind == Expectation::Kind::near) json["tolerance"] = one.tolerance;
  if (!one.may_be_null.empty()) json["may_be_null"] = one.may_be_null;
  std::printf("%s\n", json.dump().c_str());
}

void print(const std::vector<Kernel>& kernels) {
  for (const Kernel& kernel : kernels) {
    for (const Expectation& one : kernel.expected) print("kernel", kernel.name, one);
  }
}

// What GPUs of at least 13 GB have room for; nothing is copied on the playback GPU.
Memory memory_of(gable::gpu::Gpu& gpu, bool streams) {
  Memory memory;
  memory.bytes = streams ? kStream : kLeast;
  while (memory.bytes > kLeast && gpu.free_memory() < 3 * memory.bytes) memory.bytes /= 2;
  const std::size_t taken = rehearsed() ? std::size_t{1} << 16 : memory.bytes;
  if (streams) memory.data = gpu.memory(taken);
  memory.out = gpu.memory(taken);
  return memory;
}

void launch(const gable::gpu::Gpu& gpu, CUfunction function, const Kernel& kernel) {
  gpu.launch(function, {kernel.grid, kernel.block}, kernel.data, kernel.out, kernel.blockbytes,
             kernel.mask, kernel.step, kernel.turns);
}

constexpr double kGapNs = 1000;

// One launch lies between its events with what starting it takes; of several, all but the first
// begin where the one before ended.
struct Timing {
  std::vector<double> one, several;
  [[nodiscard]] double each() const {
    return (gable::gpu::median(several) - gable::gpu::median(one)) / (kBackToBack - 1);
  }
};

int run_family(const std::string& name) {
  gable::gpu::Gpu gpu;
  const bool timed = name == "times";
  const Memory memory = memory_of(gpu, name == "streams" || name == "caches");
  const auto l2 = static_cast<std::uint64_t>(gpu.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  std::vector<Kernel> kernels = gable::truth::family(name, gpu.capability(), memory, l2);
  if (kernels.empty()) {
    std::printf("{\"skipped\":\"this GPU has none of the kernels of %s\"}\n", name.c_str());
    return kExitSkipped;
  }
  std::vector<CUfunction> functions;
  functions.reserve(kernels.size());
  for (const Kernel& kernel : kernels)
    functions.push_back(gpu.kernel(kernel.ptx, kernel.name.c_str()));
  print(kernels);
  if (name == "streams") {
    for (const Expectation& one : gable::truth::step_of(kernels)) print("step", "step", one);
  }
  std::vector<Timing> times(kernels.size());
  for (int step = 0; step < kSteps; ++step) {
    nvtxRangePushA("step");
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (!timed) {
        launch(gpu, functions[i], kernels[i]);
        continue;
      }
      // What wakes the GPU up takes longer.
      (void)gpu.event_ns([&] { launch(gpu, functions[i], kernels[i]); });
      const double one = gpu.event_ns([&] { launch(gpu, functions[i], kernels[i]); });
      const double several = gpu.event_ns([&] {
        for (int j = 0; j < kBackToBack; ++j) launch(gpu, functions[i], kernels[i]);
      });
      if (step < kSteps - kTimedSteps) continue;
      times[i].one.push_back(one);
      times[i].several.push_back(several);
    }
    gpu.wait();
    nvtxRangePop();
  }
  for (std::size_t i = 0; timed && i < kernels.size(); ++i) {
    Expectation time;
    time.quantity = "time_ns.median";
    time.kind = Expectation::Kind::near;
    time.value = times[i].each();
    // A launch follows the one before within a microsecond.
    time.tolerance = 0.01 + kGapNs / time.value;
    time.why = "CUDA events around one and around four launches; alone " +
               std::to_string(gable::gpu::median(times[i].one)) + " ns";
    print("kernel", kernels[i].name, time);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc == 2 ? argv[1] : "";
  try {
    if (argc == 4 && std::string(argv[1]) == "--promises")
      return gable::truth::write_promises(argv[2], std::atoi(argv[3]));
    if (wanted == "gemm") return gable::truth::run_gemms(kSteps);
    for (const char* known : {"core", "half", "tensor", "streams", "caches", "times"}) {
      if (wanted == known) return run_family(wanted);
    }
    std::fprintf(stderr,
                 "gable_truth: there is no family '%s'; there are core, half, tensor, streams, "
                 "caches, times "
                 "and gemm\n",
                 wanted.c_str());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "gable_truth: %s\n", problem.what());
    return 1;
  }
  return 2;
}
