// SPDX-License-Identifier: Apache-2.0
// Published peaks of GPUs, for `gable predict`. A number that a data sheet does not give is 0,
// which means unknown. gpu_file.h reads GPUs that are not in the catalogue.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// TFLOP/s (TOP/s of int8) of the tensor cores: dense, FP32 accumulation.
struct TensorPeaks {
  double fp64 = 0, tf32 = 0, bf16 = 0, fp16 = 0, fp8 = 0, int8 = 0, fp4 = 0;
};

struct GpuSpec {
  std::string name;
  double fp64 = 0, fp32 = 0, fp16 = 0;  // TFLOP/s of the CUDA cores
  TensorPeaks tensor = {};
  double dram = 0;           // GB/s
  double memory_gb = 0;      // 10^9 byte, as sold
  double memory_gb_too = 0;  // another size sold with the same peaks
  std::string source;
  // Parts of its device name, with '|' between alternatives; empty if names do not distinguish
  // boards.
  std::string_view boards = {};
  // A word that all its boards' names share ("A100"), and the board's form in a name ("SXM",
  // "PCIE"): names not in `boards` are distinguished by size and attributes.
  std::string_view family = {}, form = {};
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  double sm_clock_mhz = 0;  // boost clock, at which FP32's peak holds
  int pcie = 0;             // generation of its 16 lanes
  int nvlink = 0;           // generation of its links; 0 too where a bridge may be added
  int nvlinks = 0;
};

// Every peak of `gpu` by the name of its ceiling: a pointer to it, in TFLOP/s.
template <typename Gpu>
[[nodiscard]] auto named_peaks(Gpu& gpu) {
  auto& tensor = gpu.tensor;
  return std::to_array<std::pair<const char*, decltype(&gpu.fp64)>>({{"fp64", &gpu.fp64},
                                                                     {"fp32", &gpu.fp32},
                                                                     {"fp16", &gpu.fp16},
                                                                     {"fp64_tensor", &tensor.fp64},
                                                                     {"tf32_tensor", &tensor.tf32},
                                                                     {"bf16_tensor", &tensor.bf16},
                                                                     {"fp16_tensor", &tensor.fp16},
                                                                     {"fp8_tensor", &tensor.fp8},
                                                                     {"int8_tensor", &tensor.int8},
                                                                     {"fp4_tensor", &tensor.fp4}});
}

[[nodiscard]] const std::vector<GpuSpec>& gpu_catalogue();

// Finds a GPU by name, ignoring case, blanks, dashes and "NVIDIA"; a prefix of exactly one GPU's
// name is enough. nullptr if none or several match; `error` is then a sentence with those that do.
[[nodiscard]] const GpuSpec* find_gpu(std::string_view name, std::string& error);

// The board of a device, by its driver name and its known attributes: number of SMs, compute
// capability, and the memory's size, clock and width. nullptr if the catalogue lacks the board or
// several match.
[[nodiscard]] const GpuSpec* gpu_of_device(const DeviceInfo& device);
[[nodiscard]] const GpuSpec* gpu_of_device(std::string_view device_name);
// Whether nothing known of the device contradicts that board.
[[nodiscard]] bool could_be(const GpuSpec& gpu, const DeviceInfo& device);
// Whether the GPU is not NVIDIA's, so that neither the catalogue nor the chip rates apply.
[[nodiscard]] bool is_foreign_gpu(std::string_view device_name);

// The GPU's peaks as ceilings of a report's device.
[[nodiscard]] std::vector<Ceiling> ceilings_of(const GpuSpec& gpu, std::int32_t device);

// Its links, as far as the board's data sheet tells, as ceilings of a report's device. A slot may
// have fewer lanes or an older generation.
[[nodiscard]] std::vector<Ceiling> link_ceilings_of(const GpuSpec& gpu, std::int32_t device);

// The peak in FLOP/s for a precision ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8",
// "fp4"): the tensor cores' if they have the type, else the CUDA cores'. Empty if the GPU has no
// such unit or its rate is not published.
[[nodiscard]] Maybe peak_of(const GpuSpec& gpu, std::string_view precision);

}  // namespace gable
