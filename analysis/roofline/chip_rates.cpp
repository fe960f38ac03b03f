// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/chip_rates.h"

#include <string>

namespace gable {
namespace {

// Results per clock and SM, times 2 for an fma.
constexpr std::string_view kGuide = "CUDA C++ Programming Guide, \"Arithmetic Instructions\"";
constexpr std::string_view kNone;

ChipRates::Cores guide(double fp64, double fp32, double fp16) { return {fp64, fp32, fp16, kGuide}; }

// What is the same on both boards of a chip.
void add_unnamed(std::vector<ChipRates>& table) {
  using Tensor = ChipRates::Tensor;
  const std::vector<ChipRates> known = table;
  for (const ChipRates& one : known) {
    for (const ChipRates& other : known) {
      if (one.board != Board::professional || other.board != Board::geforce ||
          one.major != other.major || one.minor != other.minor)
        continue;
      ChipRates both = one;
      both.board = Board::unnamed;
      for (double Tensor::*rate :
           {&Tensor::fp64, &Tensor::tf32, &Tensor::bf16, &Tensor::fp16, &Tensor::fp8, &Tensor::fp6,
            &Tensor::fp4, &Tensor::int8, &Tensor::sparse, &Tensor::fp4_sparse}) {
        if (one.tensor.*rate != other.tensor.*rate) both.tensor.*rate = 0;
      }
      table.push_back(both);
    }
  }
}

std::vector<ChipRates> make_table() {
  using Tensor = ChipRates::Tensor;
  using Caches = ChipRates::Caches;
  // Tensor-core rates per SM and clock: {FP64, TF32, BF16, FP16, FP8, FP6, FP4, INT8, sparse}.
  const Caches no_caches{0, 0, 0, kNone};
  const Caches ga10x{128, 0, 0, "NVIDIA Ampere GA102 whitepaper: 128 byte of L1 per SM and clock"};
  std::vector<ChipRates> table;
  const auto add = [&](int major, int minor, Board board, ChipRates::Cores cores, Tensor tensor,
                       Caches caches) {
    table.push_back({major, minor, board, cores, tensor, caches});
  };

  // L2: 64 slices of 96 KiB, 2048 byte per clock together. L1: 80 x 128 x 1.4 GHz is the 14.3 TB/s
  // of that roofline.
  add(7, 0, Board::any, guide(64, 128, 256),
      Tensor{0, 0, 0, 1024, 0, 0, 0, 0, 0, 0, "NVIDIA Tesla V100 whitepaper"},
      Caches{128, 32, 96,
             "L2: NVIDIA A100 whitepaper (2048 byte per clock of V100); L1: NERSC's roofline of "
             "V100"});
  add(7, 2, Board::any, guide(0, 128, 256),
      Tensor{0, 0, 0, 1024, 0, 0, 0, 2048, 0, 0, "Jetson AGX Xavier data sheet"}, no_caches);
  const Caches turing{64, 0, 0, "NVIDIA Ampere GA102 whitepaper: 64 byte of L1 per SM and clock"};
  add(7, 5, Board::professional, guide(4, 128, 256),
      Tensor{0, 0, 0, 1024, 0, 0, 0, 2048, 0, 0, "NVIDIA Turing whitepaper"}, turing);
  add(7, 5, Board::geforce, guide(4, 128, 256),
      Tensor{0, 0, 0, 512, 0, 0, 0, 2048, 0, 0, "NVIDIA Turing whitepaper"}, turing);

  add(8, 0, Board::any, guide(64, 128, 512),
      Tensor{128, 1024, 2048, 2048, 0, 0, 0, 4096, 2, 0, "NVIDIA A100 whitepaper"},
      Caches{128, 64, 512,
             "L2: NVIDIA A100 whitepaper (80 slices of 512 KiB, 5120 byte per clock); L1: the 19 "
             "TB/s of arXiv 2205.14135"});
  // The guide says 256 results for FP16 here; the whitepaper's 29.8 TFLOP/s of an RTX 3080 are 128.
  const ChipRates::Cores ampere{4, 256, 256, "NVIDIA Ampere GA102 whitepaper"};
  add(8, 6, Board::professional, ampere,
      Tensor{0, 512, 1024, 1024, 0, 0, 0, 2048, 2, 0, "NVIDIA Ampere GA102 whitepaper"}, ga10x);
  add(8, 6, Board::geforce, ampere,
      Tensor{0, 256, 512, 512, 0, 0, 0, 2048, 2, 0, "NVIDIA Ampere GA102 whitepaper"}, ga10x);
  add(8, 7, Board::any, {0, 256, 0, "NVIDIA Jetson AGX Orin technical brief"},
      Tensor{0, 0, 0, 0, 0, 0, 0, 4096, 2, 0, "NVIDIA Jetson AGX Orin technical brief"}, no_caches);
  add(8, 9, Board::professional, guide(4, 256, 256),
      Tensor{0, 512, 1024, 1024, 2048, 0, 0, 2048, 2, 0, "NVIDIA L40S data sheet"}, no_caches);
  add(8, 9, Board::geforce, guide(4, 256, 256),
      Tensor{0, 256, 512, 512, 1024, 0, 0, 2048, 2, 0, "NVIDIA Ada whitepaper"}, no_caches);

  add(9, 0, Board::any, guide(128, 256, 512),
      Tensor{256, 2048, 4096, 4096, 8192, 0, 0, 8192, 2, 0, "NVIDIA H100 whitepaper"},
      Caches{128, 0, 0, "L1: the 31 TB/s of an H100 in arXiv 2407.08608"});

  add(10, 0, Board::any, guide(128, 256, 512),
      Tensor{128, 4096, 8192, 8192, 16384, 16384, 32768, 16384, 2, 2,
             "NVIDIA Blackwell architecture brief"},
      no_caches);
  // Sources differ about INT8 by a factor of 30, and about sparse FP4: left open.
  add(10, 3, Board::any, {4, 256, 0, "NVIDIA Blackwell Ultra data sheet"},
      Tensor{0, 4096, 8192, 8192, 16384, 16384, 49152, 0, 2, 0,
             "NVIDIA Blackwell Ultra data sheet"},
      no_caches);
  add(11, 0, Board::any, {0, 256, 0, "NVIDIA Jetson T5000 data sheet"},
      Tensor{0, 0, 0, 8192, 16384, 0, 32768, 16384, 2, 2, "NVIDIA Jetson T5000 data sheet"},
      no_caches);
  add(12, 0, Board::professional, guide(4, 256, 256),
      Tensor{0, 512, 1024, 1024, 2048, 2048, 4096, 2048, 2, 2,
             "NVIDIA RTX PRO Blackwell whitepaper"},
      no_caches);
  add(12, 0, Board::geforce, guide(4, 256, 256),
      Tensor{0, 256, 512, 512, 1024, 1024, 4096, 2048, 2, 2, "NVIDIA RTX Blackwell whitepaper"},
      no_caches);
  add(12, 1, Board::any, {0, 256, 0, "NVIDIA DGX Spark data sheet"},
      Tensor{0, 0, 0, 0, 0, 0, 4096, 0, 0, 2, "NVIDIA DGX Spark data sheet"}, no_caches);
  add_unnamed(table);
  return table;
}

// A TITAN RTX has the full rate.
bool is_geforce(const std::string& name) { return name.find("GeForce") != std::string::npos; }

}  // namespace

// Never destroyed: the injected library may ask while the process exits.
const std::vector<ChipRates>& chip_rates() {
  static const auto* const table = new std::vector<ChipRates>(make_table());
  return *table;
}

const ChipRates* rates_of(const DeviceInfo& device) {
  const Board board = device.name.empty()       ? Board::unnamed
                      : is_geforce(device.name) ? Board::geforce
                                                : Board::professional;
  for (const ChipRates& rates : chip_rates()) {
    if (rates.major == device.compute_major && rates.minor == device.compute_minor &&
        (rates.board == Board::any || rates.board == board))
      return &rates;
  }
  return nullptr;
}

}  // namespace gable
