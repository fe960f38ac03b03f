// SPDX-License-Identifier: Apache-2.0
#include "tools/gpus/gpu_catalogue.h"

#include <algorithm>
#include <cctype>

namespace gable {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out.rfind("nvidia", 0) == 0 ? out.substr(6) : out;
}

// {FP64, TF32, BF16, FP16, FP8, INT8} of the tensor cores. Where a data sheet gives sparse rates
// alone, they are halved.
std::vector<GpuSpec> make_catalogue() {
  return {
      {"GTX1080Ti",
       0,
       11.3,
       0,
       {},
       484,
       11,
       "GeForce GTX 1080 Ti data sheet",
       "GeForce GTX 1080 Ti",
       6,
       1},
      {"V100",
       7.8,
       15.7,
       31.4,
       {0, 0, 0, 125, 0, 0},
       900,
       32,
       "Tesla V100 (SXM2) data sheet",
       "V100-SXM2|V100-DGXS",
       7,
       0},
      {"T4", 0, 8.1, 16.2, {0, 0, 0, 65, 0, 130}, 320, 16, "Tesla T4 data sheet", "Tesla T4", 7, 5},
      {"A100-40GB",
       9.7,
       19.5,
       78,
       {19.5, 156, 312, 312, 0, 624},
       1555,
       40,
       "A100 data sheet",
       "A100-SXM4-40GB|A100-PCIE-40GB",
       8,
       0},
      {"A100-80GB",
       9.7,
       19.5,
       78,
       {19.5, 156, 312, 312, 0, 624},
       2039,
       80,
       "A100 (SXM) data sheet",
       "A100-SXM4-80GB",
       8,
       0},
      {"A30",
       5.2,
       10.3,
       0,
       {10.3, 82, 165, 165, 0, 330},
       933,
       24,
       "A30 data sheet",
       "NVIDIA A30",
       8,
       0},
      {"A10",
       0,
       31.2,
       31.2,
       {0, 62.5, 125, 125, 0, 250},
       600,
       24,
       "A10 data sheet",
       "NVIDIA A10",
       8,
       6},
      {"A40",
       0,
       37.4,
       37.4,
       {0, 74.8, 149.7, 149.7, 0, 299.3},
       696,
       48,
       "A40 data sheet",
       "NVIDIA A40",
       8,
       6},
      {"A6000",
       0,
       38.71,
       38.71,
       {0, 77.42, 154.84, 154.84, 0, 309.68},
       768,
       48,
       "RTX A6000 data sheet",
       "RTX A6000",
       8,
       6},
      {"RTX3090",
       0,
       35.6,
       35.6,
       {0, 35.6, 71, 71, 0, 284},
       936,
       24,
       "NVIDIA Ampere GA102 whitepaper",
       "GeForce RTX 3090",
       8,
       6},
      {"L4",
       0,
       30.3,
       30.3,
       {0, 60, 121, 121, 242.5, 242.5},
       300,
       24,
       "L4 data sheet",
       "NVIDIA L4",
       8,
       9},
      {"L40S",
       0,
       91.6,
       91.6,
       {0, 183, 362, 362, 733, 733},
       864,
       48,
       "L40S data sheet",
       "NVIDIA L40S",
       8,
       9},
      {"RTX4090",
       0,
       82.6,
       82.6,
       {0, 82.6, 165.2, 165.2, 330.3, 660.6},
       1008,
       24,
       "NVIDIA Ada whitepaper",
       "GeForce RTX 4090",
       8,
       9},
      {"H100",
       34,
       67,
       134,
       {67, 494.7, 989, 989, 1979, 1979},
       3350,
       80,
       "H100 SXM data sheet",
       "H100 80GB HBM3",
       9,
       0},
      {"H100-PCIe",
       26,
       51,
       0,
       {51, 378, 756, 756, 1513, 1513},
       2000,
       80,
       "H100 PCIe data sheet",
       "H100 PCIe",
       9,
       0},
      {"H200",
       34,
       67,
       134,
       {67, 494.7, 989, 989, 1979, 1979},
       4800,
       141,
       "H200 SXM data sheet",
       "NVIDIA H200",
       9,
       0},
      {"B200",
       37,
       75,
       0,
       {37, 1125, 2250, 2250, 4500, 4500},
       8000,
       180,
       "HGX B200 data sheet",
       "NVIDIA B200",
       10,
       0},
      {"RTX5090",
       0,
       104.8,
       104.8,
       {0, 104.8, 209.5, 209.5, 419, 838},
       1792,
       32,
       "NVIDIA RTX Blackwell whitepaper",
       "GeForce RTX 5090",
       12,
       0},
  };
}

