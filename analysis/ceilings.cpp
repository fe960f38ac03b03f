// SPDX-License-Identifier: Apache-2.0
#include "analysis/ceilings.h"

#include <array>
#include <cstdio>
#include <string>

namespace gable {
namespace {

// Operations per SM and clock, dense; an fma is two. 0: the chip has no such unit.
struct Rates {
  int major, minor;
  bool geforce;  // GeForce and TITAN boards: tensor cores accumulate in FP32 at half rate from 8.6
                 // on (and on 7.5)
  double fp64, fp32, fp16;
  double fp64_tensor, tf32_tensor, bf16_tensor, fp16_tensor, fp8_tensor, fp4_tensor, int8_tensor;
};

// CUDA-core rates: CUDA C++ Programming Guide, "Arithmetic Instructions", results per clock and SM,
// times 2 for fma (times 2 again for the two lanes of a 16-bit instruction). Tensor rates: the
// architectures' whitepapers, FP32 accumulation, without sparsity; each row reproduces the
// published peak of a board of its kind at that board's clock.
constexpr std::array<Rates, 13> kRates = {{
    // V100 (Volta whitepaper): 7.8 / 15.7 / 31.4 and 125 TFLOP/s at 80 SMs x 1.53 GHz
    {7, 0, false, 64, 128, 256, 0, 0, 0, 1024, 0, 0, 0},
    // T4 (Turing whitepaper): 8.1 and 65 TFLOP/s, 130 TOP/s at 40 SMs x 1.59 GHz; GeForce: half the
    // FP16 rate
    {7, 5, false, 4, 128, 256, 0, 0, 0, 1024, 0, 0, 2048},
    {7, 5, true, 4, 128, 256, 0, 0, 0, 512, 0, 0, 2048},
    // A100 (Ampere whitepaper): 9.7 / 19.5 / 78, tensor 19.5 / 156 / 312 TFLOP/s, 624 TOP/s at 108
    // SMs x 1.41 GHz
    {8, 0, false, 64, 128, 512, 128, 1024, 2048, 2048, 0, 0, 4096},
    // RTX A6000 and RTX 3080 (GA102 whitepaper): 154.8 and 59.5 TFLOP/s FP16 at 84 x 1.8 and 68
    // x 1.71 GHz
    {8, 6, false, 4, 256, 256, 0, 512, 1024, 1024, 0, 0, 2048},
    {8, 6, true, 4, 256, 256, 0, 256, 512, 512, 0, 0, 1024},
    // L40S (data sheet) and RTX 4090 (Ada whitepaper): 183 / 362 / 733 and 82.6 / 165.2 / 330.3
    // TFLOP/s
    {8, 9, false, 4, 256, 256, 0, 512, 1024, 1024, 2048, 0, 2048},
    {8, 9, true, 4, 256, 256, 0, 256, 512, 512, 1024, 0, 2048},
    // H100 and H200 (Hopper whitepaper): 33.5 / 66.9 at 1.98 GHz; 494.7 / 989.4 / 1978.9 TFLOP/s
    // are published for
    // tensor cores at 1.83 GHz, while the board may clock up to 1.98 GHz
    {9, 0, false, 128, 256, 512, 256, 2048, 4096, 4096, 8192, 0, 8192},
    // B200 (Blackwell brief): 37 / 74 TFLOP/s at 1.965 GHz; 1.1 / 2.25 / 4.5 / 9 PFLOP/s tensor at
    // about 1.85 GHz
    {10, 0, false, 128, 256, 512, 128, 4096, 8192, 8192, 16384, 32768, 16384},
    // RTX PRO 6000 Blackwell and RTX 5090 (Blackwell RTX whitepaper): 503.8 and 209.5 TFLOP/s FP16
    {12, 0, false, 4, 256, 256, 0, 512, 1024, 1024, 2048, 4096, 2048},
    {12, 0, true, 4, 256, 256, 0, 256, 512, 512, 1024, 4096, 2048},
    {0, 0, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
}};

bool is_geforce(const std::string& name) {
  return name.find("GeForce") != std::string::npos || name.find("TITAN") != std::string::npos;
}

const Rates* rates_of(const DeviceInfo& device) {
  const Rates* best = nullptr;
  for (const Rates& rates : kRates) {
    if (rates.major == 0 || rates.major != device.compute_major ||
        rates.minor != device.compute_minor)
      continue;
    if (best == nullptr || rates.geforce == is_geforce(device.name)) best = &rates;
  }
  return best;
}

std::string format(const char* pattern, auto... values) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

}  // namespace

std::vector<Ceiling> theoretical_ceilings(const DeviceInfo& device) {
  std::vector<Ceiling> ceilings;
  const Rates* rates = rates_of(device);
  const auto clock = static_cast<double>(device.sm_clock_max_hz);
  if (rates != nullptr && device.sm_count > 0 && clock > 0) {
    const auto add = [&](const char* name, double rate) {
      if (rate == 0) return;
      ceilings.push_back({device.id, "compute", name, device.sm_count * rate * clock,
                          format("theoretical: %d SMs x %g per clock x %.4g GHz", device.sm_count,
                                 rate, clock * 1e-9)});
    };
    add("fp64", rates->fp64);
    add("fp32", rates->fp32);
    add("fp16", rates->fp16);
    add("fp64_tensor", rates->fp64_tensor);
    add("tf32_tensor", rates->tf32_tensor);
    add("bf16_tensor", rates->bf16_tensor);
    add("fp16_tensor", rates->fp16_tensor);
    add("fp8_tensor", rates->fp8_tensor);
    add("fp6_tensor",
        rates->fp4_tensor > 0 ? rates->fp8_tensor : 0);  // same rate as FP8 wherever it exists
    add("fp4_tensor", rates->fp4_tensor);
    add("int8_tensor", rates->int8_tensor);
  }
  if (device.memory_clock_max_hz > 0 && device.memory_bus_bits > 0) {
    const auto memory_clock = static_cast<double>(device.memory_clock_max_hz);
    ceilings.push_back({device.id, "memory", "dram", memory_clock * device.memory_bus_bits * 2 / 8,
                        format("theoretical: %.4g GHz x %u bit x 2", memory_clock * 1e-9,
                               device.memory_bus_bits)});
  }
  return ceilings;
}

std::string tensor_ceiling_name(std::string_view type) { return std::string(type) + "_tensor"; }

}  // namespace gable
