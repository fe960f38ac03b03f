// SPDX-License-Identifier: Apache-2.0
#include "tools/gpus/gpu_catalogue.h"

#include <algorithm>
#include <cctype>

#include "analysis/base/units.h"
#include "analysis/roofline/link_roofs.h"

namespace gable {
namespace {

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
       .fp64 = 0.354,
       .fp32 = 11.3,
       .dram = 484,
       .memory_gb = 11,
       .source = "GeForce GTX 1080 Ti data sheet",
       .boards = "GeForce GTX 1080 Ti",
       .compute_major = 6,
       .compute_minor = 1,
       .sm_count = 28,
       .sm_clock_mhz = 1582,
       .pcie = 3},
      {.name = "V100",
       .fp64 = 7.8,
       .fp32 = 15.7,
       .fp16 = 31.4,
       .tensor = {.fp16 = 125},
       .dram = 900,
       .memory_gb = 32,
       .memory_gb_too = 16,
       .source = "Tesla V100 (SXM2) data sheet",
       .boards = "V100-SXM2|V100-DGXS",
       .family = "V100",
       .form = "SXM2|DGXS",
       .compute_major = 7,
       .sm_count = 80,
       .sm_clock_mhz = 1530,
       .pcie = 3,
       .nvlink = 2,
       .nvlinks = 6},
      {.name = "V100-PCIe",
       .fp64 = 7,
       .fp32 = 14,
       .fp16 = 28,
       .tensor = {.fp16 = 112},
       .dram = 900,
       .memory_gb = 32,
       .memory_gb_too = 16,
       .source = "Tesla V100 (PCIe) data sheet",
       .boards = "V100-PCIE",
       .family = "V100",
       .form = "PCIE",
       .compute_major = 7,
       .sm_count = 80,
       .sm_clock_mhz = 1380,
       .pcie = 3},
      {.name = "T4",
       .fp64 = 0.254,
       .fp32 = 8.1,
       .fp16 = 16.2,
       .tensor = {.fp16 = 65, .int8 = 130},
       .dram = 320,
       .memory_gb = 16,
       .source = "Tesla T4 data sheet",
       .boards = "Tesla T4",
       .family = "T4",
       .compute_major = 7,
       .compute_minor = 5,
       .sm_count = 40,
       .sm_clock_mhz = 1590,
       .pcie = 3},
      {.name = "A100-40GB",
       .fp64 = 9.7,
       .fp32 = 19.5,
       .fp16 = 78,
       .tensor = {.fp64 = 19.5, .tf32 = 156, .bf16 = 312, .fp16 = 312, .int8 = 624},
       .dram = 1555,
       .memory_gb = 40,
       .source = "A100 data sheet",
       .boards = "A100-SXM4-40GB|A100-PCIE-40GB",
       .family = "A100",
       .compute_major = 8,
       .sm_count = 108,
       .sm_clock_mhz = 1410,
       .pcie = 4,
       .nvlink = 3,
       .nvlinks = 12},
      {.name = "A100-80GB",
       .fp64 = 9.7,
       .fp32 = 19.5,
       .fp16 = 78,
       .tensor = {.fp64 = 19.5, .tf32 = 156, .bf16 = 312, .fp16 = 312, .int8 = 624},
       .dram = 2039,
       .memory_gb = 80,
       .source = "A100 (SXM) data sheet",
       .boards = "A100-SXM4-80GB",
       .family = "A100",
       .form = "SXM|SXM4",
       .compute_major = 8,
       .sm_count = 108,
       .sm_clock_mhz = 1410,
       .pcie = 4,
       .nvlink = 3,
       .nvlinks = 12},
      {.name = "A30",
       .fp64 = 5.2,
       .fp32 = 10.3,
       .tensor = {.fp64 = 10.3, .tf32 = 82, .bf16 = 165, .fp16 = 165, .int8 = 330},
       .dram = 933,
       .memory_gb = 24,
       .source = "A30 data sheet",
       .boards = "NVIDIA A30",
       .family = "A30",
       .compute_major = 8,
       .sm_count = 56,
       .sm_clock_mhz = 1440,
       .pcie = 4},
      {.name = "A10",
       .fp64 = 0.4875,
       .fp32 = 31.2,
       .fp16 = 31.2,
       .tensor = {.tf32 = 62.5, .bf16 = 125, .fp16 = 125, .int8 = 250},
       .dram = 600,
       .memory_gb = 24,
       .source = "A10 data sheet",
       .boards = "NVIDIA A10",
       .family = "A10",
       .compute_major = 8,
       .compute_minor = 6,
       .sm_count = 72,
       .sm_clock_mhz = 1695,
       .pcie = 4},
      {.name = "A40",
       .fp64 = 0.584,
       .fp32 = 37.4,
       .fp16 = 37.4,
       .tensor = {.tf32 = 74.8, .bf16 = 149.7, .fp16 = 149.7, .int8 = 299.3},
       .dram = 696,
       .memory_gb = 48,
       .source = "A40 data sheet",
       .boards = "NVIDIA A40",
       .family = "A40",
       .compute_major = 8,
       .compute_minor = 6,
       .sm_count = 84,
       .sm_clock_mhz = 1740,
       .pcie = 4},
      {.name = "A6000",
       .fp64 = 0.605,
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
       .sm_clock_mhz = 1800,
       .pcie = 4},
      {.name = "RTX3090",
       .fp64 = 0.556,
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
       .sm_clock_mhz = 1695,
       .pcie = 4},
      {.name = "L4",
       .fp64 = 0.473,
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
       .sm_clock_mhz = 2040,
       .pcie = 4},
      {.name = "L40",
       .fp64 = 1.414,
       .fp32 = 90.5,
       .fp16 = 90.5,
       .tensor = {.tf32 = 90.5, .bf16 = 181, .fp16 = 181, .fp8 = 362, .int8 = 362},
       .dram = 864,
       .memory_gb = 48,
       .source = "L40 data sheet",
       .boards = "NVIDIA L40",
       .compute_major = 8,
       .compute_minor = 9,
       .sm_count = 142,
       .sm_clock_mhz = 2490,
       .pcie = 4},
      {.name = "L40S",
       .fp64 = 1.431,
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
       .sm_clock_mhz = 2520,
       .pcie = 4},
      {.name = "RTX4090",
       .fp64 = 1.29,
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
       .sm_clock_mhz = 2520,
       .pcie = 4},
      {.name = "H100",
       .fp64 = 34,
       .fp32 = 67,
       .fp16 = 134,
       .tensor = {.fp64 = 67, .tf32 = 494.7, .bf16 = 989, .fp16 = 989, .fp8 = 1979, .int8 = 1979},
       .dram = 3350,
       .memory_gb = 80,
       .source = "H100 SXM data sheet",
       .boards = "H100 80GB HBM3",
       .family = "H100",
       .form = "SXM|SXM5|HBM3",
       .compute_major = 9,
       .sm_count = 132,
       .sm_clock_mhz = 1980,
       .pcie = 5,
       .nvlink = 4,
       .nvlinks = 18},
      {.name = "H100-PCIe",
       .fp64 = 26,
       .fp32 = 51,
       .tensor = {.fp64 = 51, .tf32 = 378, .bf16 = 756, .fp16 = 756, .fp8 = 1513, .int8 = 1513},
       .dram = 2000,
       .memory_gb = 80,
       .source = "H100 PCIe data sheet",
       .boards = "H100 PCIe",
       .family = "H100",
       .form = "PCIE|HBM2E",
       .compute_major = 9,
       .sm_count = 114,
       .sm_clock_mhz = 1755,
       .pcie = 5},
      {.name = "H200",
       .fp64 = 34,
       .fp32 = 67,
       .fp16 = 134,
       .tensor = {.fp64 = 67, .tf32 = 494.7, .bf16 = 989, .fp16 = 989, .fp8 = 1979, .int8 = 1979},
       .dram = 4800,
       .memory_gb = 141,
       .source = "H200 SXM data sheet",
       .boards = "NVIDIA H200",
       .family = "H200",
       .form = "SXM|SXM5",
       .compute_major = 9,
       .sm_count = 132,
       .sm_clock_mhz = 1980,
       .pcie = 5,
       .nvlink = 4,
       .nvlinks = 18},
      {.name = "B200",
       .fp64 = 37,
       .fp32 = 75,
       .tensor = {.fp64 = 37,
                  .tf32 = 1125,
                  .bf16 = 2250,
                  .fp16 = 2250,
                  .fp8 = 4500,
                  .int8 = 4500,
                  .fp4 = 9000},
       .dram = 8000,
       .memory_gb = 180,
       .source = "HGX B200 data sheet",
       .boards = "NVIDIA B200",
       .family = "B200",
       .form = "SXM|SXM6",
       .compute_major = 10,
       .sm_count = 148,
       .sm_clock_mhz = 1965,
       .nvlink = 5,
       .nvlinks = 18},
      {.name = "RTX5090",
       .fp64 = 1.637,
       .fp32 = 104.8,
       .fp16 = 104.8,
       .tensor =
           {.tf32 = 104.8, .bf16 = 209.5, .fp16 = 209.5, .fp8 = 419, .int8 = 838, .fp4 = 1676},
       .dram = 1792,
       .memory_gb = 32,
       .source = "NVIDIA RTX Blackwell whitepaper",
       .boards = "GeForce RTX 5090",
       .compute_major = 12,
       .sm_count = 170,
       .sm_clock_mhz = 2407,
       .pcie = 5},
      {.name = "A100-PCIe-80GB",
       .fp64 = 9.7,
       .fp32 = 19.5,
       .fp16 = 78,
       .tensor = {.fp64 = 19.5, .tf32 = 156, .bf16 = 312, .fp16 = 312, .int8 = 624},
       .dram = 1935,
       .memory_gb = 80,
       .source = "A100 (PCIe) data sheet",
       .boards = "A100 80GB PCIe|A100-PCIE-80GB",
       .family = "A100",
       .form = "PCIE",
       .compute_major = 8,
       .sm_count = 108,
       .sm_clock_mhz = 1410,
       .pcie = 4},
      {.name = "RTX3080",
       .fp64 = 0.465,
       .fp32 = 29.8,
       .fp16 = 29.8,
       .tensor = {.tf32 = 29.8, .bf16 = 59.5, .fp16 = 59.5, .int8 = 238},
       .dram = 760,
       .memory_gb = 10,
       .source = "NVIDIA Ampere GA102 whitepaper (10 GB)",
       .boards = "GeForce RTX 3080",
       .compute_major = 8,
       .compute_minor = 6,
       .sm_count = 68,
       .sm_clock_mhz = 1710,
       .pcie = 4},
      {.name = "RTX6000Ada",
       .fp64 = 1.423,
       .fp32 = 91.1,
       .fp16 = 91.1,
       .tensor = {.tf32 = 182.1, .bf16 = 364.2, .fp16 = 364.2, .fp8 = 728.5, .int8 = 728.5},
       .dram = 960,
       .memory_gb = 48,
       .source = "RTX 6000 Ada data sheet (1457 TFLOP/s of FP8 are sparse)",
       .boards = "RTX 6000 Ada Generation",
       .compute_major = 8,
       .compute_minor = 9,
       .sm_count = 142,
       .sm_clock_mhz = 2505,
       .pcie = 4},
      {.name = "GH200-96GB",
       .fp64 = 34,
       .fp32 = 67,
       .fp16 = 134,
       .tensor = {.fp64 = 67, .tf32 = 494.7, .bf16 = 989, .fp16 = 989, .fp8 = 1979, .int8 = 1979},
       .dram = 4000,
       .memory_gb = 96,
       .source = "GH200 data sheet (HBM3)",
       .boards = "",
       .family = "GH200",
       .compute_major = 9,
       .sm_count = 132,
       .sm_clock_mhz = 1980,
       .nvlink = 4,
       .nvlinks = 18},
      {.name = "GH200-144GB",
       .fp64 = 34,
       .fp32 = 67,
       .fp16 = 134,
       .tensor = {.fp64 = 67, .tf32 = 494.7, .bf16 = 989, .fp16 = 989, .fp8 = 1979, .int8 = 1979},
       .dram = 4900,
       .memory_gb = 144,
       .source = "GH200 data sheet (HBM3e)",
       .boards = "GH200 144G HBM3e",
       .family = "GH200",
       .compute_major = 9,
       .sm_count = 132,
       .sm_clock_mhz = 1980,
       .nvlink = 4,
       .nvlinks = 18},
      {.name = "GB200",
       .fp64 = 40,
       .fp32 = 80,
       .tensor = {.fp64 = 40,
                  .tf32 = 1250,
                  .bf16 = 2500,
                  .fp16 = 2500,
                  .fp8 = 5000,
                  .int8 = 5000,
                  .fp4 = 10000},
       .dram = 8000,
       .memory_gb = 186,
       .source = "GB200 NVL72 data sheet (one GPU of it)",
       .boards = "NVIDIA GB200",
       .family = "GB200",
       .compute_major = 10,
       .sm_count = 152,
       .sm_clock_mhz = 2062,
       .nvlink = 5,
       .nvlinks = 18},
      {.name = "B300",
       .fp64 = 1.25,
       .fp32 = 75,
       .tensor = {.tf32 = 1125, .bf16 = 2250, .fp16 = 2250, .fp8 = 4500, .fp4 = 13500},
       .dram = 8000,
       .memory_gb = 288,
       .memory_gb_too = 270,
       .source = "HGX B300 data sheet (one GPU of it)",
       .boards = "NVIDIA B300 SXM6 AC|NVIDIA B300",
       .family = "B300",
       .compute_major = 10,
       .compute_minor = 3,
       .sm_count = 148,
       .sm_clock_mhz = 1965,
       .nvlink = 5,
       .nvlinks = 18},
      {.name = "RTX5070",
       .fp64 = 0.483,
       .fp32 = 30.9,
       .fp16 = 30.9,
       .tensor =
           {.tf32 = 30.9, .bf16 = 61.7, .fp16 = 61.7, .fp8 = 123.5, .int8 = 246.9, .fp4 = 493.9},
       .dram = 672,
       .memory_gb = 12,
       .source = "NVIDIA RTX Blackwell whitepaper",
       .boards = "GeForce RTX 5070",
       .compute_major = 12,
       .sm_count = 48,
       .sm_clock_mhz = 2512,
       .pcie = 5},
      {.name = "RTXPRO6000",
       .fp64 = 1.953,
       .fp32 = 125,
       .tensor = {.tf32 = 251.9,
                  .bf16 = 503.8,
                  .fp16 = 503.8,
                  .fp8 = 1007.6,
                  .int8 = 1007.6,
                  .fp4 = 2015.2},
       .dram = 1792,
       .memory_gb = 96,
       .source = "NVIDIA RTX PRO Blackwell whitepaper (Workstation Edition)",
       .boards = "RTX PRO 6000 Blackwell Workstation Edition|RTX PRO 6000 Blackwell",
       .compute_major = 12,
       .sm_count = 188,
       .sm_clock_mhz = 2617,
       .pcie = 5},
      {.name = "JetsonAGXOrin",
       .fp32 = 5.3,
       .tensor = {.int8 = 85},
       .dram = 204.8,
       .memory_gb = 64,
       .source = "NVIDIA Jetson AGX Orin technical brief (64 GB; 170 TOP/s of INT8 are sparse)",
       .boards = "Jetson AGX Orin",
       .family = "ORIN",
       .compute_major = 8,
       .compute_minor = 7,
       .sm_count = 16,
       .sm_clock_mhz = 1300},
      {.name = "JetsonAGXThor",
       .fp32 = 8.064,
       .tensor = {.fp4 = 1035},
       .dram = 273,
       .memory_gb = 128,
       .source = "NVIDIA Jetson T5000 data sheet (2070 TFLOP/s of FP4 are sparse)",
       .boards = "Jetson AGX Thor|Jetson Thor|NVIDIA Thor",
       .compute_major = 11,
       .sm_count = 20,
       .sm_clock_mhz = 1575},
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
  // A board's name as the driver has it.
  if (found == nullptr && !wanted.empty())
    if (const GpuSpec* const gpu = gpu_of_device(name)) return gpu;
  error = several.empty() ? "There is no GPU '" + std::string(name) + "' in the catalogue: " + all
                          : "'" + std::string(name) + "' is one of several: " + several;
  error += ".";
  return nullptr;
}

