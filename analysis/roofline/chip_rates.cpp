// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/chip_rates.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace gable {
namespace {

// Results per clock and SM, times 2 for an fma.
constexpr std::string_view kGuide = "CUDA C++ Programming Guide, \"Arithmetic Instructions\"";
constexpr std::string_view kNone;

ChipRates::Cores guide(double fp64, double fp32, double fp16) { return {fp64, fp32, fp16, kGuide}; }

// Boards without tensor cores, with a part of their rate, or with a rate that no source tells.
constexpr ChipRates::Tensor kNoTensor{
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "none: boards of this compute capability differ"};
// Boards for mining do fused operations at a small part of the chip's rate.
constexpr std::string_view kMining = "CMP";
constexpr std::string_view kOthers;
constexpr std::string_view kGeForce = "GeForce RTX";

std::vector<ChipRates> make_table() {
  using Tensor = ChipRates::Tensor;
  using Caches = ChipRates::Caches;
  // Tensor-core rates per SM and clock: {FP64, TF32, BF16, FP16, FP8, FP6, FP4, INT8, sparse}.
  const Caches no_caches{0, 0, 0, kNone};
  const Caches ga10x{128, 0, 0, "NVIDIA Ampere GA102 whitepaper: 128 byte of L1 per SM and clock"};
  std::vector<ChipRates> table;
  const auto add = [&](int major, int minor, std::string_view boards, ChipRates::Cores cores,
                       Tensor tensor, Caches caches, std::vector<int> sm_counts = {}) {
    table.push_back({major, minor, boards, std::move(sm_counts), cores, tensor, caches});
  };
  const auto add_mining = [&](int major, int minor) {
    add(major, minor, kMining, {0, 0, 0, "none: a board for mining"}, kNoTensor, no_caches);
  };

  // L2: 64 slices of 96 KiB, 2048 byte per clock together. L1: 80 x 128 x 1.4 GHz is the 14.3 TB/s
  // of that roofline.
  add(7, 0, "V100|V100S|Quadro GV100|TITAN V|!CMP", guide(64, 128, 256),
      Tensor{0, 0, 0, 1024, 0, 0, 0, 0, 0, 0, "NVIDIA Tesla V100 whitepaper"},
      Caches{128, 32, 96,
             "L2: NVIDIA A100 whitepaper (2048 byte per clock of V100); L1: NERSC's roofline of "
             "V100"},
      {80});
  add(7, 0, kOthers, {0, 0, 0, "none: boards of this compute capability differ"}, kNoTensor,
      no_caches);
  add(7, 2, kOthers, guide(0, 128, 256),
      Tensor{0, 0, 0, 1024, 0, 0, 0, 2048, 0, 0, "Jetson AGX Xavier data sheet"}, no_caches);
  // TU116 and TU117 (GTX 16, MX, T400 to T1200, Quadro T) have no tensor cores.
  const Caches turing{64, 0, 0, "NVIDIA Ampere GA102 whitepaper: 64 byte of L1 per SM and clock"};
  add(7, 5, "T4|T4G|Quadro RTX|TITAN RTX|RTX6000|RTX8000|!TU116|!TU117", guide(4, 128, 256),
      Tensor{0, 0, 0, 1024, 0, 0, 0, 2048, 0, 0, "NVIDIA Turing whitepaper"}, turing);
  add(7, 5, kGeForce, guide(4, 128, 256),
      Tensor{0, 0, 0, 512, 0, 0, 0, 2048, 0, 0, "NVIDIA Turing whitepaper"}, turing);
  add_mining(7, 5);
  add(7, 5, kOthers, guide(4, 128, 256), kNoTensor, turing);

  // Without a name: A30, A100 and its parts of MIG. The mining board of this chip has 70 SMs.
  add(8, 0, "A100|A100X|A800|A30|A30X", guide(64, 128, 512),
      Tensor{128, 1024, 2048, 2048, 0, 0, 0, 4096, 2, 0, "NVIDIA A100 whitepaper"},
      Caches{128, 64, 512,
             "L2: NVIDIA A100 whitepaper (80 slices of 512 KiB, 5120 byte per clock); L1: the 19 "
             "TB/s of arXiv 2205.14135"},
      {14, 28, 42, 56, 98, 108, 124});
  add(8, 0, kOthers, {0, 0, 0, "none: boards of this compute capability differ"}, kNoTensor,
      no_caches);
  // The guide says 256 results for FP16 here; the whitepaper's 29.8 TFLOP/s of an RTX 3080 are 128.
  const ChipRates::Cores ampere{4, 256, 256, "NVIDIA Ampere GA102 whitepaper"};
  add(8, 6, "A2|A10|A16|A40|RTX A#|RTXA#|!Laptop", ampere,
      Tensor{0, 512, 1024, 1024, 0, 0, 0, 2048, 2, 0, "NVIDIA Ampere GA102 whitepaper"}, ga10x);
  add(8, 6, kGeForce, ampere,
      Tensor{0, 256, 512, 512, 0, 0, 0, 2048, 2, 0, "NVIDIA Ampere GA102 whitepaper"}, ga10x);
  add_mining(8, 6);
  add(8, 6, kOthers, ampere, kNoTensor, ga10x);  // the data sheet of A10G has half of A10's rates
  add(8, 7, kOthers, {0, 256, 0, "NVIDIA Jetson AGX Orin technical brief"},
      Tensor{0, 0, 0, 0, 0, 0, 0, 4096, 2, 0, "NVIDIA Jetson AGX Orin technical brief"}, no_caches);
  add(8, 9, "L4|L40S|RTX # Ada|!Laptop", guide(4, 256, 256),
      Tensor{0, 512, 1024, 1024, 2048, 0, 0, 2048, 2, 0, "NVIDIA L40S data sheet"}, no_caches);
  add(8, 9, "L20|L40", guide(4, 256, 256),
      Tensor{0, 256, 512, 512, 1024, 0, 0, 1024, 2, 0, "NVIDIA L40 data sheet"}, no_caches);
  add(8, 9, kGeForce, guide(4, 256, 256),
      Tensor{0, 256, 512, 512, 1024, 0, 0, 2048, 2, 0, "NVIDIA Ada whitepaper"}, no_caches);
  add(8, 9, kOthers, guide(4, 256, 256), kNoTensor, no_caches);

  const Caches hopper{128, 0, 0, "L1: the 31 TB/s of an H100 in arXiv 2407.08608"};
  add(9, 0, "H100|H200|GH200", guide(128, 256, 512),
      Tensor{256, 2048, 4096, 4096, 8192, 0, 0, 8192, 2, 0, "NVIDIA H100 whitepaper"}, hopper);
  // An H100 whose FP64 is cut to 1 TFLOP/s. Without a name it may be either.
  add(9, 0, "H800", guide(0, 256, 512),
      Tensor{0, 2048, 4096, 4096, 8192, 0, 0, 8192, 2, 0, "NVIDIA H100 whitepaper"}, hopper,
      {114, 132});
  // H20: 148 TFLOP/s of BF16 are published, about a quarter of the chip's rate.
  add(9, 0, kOthers, guide(0, 256, 0), kNoTensor, hopper);

  add(10, 0, kOthers, guide(128, 256, 512),
      Tensor{128, 4096, 8192, 8192, 16384, 16384, 32768, 16384, 2, 2,
             "NVIDIA Blackwell architecture brief"},
      no_caches);
  // Sources differ about INT8 by a factor of 30, and about sparse FP4: left open.
  add(10, 3, kOthers, {4, 256, 0, "NVIDIA Blackwell Ultra data sheet"},
      Tensor{0, 4096, 8192, 8192, 16384, 16384, 49152, 0, 2, 0,
             "NVIDIA Blackwell Ultra data sheet"},
      no_caches);
  add(11, 0, kOthers, {0, 256, 0, "NVIDIA Jetson T5000 data sheet"},
      Tensor{0, 0, 0, 8192, 16384, 0, 32768, 16384, 2, 2, "NVIDIA Jetson T5000 data sheet"},
      no_caches);
  add(12, 0, "RTX PRO #|!Laptop", guide(4, 256, 256),
      Tensor{0, 512, 1024, 1024, 2048, 2048, 4096, 2048, 2, 2,
             "NVIDIA RTX PRO Blackwell whitepaper"},
      no_caches);
  // The tensor cores of an RTX 5090 D are cut.
  add(12, 0, "GeForce RTX|!D", guide(4, 256, 256),
      Tensor{0, 256, 512, 512, 1024, 1024, 4096, 2048, 2, 2, "NVIDIA RTX Blackwell whitepaper"},
      no_caches);
  add(12, 0, kOthers, guide(4, 256, 256), kNoTensor, no_caches);
  add(12, 1, kOthers, {0, 256, 0, "NVIDIA DGX Spark data sheet"},
      Tensor{0, 0, 0, 0, 0, 0, 4096, 0, 0, 2, "NVIDIA DGX Spark data sheet"}, no_caches);
  return table;
}

std::vector<std::string> words_of(std::string_view text, std::string_view between) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (between.find(c) == std::string_view::npos)
      words.back() += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// "A6000" is "A#".
bool is_word(std::string_view word, std::string_view wanted) {
  if (wanted.empty() || wanted.back() != '#') return word == wanted;
  wanted.remove_suffix(1);
  if (!word.starts_with(wanted)) return false;
  word.remove_prefix(wanted.size());
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool has_words(const std::vector<std::string>& name, std::string_view wanted) {
  const std::vector<std::string> words = words_of(wanted, " ");
  return std::search(name.begin(), name.end(), words.begin(), words.end(), is_word) != name.end();
}

bool names(std::string_view boards, const std::vector<std::string>& name) {
  bool named = false;
  for (const std::string& board : words_of(boards, "|")) {
    if (board.front() == '!' && has_words(name, std::string_view(board).substr(1))) return false;
    named = named || has_words(name, board);
  }
  return named;
}

}  // namespace

// Never destroyed: the injected library may ask while the process exits.
const std::vector<ChipRates>& chip_rates() {
  static const auto* const table = new std::vector<ChipRates>(make_table());
  return *table;
}

const ChipRates* rates_of(const DeviceInfo& device) {
  const std::vector<std::string> name = words_of(device.name + " " + device.chip, " -/()");
  for (const ChipRates& rates : chip_rates()) {
    if (rates.major != device.compute_major || rates.minor != device.compute_minor) continue;
    const std::vector<int>& sizes = rates.sm_counts;
    if (rates.boards.empty() || names(rates.boards, name) ||
        (device.name.empty() &&
         std::find(sizes.begin(), sizes.end(), device.sm_count) != sizes.end()))
      return &rates;
  }
  return nullptr;
}

}  // namespace gable