double tensor_rate(const GpuSpec& gpu, std::string_view type) {
  const GpuSpec::Tensor& tensor = gpu.tensor;
  return type == "fp64"   ? tensor.fp64
         : type == "tf32" ? tensor.tf32
         : type == "bf16" ? tensor.bf16
         : type == "fp16" ? tensor.fp16
         : type == "fp8"  ? tensor.fp8
         : type == "int8" ? tensor.int8
                          : 0;
}

}  // namespace

const std::vector<GpuSpec>& gpu_catalogue() {
  static const auto* const catalogue = new std::vector<GpuSpec>(make_catalogue());
  return *catalogue;
}

const GpuSpec* find_gpu(std::string_view name, std::string& error) {
  const std::string wanted = plain(name);
  const GpuSpec* found = nullptr;
  std::string several, all;
  for (const GpuSpec& gpu : gpu_catalogue()) {
    const std::string own = plain(gpu.name);
    all += (all.empty() ? "" : ", ") + std::string(gpu.name);
    if (own == wanted) return &gpu;
    if (wanted.empty() || own.rfind(wanted, 0) != 0) continue;
    several += (several.empty() ? "" : ", ") + std::string(gpu.name);
    found = found == nullptr ? &gpu : found;
  }
  if (found != nullptr && several == found->name) return found;
  error = several.empty() ? "There is no GPU '" + std::string(name) + "' in the catalogue: " + all
                          : "'" + std::string(name) + "' is one of several: " + several;
  error += ".";
  return nullptr;
}

const GpuSpec* gpu_of_device(std::string_view device_name) {
  for (const GpuSpec& gpu : gpu_catalogue()) {
    std::string_view left = gpu.boards;
    while (!left.empty()) {
      const std::size_t end = std::min(left.find('|'), left.size());
      const std::string_view board = left.substr(0, end);
      left.remove_prefix(std::min(end + 1, left.size()));
      const std::size_t at = device_name.find(board);
      if (at == std::string_view::npos) continue;
      // "NVIDIA L40S" is no L4, and an "RTX 3090 Ti" no RTX 3090; "V100-SXM2-16GB" is one of two
      // sizes.
      const std::string_view rest = device_name.substr(at + board.size());
      if (rest.empty() || rest[0] == '-') return &gpu;
    }
  }
  return nullptr;
}

std::vector<Ceiling> ceilings_of(const GpuSpec& gpu, std::int32_t device) {
  std::vector<Ceiling> out;
  const std::string source = "theoretical: " + std::string(gpu.source);
  const auto add = [&](const char* kind, const std::string& name, double value) {
    if (value > 0) out.push_back({device, kind, name, value, source, ""});
  };
  add("compute", "fp64", gpu.fp64 * kTera);
  add("compute", "fp32", gpu.fp32 * kTera);
  add("compute", "fp16", gpu.fp16 * kTera);
  for (const char* type : {"fp64", "tf32", "bf16", "fp16", "fp8", "int8"})
    add("compute", std::string(type) + "_tensor", tensor_rate(gpu, type) * kTera);
  add("memory", "dram", gpu.dram * kGiga);
  return out;
}

Maybe peak_of(const GpuSpec& gpu, std::string_view precision) {
  double peak = tensor_rate(gpu, precision);
  if (peak <= 0 && precision == "fp64") peak = gpu.fp64;
  if (precision == "fp32") peak = gpu.fp32;
  if (peak <= 0 && precision == "fp16") peak = gpu.fp16;
  return peak > 0 ? Maybe(peak * kTera) : std::nullopt;
}

}  // namespace gable
