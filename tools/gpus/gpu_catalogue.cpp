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

// Where a data sheet gives sparse rates alone, they are halved.
std::vector<GpuSpec> make_catalogue() {
  return {
      {.name = "GTX1080Ti",
       .fp32 = 11.3,
       .dram = 484,
       .memory_gb = 11,
       .source = "GeForce GTX 1080 Ti data sheet",
       .boards = "GeForce GTX 1080 Ti",
       .compute_major = 6,
       .compute_minor = 1,
       .sm_count = 28,
       .sm_clock_mhz = 1582},
      {.name = "V100",
       .fp64 = 7.8,
       .fp32 = 15.7,
       .fp16 = 31.4,
       .tensor = {.fp16 = 125},
       .dram = 900,
       .memory_gb = 32,
       .source = "Tesla V100 (SXM2) data sheet",
       .boards = "V100-SXM2|V100-DGXS",
       .compute_major = 7,
       .sm_count = 80,
       .sm_clock_mhz = 1530},
      {.name = "T4",
       .fp32 = 8.1,
       .fp16 = 16.2,
       .tensor = {.fp16 = 65, .int8 = 130},
       .dram = 320,
       .memory_gb = 16,
       .source = "Tesla T4 data sheet",
       .boards = "Tesla T4",
       .compute_major = 7,
       .compute_minor = 5,
       .sm_count = 40,
       .sm_clock_mhz = 1590},
      {.name = "A100-40GB",
       .fp64 = 9.7,
       .fp32 = 19.5,
       .fp16 = 78,
       .tensor = {.fp64 = 19.5, .tf32 = 156, .bf16 = 312, .fp16 = 312, .int8 = 624},
       .dram = 1555,
       .memory_gb = 40,
       .source = "A100 data sheet",
       .boards = "A100-SXM4-40GB|A100-PCIE-40GB",
       .compute_major = 8,
       .sm_count = 108,
       .sm_clock_mhz = 1410},
      {.name = "A100-80GB",
       .fp64 = 9.7,
       .fp32 = 19.5,
       .fp16 = 78,
       .tensor = {.fp64 = 19.5, .tf32 = 156, .bf16 = 312, .fp16 = 312, .int8 = 624},
       .dram = 2039,
       .memory_gb = 80,
       .source = "A100 (SXM) data sheet",
       .boards = "A100-SXM4-80GB",
       .compute_major = 8,
       .sm_count = 108,
       .sm_clock_mhz = 1410},
      {.name = "A30",
       .fp64 = 5.2,
       .fp32 = 10.3,
       .tensor = {.fp64 = 10.3, .tf32 = 82, .bf16 = 165, .fp16 = 165, .int8 = 330},
       .dram = 933,
       .memory_gb = 24,
       .source = "A30 data sheet",
       .boards = "NVIDIA A30",
       .compute_major = 8,
       .sm_count = 56,
       .sm_clock_mhz = 1440},
      {.name = "A10",
       .fp32 = 31.2,
       .fp16 = 31.2,
       .tensor = {.tf32 = 62.5, .bf16 = 125, .fp16 = 125, .int8 = 250},
       .dram = 600,
       .memory_gb = 24,
       .source = "A10 data sheet",
       .boards = "NVIDIA A10",
       .compute_major = 8,
       .compute_minor = 6,
       .sm_count = 72,
       .sm_clock_mhz = 1695},
      {.name = "A40",
       .fp32 = 37.4,
       .fp16 = 37.4,
       .tensor = {.tf32 = 74.8, .bf16 = 149.7, .fp16 = 149.7, .int8 = 299.3},
       .dram = 696,
       .memory_gb = 48,
       .source = "A40 data sheet",
       .boards = "NVIDIA A40",
       .compute_major = 8,
       .compute_minor = 6,
       .sm_count = 84,
       .sm_clock_mhz = 1740},
      {.name = "A6000",
       .fp32 = 38.71,
       .fp16 = 38.71,
       .tensor = {.tf32 = 77.42, .bf16 = 154.84, .fp16 = 154.84, .int8 = 309.68},
       .dram = 768,
       .memory_gb = 48,
       .source = "RTX A6000 data sheet",
       .boards = "RTX A6000",
       .compute_major = 8,
       .compute_minor = 6,
       .sm_count = 84,
       .sm_clock_mhz = 1800},
      {.name = "RTX3090",
       .fp32 = 35.6,
       .fp16 = 35.6,
       .tensor = {.tf32 = 35.6, .bf16 = 71, .fp16 = 71, .int8 = 284},
       .dram = 936,
       .memory_gb = 24,
       .source = "NVIDIA Ampere GA102 whitepaper",
       .boards = "GeForce RTX 3090",
       .compute_major = 8,
       .compute_minor = 6,
       .sm_count = 82,
       .sm_clock_mhz = 1695},
      {.name = "L4",
       .fp32 = 30.3,
       .fp16 = 30.3,
       .tensor = {.tf32 = 60, .bf16 = 121, .fp16 = 121, .fp8 = 242.5, .int8 = 242.5},
       .dram = 300,
       .memory_gb = 24,
       .source = "L4 data sheet",
       .boards = "NVIDIA L4",
       .compute_major = 8,
       .compute_minor = 9,
       .sm_count = 58,
       .sm_clock_mhz = 2040},
      {.name = "L40S",
       .fp32 = 91.6,
       .fp16 = 91.6,
       .tensor = {.tf32 = 183, .bf16 = 362, .fp16 = 362, .fp8 = 733, .int8 = 733},
       .dram = 864,
       .memory_gb = 48,
       .source = "L40S data sheet",
       .boards = "NVIDIA L40S",
       .compute_major = 8,
       .compute_minor = 9,
       .sm_count = 142,
       .sm_clock_mhz = 2520},
      {.name = "RTX4090",
       .fp32 = 82.6,
       .fp16 = 82.6,
       .tensor = {.tf32 = 82.6, .bf16 = 165.2, .fp16 = 165.2, .fp8 = 330.3, .int8 = 660.6},
       .dram = 1008,
       .memory_gb = 24,
       .source = "NVIDIA Ada whitepaper",
       .boards = "GeForce RTX 4090",
       .compute_major = 8,
       .compute_minor = 9,
       .sm_count = 128,
       .sm_clock_mhz = 2520},
      {.name = "H100",
       .fp64 = 34,
       .fp32 = 67,
       .fp16 = 134,
       .tensor = {.fp64 = 67, .tf32 = 494.7, .bf16 = 989, .fp16 = 989, .fp8 = 1979, .int8 = 1979},
       .dram = 3350,
       .memory_gb = 80,
       .source = "H100 SXM data sheet",
       .boards = "H100 80GB HBM3",
       .compute_major = 9,
       .sm_count = 132,
       .sm_clock_mhz = 1980},
      {.name = "H100-PCIe",
       .fp64 = 26,
       .fp32 = 51,
       .tensor = {.fp64 = 51, .tf32 = 378, .bf16 = 756, .fp16 = 756, .fp8 = 1513, .int8 = 1513},
       .dram = 2000,
       .memory_gb = 80,
       .source = "H100 PCIe data sheet",
       .boards = "H100 PCIe",
       .compute_major = 9,
       .sm_count = 114,
       .sm_clock_mhz = 1755},
      {.name = "H200",
       .fp64 = 34,
       .fp32 = 67,
       .fp16 = 134,
       .tensor = {.fp64 = 67, .tf32 = 494.7, .bf16 = 989, .fp16 = 989, .fp8 = 1979, .int8 = 1979},
       .dram = 4800,
       .memory_gb = 141,
       .source = "H200 SXM data sheet",
       .boards = "NVIDIA H200",
       .compute_major = 9,
       .sm_count = 132,
       .sm_clock_mhz = 1980},
      {.name = "B200",
       .fp64 = 37,
       .fp32 = 75,
       .tensor = {.fp64 = 37, .tf32 = 1125, .bf16 = 2250, .fp16 = 2250, .fp8 = 4500, .int8 = 4500},
       .dram = 8000,
       .memory_gb = 180,
       .source = "HGX B200 data sheet",
       .boards = "NVIDIA B200",
       .compute_major = 10,
       .sm_count = 148,
       .sm_clock_mhz = 1965},
      {.name = "RTX5090",
       .fp32 = 104.8,
       .fp16 = 104.8,
       .tensor = {.tf32 = 104.8, .bf16 = 209.5, .fp16 = 209.5, .fp8 = 419, .int8 = 838},
       .dram = 1792,
       .memory_gb = 32,
       .source = "NVIDIA RTX Blackwell whitepaper",
       .boards = "GeForce RTX 5090",
       .compute_major = 12,
       .sm_count = 170,
       .sm_clock_mhz = 2407},
  };
}

double peak_named(const GpuSpec& gpu, const std::string& name) {
  for (const auto& [each, peak] : named_peaks(gpu))
    if (name == each) return *peak;
  return 0;
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
    all += (all.empty() ? "" : ", ") + gpu.name;
    if (own == wanted) return &gpu;
    if (wanted.empty() || own.rfind(wanted, 0) != 0) continue;
    several += (several.empty() ? "" : ", ") + gpu.name;
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
  const std::string source = "theoretical: " + gpu.source;
  const auto add = [&](CeilingKind kind, const std::string& name, double value) {
    if (value > 0) out.push_back({device, kind, name, value, source});
  };
  for (const auto& [name, peak] : named_peaks(gpu)) add(CeilingKind::compute, name, *peak * kTera);
  add(CeilingKind::memory, "dram", gpu.dram * kGiga);
  return out;
}

Maybe peak_of(const GpuSpec& gpu, std::string_view precision) {
  const std::string type(precision);
  double peak = peak_named(gpu, type + "_tensor");
  if (peak <= 0) peak = peak_named(gpu, type);
  return peak > 0 ? Maybe(peak * kTera) : std::nullopt;
}

}  // namespace gable
