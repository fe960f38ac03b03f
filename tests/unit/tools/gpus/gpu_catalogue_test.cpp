// SPDX-License-Identifier: Apache-2.0
// The catalogue of published peaks against the table of rates by which reports get their roofs:
// neither was made from the other.
#include "tools/gpus/gpu_catalogue.h"

#include <gtest/gtest.h>

#include "analysis/roofline/chip_rates.h"

namespace gable {
namespace {

const ChipRates* rates_of_spec(const GpuSpec& gpu) {
  DeviceInfo device;
  device.name = std::string(gpu.boards);
  device.compute_major = gpu.compute_major;
  device.compute_minor = gpu.compute_minor;
  return rates_of(device);
}

// A peak is rate x SMs x clock: between two types of one GPU, SMs and clock are the same.
TEST(GpuCatalogue, PeaksOfOneGpuAreLikeItsRates) {
  for (const GpuSpec& gpu : gpu_catalogue()) {
    const ChipRates* const rates = rates_of_spec(gpu);
    if (rates == nullptr) continue;
    struct Pair {
      const char* type;
      double peak, rate;
    };
    for (const Pair& pair : {Pair{"fp64", gpu.fp64, rates->cores.fp64},
                             {"fp16", gpu.fp16, rates->cores.fp16},
                             {"fp64 tensor", gpu.tensor.fp64, rates->tensor.fp64},
                             {"tf32", gpu.tensor.tf32, rates->tensor.tf32},
                             {"bf16", gpu.tensor.bf16, rates->tensor.bf16},
                             {"fp16 tensor", gpu.tensor.fp16, rates->tensor.fp16},
                             {"fp8", gpu.tensor.fp8, rates->tensor.fp8},
                             {"int8", gpu.tensor.int8, rates->tensor.int8},
                             {"fp4", gpu.tensor.fp4, rates->tensor.fp4}}) {
      if (pair.peak == 0 || pair.rate == 0) continue;
      // Boost clocks of tensor figures differ from those of others in some data sheets.
      EXPECT_NEAR(pair.peak / gpu.fp32 / (pair.rate / rates->cores.fp32), 1, 0.09)
          << gpu.name << " " << pair.type;
    }
    if (gpu.tensor.bf16 > 0) {
      EXPECT_EQ(gpu.tensor.bf16, gpu.tensor.fp16) << gpu.name;
      EXPECT_NEAR(gpu.tensor.bf16 / gpu.tensor.tf32, 2, 0.03) << gpu.name;
    }
    if (gpu.tensor.fp8 > 0) {
      EXPECT_NEAR(gpu.tensor.fp8 / gpu.tensor.fp16, 2, 0.03) << gpu.name;
    }
  }
}

// SMs and clocks are published beside the peaks: FP32's is what follows from them.
TEST(GpuCatalogue, PeaksAreThoseOfTheSmsAtTheirClock) {
  for (const GpuSpec& gpu : gpu_catalogue()) {
    const ChipRates* const rates = rates_of_spec(gpu);
    if (rates == nullptr) continue;
    const double peak = gpu.sm_count * rates->cores.fp32 * gpu.sm_clock_mhz * 1e-6;
    EXPECT_NEAR(peak / gpu.fp32, 1, 0.01) << gpu.name;
  }
}

TEST(GpuCatalogue, MemoryIsThatOfGpus) {
  for (const GpuSpec& gpu : gpu_catalogue()) {
    EXPECT_GE(gpu.dram, gpu.name.starts_with("Jetson") ? 200 : 300) << gpu.name;
    EXPECT_LE(gpu.dram, 8000) << gpu.name;
    EXPECT_GE(gpu.memory_gb, 10) << gpu.name;
    EXPECT_LE(gpu.memory_gb, 288) << gpu.name;
    EXPECT_NE(gpu.source, "") << gpu.name;
    // The ridge of FP32, in FLOP per byte.
    EXPECT_GT(gpu.fp32 * 1e3 / gpu.dram, 9) << gpu.name;
    EXPECT_LT(gpu.fp32 * 1e3 / gpu.dram, 110) << gpu.name;
  }
}

TEST(GpuCatalogue, IsFoundByWhatPeopleWrite) {
  std::string error;
  for (const GpuSpec& gpu : gpu_catalogue()) EXPECT_EQ(find_gpu(gpu.name, error), &gpu) << gpu.name;
  for (const auto& [written, name] : {std::pair{"nvidia a100 80gb", "A100-80GB"},
                                      {"gtx", "GTX1080Ti"},
                                      {"H100 pcie", "H100-PCIe"},
                                      {"H100", "H100"},
                                      {"rtx-4090", "RTX4090"},
                                      {"NVIDIA A100-SXM-80GB", "A100-80GB"},
                                      {"A100-PCIE-40GB", "A100-40GB"},
                                      {"RTX PRO 6000 Blackwell", "RTXPRO6000"},
                                      {"Jetson AGX Orin", "JetsonAGXOrin"}}) {
    const GpuSpec* const found = find_gpu(written, error);
    ASSERT_NE(found, nullptr) << written << ": " << error;
    EXPECT_EQ(found->name, name);
  }
  EXPECT_EQ(find_gpu("A100", error), nullptr);
  EXPECT_EQ(error, "'A100' is one of several: A100-40GB, A100-80GB, A100-PCIe-80GB.");
  for (const char* unknown : {"", "nvidia", "H99"}) {
    EXPECT_EQ(find_gpu(unknown, error), nullptr);
    EXPECT_NE(error.find("in the catalogue: GTX1080Ti, V100, V100-PCIe, T4, "), std::string::npos)
        << error;
  }
}

TEST(GpuCatalogue, ADeviceIsABoardAndNoOtherThatBeginsAlike) {
  const auto name = [](const char* device) {
    const GpuSpec* const gpu = gpu_of_device(device);
    return gpu == nullptr ? std::string("none") : std::string(gpu->name);
  };
  EXPECT_EQ(name("Tesla V100-SXM2-16GB"), "V100");
  EXPECT_EQ(name("Tesla V100-DGXS-32GB"), "V100");
  EXPECT_EQ(name("NVIDIA A100-SXM4-80GB"), "A100-80GB");
  EXPECT_EQ(name("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(name("NVIDIA L4"), "L4");
  EXPECT_EQ(name("NVIDIA L40S"), "L40S");
  EXPECT_EQ(name("NVIDIA A100 80GB PCIe"), "A100-PCIe-80GB");
  EXPECT_EQ(name("NVIDIA A100-SXM-80GB"), "A100-80GB");
  EXPECT_EQ(name("NVIDIA A100-SXM-64GB"), "none");
  EXPECT_EQ(name("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "none");
  EXPECT_EQ(name("NVIDIA H100"), "H100");
  EXPECT_EQ(name("NVIDIA H100 NVL"), "none");
  EXPECT_EQ(name("NVIDIA A10G"), "none");
  EXPECT_EQ(name("NVIDIA GeForce RTX 3080"), "RTX3080");
  EXPECT_EQ(name("NVIDIA GeForce RTX 3080 Ti"), "none");
  EXPECT_EQ(name("NVIDIA GeForce RTX 3080 Laptop GPU"), "none");
  EXPECT_EQ(name("NVIDIA GB200"), "GB200");
  EXPECT_EQ(name("AMD Instinct MI300X"), "none");
  EXPECT_EQ(name("NVIDIA L40"), "L40");
  EXPECT_EQ(name("NVIDIA L40G"), "none");
  EXPECT_EQ(name("Tesla V100-PCIE-16GB"), "V100-PCIe");
  EXPECT_EQ(name("Tesla V100-FHHL-16GB"), "none");
  EXPECT_EQ(name("NVIDIA GeForce RTX 3090 Ti"), "none");
  EXPECT_EQ(name(""), "none");
}

TEST(GpuCatalogue, AttributesDecideWhereTheNameDoesNot) {
  DeviceInfo device;
  const auto name = [&] {
    const GpuSpec* const gpu = gpu_of_device(device);
    return gpu == nullptr ? std::string("none") : gpu->name;
  };
  device.name = "A100-PG509-200";
  EXPECT_EQ(name(), "none");  // of 40 GB or of 80
  device.compute_major = 8;
  device.sm_count = 108;
  device.memory_bytes = 42'500'000'000;
  EXPECT_EQ(name(), "A100-40GB");
  device.memory_bytes = 85'000'000'000;
  EXPECT_EQ(name(), "A100-80GB");
  device.memory_clock_max_hz = 1'512'000'000;
  device.memory_bus_bits = 5120;
  device.name.clear();
  EXPECT_EQ(name(), "A100-PCIe-80GB");
  device.memory_clock_max_hz = 1'593'000'000;
  EXPECT_EQ(name(), "A100-80GB");
  device.name = "NVIDIA Graphics Device";
  EXPECT_EQ(name(), "A100-80GB");
  device.name = "NVIDIA A800-SXM4-80GB";  // a board of its own
  EXPECT_EQ(name(), "none");
  device.name = "NVIDIA A100-SXM4-80GB";
  EXPECT_EQ(name(), "A100-80GB");
  device.sm_count = 42;  // a part of one
  EXPECT_EQ(name(), "none");
  device = {};
  device.compute_major = 8;
  device.sm_count = 108;
  EXPECT_EQ(name(), "none");  // that is every A100, and more
  // Boards of one chip and memory.
  device = {};
  device.compute_major = 7;
  device.sm_count = 80;
  device.memory_bytes = 17'000'000'000;
  EXPECT_EQ(name(), "none");
  device.sm_clock_max_hz = 1'380'000'000;
  EXPECT_EQ(name(), "V100-PCIe");
  device.sm_clock_max_hz = 1'530'000'000;
  EXPECT_EQ(name(), "V100");
  device.sm_clock_max_hz = 1'455'000'000;  // those of TITAN V
  EXPECT_EQ(name(), "none");
  device = {};
  device.name = "NVIDIA GeForce RTX 3080";
  device.sm_count = 70;  // that of 12 GB
  EXPECT_EQ(name(), "none");
  device = {};
  device.name = "NVIDIA GH200 480GB";  // which is the memory of its CPU
  EXPECT_EQ(name(), "none");
  device.memory_bytes = 102'000'000'000;
  EXPECT_EQ(name(), "GH200-96GB");
}

TEST(GpuCatalogue, JetsonsAreToldByTheirMultiprocessors) {
  DeviceInfo device;
  device.name = "Orin";  // what each of them calls itself
  const auto is_known = [&] { return gpu_of_device(device) != nullptr; };
  EXPECT_FALSE(is_known());
  device.compute_major = 8, device.compute_minor = 7;
  EXPECT_FALSE(is_known());
  device.sm_count = 16;
  device.memory_bytes = 65'900'000'000;
  ASSERT_TRUE(is_known());
  EXPECT_EQ(gpu_of_device(device)->name, "JetsonAGXOrin");
  device.sm_count = 14;  // that of 32 GB
  EXPECT_FALSE(is_known());
  device.sm_count = 8;  // Orin NX
  EXPECT_FALSE(is_known());
}

TEST(GpuCatalogue, OtherMakersAreToldByTheirNames) {
  for (const char* foreign : {"AMD Instinct MI300X", "AMD Radeon RX 7900 XTX", "gfx942", "MI250X",
                              "gfx90a:sramecc+:xnack-", "Intel(R) Data Center GPU Max 1550"})
    EXPECT_TRUE(is_foreign_gpu(foreign)) << foreign;
  for (const GpuSpec& gpu : gpu_catalogue()) {
    EXPECT_FALSE(is_foreign_gpu(gpu.name)) << gpu.name;
    EXPECT_FALSE(is_foreign_gpu(gpu.boards)) << gpu.name;
  }
  EXPECT_FALSE(is_foreign_gpu(""));
}

TEST(GpuCatalogue, PeaksByPrecisionAndAsCeilings) {
  GpuSpec gpu;
  gpu.name = "X";
  gpu.fp64 = 1, gpu.fp32 = 2, gpu.fp16 = 4;
  gpu.dram = 500;
  gpu.source = "a sheet";
  EXPECT_EQ(peak_of(gpu, "fp64"), 1e12);
  EXPECT_EQ(peak_of(gpu, "fp32"), 2e12);
  EXPECT_EQ(peak_of(gpu, "fp16"), 4e12);
  for (const char* none : {"tf32", "bf16", "fp8", "int8", "fp4", ""})
    EXPECT_FALSE(peak_of(gpu, none));
  gpu.tensor = {3, 5, 6, 7, 8, 9};
  EXPECT_EQ(peak_of(gpu, "fp64"), 3e12);
  EXPECT_EQ(peak_of(gpu, "tf32"), 5e12);
  EXPECT_EQ(peak_of(gpu, "bf16"), 6e12);
  EXPECT_EQ(peak_of(gpu, "fp16"), 7e12);
  EXPECT_EQ(peak_of(gpu, "fp8"), 8e12);
  EXPECT_EQ(peak_of(gpu, "int8"), 9e12);
  const auto ceilings = ceilings_of(gpu, 3);
  ASSERT_EQ(ceilings.size(), 10u);
  for (const Ceiling& each : ceilings) {
    EXPECT_EQ(each.device, 3);
    EXPECT_EQ(each.source, "theoretical: a sheet");
    EXPECT_EQ(each.kind, each.name == "dram" ? CeilingKind::memory : CeilingKind::compute);
  }
  EXPECT_EQ(ceilings.front().value, 1e12);
  EXPECT_EQ(ceilings.back().value, 500e9);
  gpu.tensor = {};
  EXPECT_EQ(ceilings_of(gpu, 0).size(), 4u);
}

// GB/s each way: half of what data sheets state for both directions; 0: they tell none.
TEST(GpuCatalogue, LinksAreThoseOfDataSheets) {
  struct Case {
    const char* name;
    double pcie, nvlink;
  };
  for (const Case& each : {Case{"GTX1080Ti", 15.754, 0},
                           {"V100", 15.754, 150},
                           {"T4", 15.754, 0},
                           {"A100-40GB", 31.508, 300},
                           {"A100-PCIe-80GB", 31.508, 0},
                           {"H100", 63.015, 450},
                           {"H200", 63.015, 450},
                           {"GH200-96GB", 0, 450},
                           {"B200", 0, 900},
                           {"RTX4090", 31.508, 0},
                           {"RTX5090", 63.015, 0},
                           {"JetsonAGXOrin", 0, 0}}) {
    std::string error;
    const GpuSpec* gpu = find_gpu(each.name, error);
    ASSERT_NE(gpu, nullptr) << error;
    double pcie = 0, nvlink = 0;
    for (const Ceiling& link : link_ceilings_of(*gpu, 2)) {
      EXPECT_EQ(link.device, 2);
      EXPECT_EQ(link.kind, CeilingKind::link);
      EXPECT_TRUE(link.source.ends_with(gpu->source)) << link.source;
      (link.name == "pcie" ? pcie : nvlink) += link.value * 1e-9;
    }
    EXPECT_NEAR(pcie, each.pcie, 0.001) << each.name;
    EXPECT_NEAR(nvlink, each.nvlink, 0.001) << each.name;
  }
}

}  // namespace
}  // namespace gable
