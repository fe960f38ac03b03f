// SPDX-License-Identifier: Apache-2.0
// Tensor cores by mma.sync: one warp multiplies two tiles. Blackwell's data-centre chips reach
// their rates with tcgen05 alone, which is not here; Hopper's are in ceilings_wgmma.cpp.
#include <array>

#include "tools/ceilings/ceilings_ptx.h"

namespace gable {
namespace {

constexpr int kTiles = 8;  // independent accumulators of a warp
constexpr int kRounds = 4;

struct Tile {
  const char* roof;
  const char* symbol;
  const char* shape;
  int m, n, k;
  const char *type, *accumulator;
  int a, b, d;  // registers of a thread
  const char* target;
  int lowest, highest;
  const char* version;
  unsigned and_mask, or_mask;  // of the bits of the inputs: numbers of ordinary size
};

// Shapes and fragments: PTX ISA, "Matrix multiply-accumulate operation using mma instruction".
constexpr std::array<Tile, 16> kTable = {{
    {"fp64_tensor", "m8n8k4", "m8n8k4", 8, 8, 4, "f64", "f64", 1, 1, 2, "sm_80", 80, 80, "7.0", 0,
     0},
    {"fp64_tensor", "m16n8k16", "m16n8k16", 16, 8, 16, "f64", "f64", 8, 4, 4, "sm_90", 90, 100,
     "7.8", 0, 0},
    {"tf32_tensor", "m16n8k8", "m16n8k8", 16, 8, 8, "tf32", "f32", 4, 2, 4, "sm_80", 80, 89, "7.0",
     0x007FE000, 0x3F000000},
    {"tf32_tensor", "12", "m16n8k8", 16, 8, 8, "tf32", "f32", 4, 2, 4, "sm_80", 120, 129, "7.0",
     0x007FE000, 0x3F000000},
    {"bf16_tensor", "m16n8k16", "m16n8k16", 16, 8, 16, "bf16", "f32", 4, 2, 4, "sm_80", 80, 89,
     "7.0", 0x007F007F, 0x3F003F00},
    {"bf16_tensor", "12", "m16n8k16", 16, 8, 16, "bf16", "f32", 4, 2, 4, "sm_80", 120, 129, "7.0",
     0x007F007F, 0x3F003F00},
    {"fp16_tensor", "m16n8k8", "m16n8k8", 16, 8, 8, "f16", "f32", 2, 1, 4, "sm_75", 75, 75, "6.5",
     0x03FF03FF, 0x38003800},
    {"fp16_tensor", "m16n8k16", "m16n8k16", 16, 8, 16, "f16", "f32", 4, 2, 4, "sm_80", 80, 89,
     "7.0", 0x03FF03FF, 0x38003800},
    {"fp16_tensor", "12", "m16n8k16", 16, 8, 16, "f16", "f32", 4, 2, 4, "sm_80", 120, 129, "7.0",
     0x03FF03FF, 0x38003800},
    {"fp8_tensor", "m16n8k32", "m16n8k32", 16, 8, 32, "e4m3", "f32", 4, 2, 4, "sm_89", 89, 89,
     "8.4", 0x07070707, 0x30303030},
    {"fp8_tensor", "12", "m16n8k32", 16, 8, 32, "e4m3", "f32", 4, 2, 4, "sm_89", 120, 129, "8.4",
     0x07070707, 0x30303030},
    {"int8_tensor", "m8n8k16", "m8n8k16", 8, 8, 16, "s8", "s32", 1, 1, 2, "sm_75", 75, 75, "6.5",
     0xFFFFFFFF, 0},
    {"int8_tensor", "m16n8k32", "m16n8k32", 16, 8, 32, "s8", "s32", 4, 2, 4, "sm_80", 80, 89, "7.0",
     0xFFFFFFFF, 0},
    {"int8_tensor", "12", "m16n8k32", 16, 8, 32, "s8", "s32", 4, 2, 4, "sm_80", 120, 129, "7.0",
     0xFFFFFFFF, 0},
    // FP6, and FP4 with its scales, exist on these chips alone.
    {"fp6_tensor", "m16n8k32", "m16n8k32", 16, 8, 32, "e3m2", "f32", 4, 2, 4, "sm_120a", 120, 120,
     "8.7", 0x1F1F1F1F, 0},
    {"fp4_tensor", "m16n8k64", "m16n8k64", 16, 8, 64, "e2m1", "f32", 4, 2, 4, "sm_120a", 120, 120,
     "8.7", 0x77777777, 0},
}};

bool is_double(const Tile& tile) { return std::string(tile.type) == "f64"; }
bool is_integer(const Tile& tile) { return std::string(tile.accumulator) == "s32"; }
bool is_scaled(const Tile& tile) { return std::string(tile.type) == "e2m1"; }

// Inputs that differ between threads and bits: zeros would draw less power, and clock higher.
std::string inputs(const Tile& tile) {
  std::string text = "  mul.lo.u32 h, gid, 0x9E3779B1;\n";
  const auto fill = [&](const std::string& name, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string reg = name + std::to_string(i);
      text += "  mad.lo.u32 h, h, 0x85EBCA6B, 0x165667B1;\n";
      if (is_double(tile)) {
        text += "  and.b32 g, h, 0x000FFFFF;\n  or.b32 g, g, 0x3FE00000;\n  mov.b64 " + reg +
                ", {h, g};\n";
      } else {
        text += "  and.b32 " + reg + ", h, " + std::to_string(tile.and_mask) + ";\n  or.b32 " +
                reg + ", " + reg + ", " + std::to_string(tile.or_mask) + ";\n";
      }
    }
  };
  fill("a", tile.a);
  fill("b", tile.b);
  return text;
}

std::string opcode(const Tile& tile) {
  const std::string type = tile.type, accumulator = tile.accumulator;
  return std::string("mma.sync.aligned.") + tile.shape + ".row.col" +
         (is_scaled(tile)  ? ".kind::mxf4.block_scale.scale_vec::2X"
          : type == "e3m2" ? ".kind::f8f6f4"
                           : "") +
         "." + accumulator + "." + type + "." + type + "." + accumulator +
         (is_scaled(tile) ? ".ue8m0" : "");
}

PtxParts parts_of(const Tile& tile) {
  PtxParts parts;
  parts.version = tile.version;
  const std::string in = is_double(tile) ? ".f64" : ".b32";
  const std::string out = std::string(".") + tile.accumulator;
  const int accumulators = kTiles * tile.d;
  parts.registers = "  .reg .b32 h, g, scale;\n  .reg " + in + " a<" + std::to_string(tile.a) +
                    ">, b<" + std::to_string(tile.b) + ">;\n  .reg " + out + " d<" +
                    std::to_string(accumulators) + ">;\n";
  if (is_double(tile)) parts.registers += "  .reg .f32 low;\n";
  parts.setup = inputs(tile);
  if (is_scaled(tile)) parts.setup += "  mov.b32 scale, 0x7F7F7F7F;\n";
  const std::string zero = is_integer(tile)  ? "0"
                           : is_double(tile) ? "0d0000000000000000"
                                             : "0f00000000";
  for (int i = 0; i < accumulators; ++i)
    parts.setup += "  mov" + out + " d" + std::to_string(i) + ", " + zero + ";\n";
  for (int i = 0; i < kTiles * kRounds; ++i) {
    std::string d;
    for (int j = 0; j < tile.d; ++j)
      d += (j == 0 ? "d" : ", d") + std::to_string((i % kTiles) * tile.d + j);
    parts.body += "  " + opcode(tile) + " {" + d + "}, {" + ptx_list("a", tile.a) + "}, {" +
                  ptx_list("b", tile.b) + "}, {" + d + "}" +
                  (is_scaled(tile) ? ", {scale}, {0, 0}, {scale}, {0, 0}" : "") + ";\n";
  }
  for (int i = 1; i < accumulators; ++i)
    parts.result += "  add" + out + " d0, d0, d" + std::to_string(i) + ";\n";
  parts.result +=
      is_double(tile) ? "  cvt.rn.f32.f64 low, d0;\n  mov.b32 sum, low;\n" : "  mov.b32 sum, d0;\n";
  return parts;
}

}  // namespace

void add_tensor_kernels(std::vector<RoofKernel>& kernels) {
  for (const Tile& tile : kTable) {
    RoofKernel kernel;
    kernel.roof = tile.roof;
    kernel.kind = "compute";
    kernel.how = std::string("mma.sync ") + tile.shape + " " + tile.type;
    kernel.symbol = std::string("gable_roof_") + tile.roof + "_" + tile.symbol;
    kernel.target = tile.target;
    kernel.lowest = tile.lowest;
    kernel.highest = tile.highest;
    kernel.blocks_per_sm = 4;
    kernel.operations = 2.0 * tile.m * tile.n * tile.k * kTiles * kRounds / 32;
    kernel.ptx = ptx_module(kernel, parts_of(tile));
    kernels.push_back(std::move(kernel));
  }
}

}  // namespace gable