namespace {

bool names_board(const GpuSpec& gpu, std::string_view device_name) {
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
    if (rest.empty() || rest[0] == '-') return true;
  }
  return false;
}

std::vector<std::string> words_of(std::string_view name, std::string_view between = " -_()/") {
  std::vector<std::string> words;
  std::string word;
  for (const char c : name) {
    if (between.find(c) == std::string_view::npos) {
      word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "80GB", "144G"; 0 where the word is no size.
double size_in(const std::string& word) {
  std::size_t digits = 0;
  while (digits < word.size() && std::isdigit(static_cast<unsigned char>(word[digits])) != 0)
    ++digits;
  const std::string unit = word.substr(digits);
  return digits > 0 && digits < 5 && (unit == "GB" || unit == "G") ? std::stod(word) : 0;
}

// A name of the driver's that says no product: boards before they are sold.
bool says_nothing(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word != "NVIDIA" && word != "GRAPHICS" && word != "DEVICE" && word != "GPU") return false;
  return true;
}

// Of the family, and neither of another form nor of another size.
bool is_of_family(const GpuSpec& gpu, std::string_view device_name) {
  const std::vector<std::string> words = words_of(device_name);
  if (gpu.family.empty() || !has_word(words, std::string(gpu.family))) return false;
  static const std::vector<std::string> kForms = {"SXM",  "SXM2", "SXM3", "SXM4",  "SXM5", "SXM6",
                                                  "DGXS", "PCIE", "NVL",  "HBM2E", "HBM3", "FHHL"};
  const std::vector<std::string> forms = words_of(gpu.form, "|");
  bool has_form = false;
  for (const std::string& word : words) {
    // What a Grace Hopper is called by may be the memory of its CPU.
    const double size = gpu.family == "GH200" ? 0 : size_in(word);
    if (size > 0 && size != gpu.memory_gb && size != gpu.memory_gb_too) return false;
    has_form = has_form || has_word(kForms, word);
    if (!forms.empty() && has_word(kForms, word) && !has_word(forms, word)) return false;
    if (word == "MIG" || word == "NVL" || word == "MAX" || word == "LAPTOP") return false;
  }
  // Names of boards for PCIe say so.
  return has_form || !has_word(forms, "PCIE");
}

bool near(double value, double wanted, double least, double most) {
  return wanted > 0 && value >= wanted * least && value <= wanted * most;
}

bool attributes_fit(const GpuSpec& gpu, const DeviceInfo& device) {
  if (device.sm_count > 0 && gpu.sm_count > 0 && device.sm_count != gpu.sm_count) return false;
  if (device.compute_major > 0 && gpu.compute_major > 0 &&
      (device.compute_major != gpu.compute_major || device.compute_minor != gpu.compute_minor))
    return false;
  // A GB as sold is 10^9 or 2^30 byte, and the driver keeps some of them.
  const auto memory = static_cast<double>(device.memory_bytes) / kGiga;
  if (memory > 0 && !near(memory, gpu.memory_gb, 0.9, 1.09) &&
      !near(memory, gpu.memory_gb_too, 0.9, 1.09))
    return false;
  const double moved =
      static_cast<double>(device.memory_clock_max_hz) * device.memory_bus_bits * 2 / 8 / kGiga;
  return !(moved > 0) || near(moved, gpu.dram, 0.95, 1.05);
}

// What tells boards of one family apart.
bool tells_enough(const DeviceInfo& device) {
  return device.sm_count > 0 && device.compute_major > 0 &&
         (device.memory_bytes > 0 ||
          (device.memory_clock_max_hz > 0 && device.memory_bus_bits > 0));
}

}  // namespace

bool is_foreign_gpu(std::string_view device_name) {
  for (const std::string& word : words_of(device_name)) {
    if (word == "AMD" || word == "RADEON" || word == "INSTINCT" || word == "INTEL" ||
        word == "ARC" || word == "ASCEND" || word == "APPLE")
      return true;
    if (word.starts_with("GFX") && word.size() > 4 &&
        std::isdigit(static_cast<unsigned char>(word[3])) != 0)
      return true;
    if (word.starts_with("MI") && word.size() > 4 && word.size() < 8 &&
        std::isdigit(static_cast<unsigned char>(word[2])) != 0 &&
        std::isdigit(static_cast<unsigned char>(word[3])) != 0)
      return true;
  }
  return false;
}

bool could_be(const GpuSpec& gpu, const DeviceInfo& device) {
  if (is_foreign_gpu(device.name) || !attributes_fit(gpu, device)) return false;
  return says_nothing(words_of(device.name)) || names_board(gpu, device.name) ||
         is_of_family(gpu, device.name);
}

const GpuSpec* gpu_of_device(const DeviceInfo& device) {
  if (is_foreign_gpu(device.name)) return nullptr;
  const bool nameless = says_nothing(words_of(device.name));
  for (const GpuSpec& gpu : gpu_catalogue()) {
    if (!nameless && names_board(gpu, device.name))
      return attributes_fit(gpu, device) ? &gpu : nullptr;
  }
  if (nameless && !tells_enough(device)) return nullptr;
  std::vector<const GpuSpec*> found;
  for (const GpuSpec& gpu : gpu_catalogue()) {
    if (!could_be(gpu, device)) continue;
    // Jetsons of every size call themselves Orin; their SMs tell them apart.
    if (gpu.family == "ORIN" && device.sm_count == 0 && !names_board(gpu, device.name)) continue;
    found.push_back(&gpu);
  }
  // Boards of one chip and memory may differ in their clocks alone.
  const auto clock = static_cast<double>(device.sm_clock_max_hz) / kMega;
  if (found.size() > 1 && clock > 0)
    std::erase_if(found,
                  [&](const GpuSpec* gpu) { return !near(clock, gpu->sm_clock_mhz, 0.99, 1.01); });
  return found.size() == 1 ? found.front() : nullptr;
}

const GpuSpec* gpu_of_device(std::string_view device_name) {
  DeviceInfo device;
  device.name = std::string(device_name);
  return gpu_of_device(device);
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

std::vector<Ceiling> link_ceilings_of(const GpuSpec& gpu, std::int32_t device) {
  DeviceInfo board;
  board.id = device;
  board.name = gpu.name;
  constexpr int kLanes = 16;
  if (gpu.pcie > 0) board.links.pcie = {gpu.pcie, kLanes};
  if (gpu.nvlinks > 0) {
    board.links.nvlinks = gpu.nvlinks;
    board.links.nvlink_version = gpu.nvlink;
  }
  std::vector<Ceiling> out = link_ceilings(board);
  for (Ceiling& ceiling : out) ceiling.source += ", " + gpu.source;
  return out;
}

Maybe peak_of(const GpuSpec& gpu, std::string_view precision) {
  const std::string type(precision);
  double peak = peak_named(gpu, type + "_tensor");
  if (peak <= 0) peak = peak_named(gpu, type);
  return peak > 0 ? Maybe(peak * kTera) : std::nullopt;
}

}  // namespace gable
