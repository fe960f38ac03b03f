// SPDX-License-Identifier: Apache-2.0
// Hopper's tensor cores: four warps multiply two tiles that lie in shared memory. mma.sync reaches
// about two thirds of their rate.
#include <array>

#include "tools/ceilings/ceilings_ptx.h"

namespace gable {
namespace {

constexpr int kM = 64, kN = 256, kInFlight = 8;
constexpr int kAccumulators = kM * kN / 128;
// A tile of 64 rows and one of 256, 128 byte a row.
constexpr unsigned kBytesA = 64 * 128, kBytes = (64 + 256) * 128;
constexpr unsigned kThreads = 128;

struct Type {
  const char *roof, *name, *accumulator;
  int k;
  const char* immediates;  // after scale-d: scales of the inputs, and which are transposed
  unsigned and_mask, or_mask;
};

// PTX ISA, "Asynchronous warpgroup level matrix instructions".
constexpr std::array<Type, 5> kTypes = {{
    {"tf32_tensor", "tf32", "f32", 8, ", 1, 1", 0x007FE000, 0x3F000000},
    {"bf16_tensor", "bf16", "f32", 16, ", 1, 1, 0, 0", 0x007F007F, 0x3F003F00},
    {"fp16_tensor", "f16", "f32", 16, ", 1, 1, 0, 0", 0x03FF03FF, 0x38003800},
    {"fp8_tensor", "e4m3", "f32", 32, ", 1, 1", 0x07070707, 0x30303030},
    {"int8_tensor", "s8", "s32", 32, "", 0xFFFFFFFF, 0},
}};

// Rows of 128 byte, swizzled: 8 rows are 1024 byte apart from the next 8 (in units of 16 byte).
constexpr unsigned long long kSwizzled = (1ULL << 62) | (64ULL << 32) | (1ULL << 16);

PtxParts parts_of(const Type& type) {
  PtxParts parts;
  parts.version = "8.0";
  const bool integer = std::string(type.accumulator) == "s32";
  const std::string out = std::string(".") + type.accumulator;
  parts.registers = "  .shared .align 1024 .b8 tiles[" + std::to_string(kBytes) +
                    "];\n  .reg .pred more, add;\n  .reg .b32 h, at, stop, word;\n"
                    "  .reg .b64 from, a, b;\n  .reg " +
                    out + " d<" + std::to_string(kAccumulators) + ">;\n";
  std::string& setup = parts.setup;
  setup = "  mov.u32 at, tiles;\n  add.u32 stop, at, " + std::to_string(kBytes) +
          ";\n  cvt.u64.u32 from, at;\n  shr.u64 from, from, 4;\n  and.b64 from, from, 0x3FFF;\n"
          "  or.b64 a, from, " +
          std::to_string(kSwizzled) + ";\n  add.u64 b, a, " + std::to_string(kBytesA / 16) +
          ";\n  mul.lo.u32 h, gid, 0x9E3779B1;\n  mad.lo.u32 at, tid, 4, at;\n"
          "fill_:\n  mad.lo.u32 h, h, 0x85EBCA6B, 0x165667B1;\n  and.b32 word, h, " +
          std::to_string(type.and_mask) + ";\n  or.b32 word, word, " +
          std::to_string(type.or_mask) + ";\n  st.shared.b32 [at], word;\n  add.u32 at, at, " +
          std::to_string(kThreads * 4) +
          ";\n  setp.lt.u32 more, at, stop;\n  @more bra fill_;\n"
          "  fence.proxy.async;\n  bar.sync 0;\n  setp.eq.u32 add, tid, tid;\n";
  for (int i = 0; i < kAccumulators; ++i)
    setup += "  mov" + out + " d" + std::to_string(i) + (integer ? ", 0;\n" : ", 0f00000000;\n");
  const std::string name = type.name;
  const std::string multiply = "  wgmma.mma_async.sync.aligned.m64n256k" + std::to_string(type.k) +
                               "." + type.accumulator + "." + name + "." + name + " {" +
                               ptx_list("d", kAccumulators) + "}, a, b, add" + type.immediates +
                               ";\n";
  parts.body = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < kInFlight; ++i) parts.body += multiply;
  parts.body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 1; i < kAccumulators; ++i)
    parts.result += "  add" + out + " d0, d0, d" + std::to_string(i) + ";\n";
  parts.result += "  mov.b32 sum, d0;\n";
  return parts;
}

}  // namespace

void add_warpgroup_kernels(std::vector<RoofKernel>& kernels) {
  for (const Type& type : kTypes) {
    RoofKernel kernel;
    kernel.roof = type.roof;
    kernel.kind = "compute";
    kernel.how = "wgmma m64n256k" + std::to_string(type.k) + " " + type.name;
    kernel.symbol = std::string("gable_roof_") + type.roof + "_wgmma";
    kernel.target = "sm_90a";
    kernel.lowest = kernel.highest = 90;
    kernel.block = kThreads;
    kernel.blocks_per_sm = 2;
    kernel.operations = 2.0 * kM * kN * type.k * kInFlight / kThreads;
    kernel.ptx = ptx_module(kernel, parts_of(type));
    kernels.push_back(std::move(kernel));
  }
}

}  // namespace gable
