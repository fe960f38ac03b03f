// SPDX-License-Identifier: Apache-2.0
// Published peaks of GPUs: what `gable predict` puts layers under. A number that a data sheet does
// not give is 0, and unknown. gpu_file.h reads GPUs that are not in the catalogue.
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
  double memory_gb_too = 0;  // another size that is sold with the same peaks
  std::string source;
  // What its name as a device has in it, with '|' between several; empty where names do not tell
  // boards apart.
  std::string_view boards = {};
  // A word that the names of its boards share ("A100"), with what a name has of a board's form
  // ("SXM", "PCIE"): names that are none of `boards` are told apart by size and attributes.
  std::string_view family = {}, form = {};
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  double sm_clock_mhz = 0;  // boost: FP32's peak is at it
};

// Every peak of `gpu` by the name of its ceiling: where it stands in there, TFLOP/s.
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

// By name without regard to case, blanks, dashes and "NVIDIA"; a name that begins exactly one GPU's
// is enough. nullptr where none or several fit; `error` is then a sentence with those that do.
[[nodiscard]] const GpuSpec* find_gpu(std::string_view name, std::string& error);

// Of a device by its name as the driver gives it, and by the attributes that are known: number of
// SMs, compute capability, size, clock and width of the memory. nullptr where the catalogue does
// not have that board, or several could be it.
[[nodiscard]] const GpuSpec* gpu_of_device(const DeviceInfo& device);
[[nodiscard]] const GpuSpec* gpu_of_device(std::string_view device_name);
// Whether nothing that is known of the device speaks against that board.
[[nodiscard]] bool could_be(const GpuSpec& gpu, const DeviceInfo& device);
// Of another maker than NVIDIA: the catalogue and the rates of chips are not about it.
[[nodiscard]] bool is_foreign_gpu(std::string_view device_name);

// As ceilings of a report's device.
[[nodiscard]] std::vector<Ceiling> ceilings_of(const GpuSpec& gpu, std::int32_t device);

// The peak that work of a precision ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4")
// is under: the tensor cores' where they have the type, else the CUDA cores'. FLOP/s; empty where
// the GPU has no such unit or no source says its rate.
[[nodiscard]] Maybe peak_of(const GpuSpec& gpu, std::string_view precision);

}  // namespace gable
