// SPDX-License-Identifier: Apache-2.0
#include "tools/ceilings/ceilings_kernels.h"

#include <array>
#include <utility>

#include "tools/ceilings/ceilings_ptx.h"

namespace gable {
namespace {

// --- The chains of the CUDA cores.

constexpr int kUnrolled = 512;  // instructions of a chain in one iteration

// Independent chains hide an instruction's latency; the rest do the other warps.
struct Chain {
  const char* roof;
  const char* type;  // of the instruction
  const char* reg;   // of its registers
  int chains;
  int lanes;
  const char *factor, *term;  // just below 1, and small: values stay in range
};

constexpr std::array<Chain, 3> kChains = {{
    {"fp64", "f64", ".f64", 8, 1, "0d3FEFFFFFFFFFF000", "0d3F50624DD2F1A9FC"},
    {"fp32", "f32", ".f32", 16, 1, "0f3F7FFF00", "0f3A83126F"},
    {"fp16", "f16x2", ".b32", 16, 2, "0x3BF83BF8", "0x211F211F"},
}};

std::string instruction(const Chain& chain, const std::string& op, const std::string& operands) {
  return "  " + op + ".rn." + chain.type + " " + operands + ";\n";
}

PtxParts parts_of(const Chain& chain, bool fused) {
  PtxParts parts;
  parts.version = "6.3";
  const std::string type = chain.reg, count = std::to_string(chain.chains);
  const std::string move = std::string("  mov.") + (type == ".b32" ? "b32" : chain.type) + " ";
  parts.registers = "  .reg " + type + " a<" + count + ">, b, c;\n";
  parts.setup = move + "b, " + chain.factor + ";\n" + move + "c, " + chain.term + ";\n";
  if (type != ".b32") parts.registers += "  .reg .f32 low;\n";
  for (int i = 0; i < chain.chains; ++i) {
    const std::string a = "a" + std::to_string(i);
    // Not a constant, or the chain could be computed beforehand.
    if (type == ".b32") {
      parts.setup += "  and.b32 " + a + ", gid, 0x000F000F;\n";
    } else {
      parts.setup += "  cvt.rn." + std::string(chain.type) + ".u32 " + a + ", gid;\n";
    }
  }
  for (int i = 0; i < kUnrolled; ++i) {
    // Explicit rounding: a product and a sum that have it are never fused.
    const std::string a = "a" + std::to_string(i % chain.chains);
    const bool product = (i / chain.chains) % 2 == 0;
    if (fused) {
      parts.body += instruction(chain, "fma", a + ", " + a + ", b, c");
    } else {
      parts.body += product ? instruction(chain, "mul", a + ", " + a + ", b")
                            : instruction(chain, "add", a + ", " + a + ", c");
    }
  }
  for (int i = 1; i < chain.chains; ++i)
    parts.result += instruction(chain, "add", "a0, a0, a" + std::to_string(i));
  if (type == ".b32") {
    parts.result += "  mov.b32 sum, a0;\n";
  } else if (type == ".f32") {
    parts.result += "  mov.b32 sum, a0;\n";
  } else {
    parts.result += "  cvt.rn.f32.f64 low, a0;\n  mov.b32 sum, low;\n";
  }
  return parts;
}

void add_core_kernels(std::vector<RoofKernel>& kernels) {
  for (const bool fused : {true, false}) {
    for (const Chain& chain : kChains) {
      RoofKernel kernel;
      kernel.roof = std::string(chain.roof) + (fused ? "" : "_no_fma");
      kernel.kind = CeilingKind::compute;
      kernel.how = std::string("chains of ") + (fused ? "fma" : "mul, add") + ".rn." + chain.type;
      kernel.symbol = "gable_roof_" + kernel.roof;
      kernel.target = "sm_70";
      kernel.lowest = 70;
      kernel.operations = kUnrolled * chain.lanes * (fused ? 2 : 1);
      kernel.ptx = ptx_module(kernel, parts_of(chain, fused));
      kernels.push_back(std::move(kernel));
    }
  }
}

// --- Tensor cores by mma.sync: one warp multiplies two tiles. Blackwell's data-centre chips reach
// their rates with tcgen05 alone, which is not here; Hopper's come next.

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
constexpr std::array<Tile, 16> kMmaTable = {{
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

void add_tensor_kernels(std::vector<RoofKernel>& kernels) {
  for (const Tile& tile : kMmaTable) {
    RoofKernel kernel;
    kernel.roof = tile.roof;
    kernel.kind = CeilingKind::compute;
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

// --- Hopper's tensor cores: four warps multiply two tiles that lie in shared memory. mma.sync
// reaches about two thirds of their rate.

constexpr int kGroupM = 64, kGroupN = 256, kGroupsInFlight = 8;
constexpr int kGroupAccumulators = kGroupM * kGroupN / 128;
// A tile of 64 rows and one of 256, 128 byte a row.
constexpr unsigned kGroupBytesA = 64 * 128, kGroupBytes = (64 + 256) * 128;
constexpr unsigned kGroupThreads = 128;

struct GroupType {
  const char *roof, *name, *accumulator;
  int k;
  const char* immediates;  // after scale-d: scales of the inputs, and which are transposed
  unsigned and_mask, or_mask;
};

// PTX ISA, "Asynchronous warpgroup level matrix instructions".
constexpr std::array<GroupType, 5> kGroupTypes = {{
    {"tf32_tensor", "tf32", "f32", 8, ", 1, 1", 0x007FE000, 0x3F000000},
    {"bf16_tensor", "bf16", "f32", 16, ", 1, 1, 0, 0", 0x007F007F, 0x3F003F00},
    {"fp16_tensor", "f16", "f32", 16, ", 1, 1, 0, 0", 0x03FF03FF, 0x38003800},
    {"fp8_tensor", "e4m3", "f32", 32, ", 1, 1", 0x07070707, 0x30303030},
    {"int8_tensor", "s8", "s32", 32, "", 0xFFFFFFFF, 0},
}};

// Rows of 128 byte, swizzled: 8 rows are 1024 byte apart from the next 8 (in units of 16 byte).
constexpr unsigned long long kSwizzled = (1ULL << 62) | (64ULL << 32) | (1ULL << 16);

PtxParts parts_of(const GroupType& type) {
  PtxParts parts;
  parts.version = "8.0";
  const bool integer = std::string(type.accumulator) == "s32";
  const std::string out = std::string(".") + type.accumulator;
  parts.registers = "  .shared .align 1024 .b8 tiles[" + std::to_string(kGroupBytes) +
                    "];\n  .reg .pred more, add;\n  .reg .b32 h, at, stop, word;\n"
                    "  .reg .b64 from, a, b;\n  .reg " +
                    out + " d<" + std::to_string(kGroupAccumulators) + ">;\n";
  std::string& setup = parts.setup;
  setup = "  mov.u32 at, tiles;\n  add.u32 stop, at, " + std::to_string(kGroupBytes) +
          ";\n  cvt.u64.u32 from, at;\n  shr.u64 from, from, 4;\n  and.b64 from, from, 0x3FFF;\n"
          "  or.b64 a, from, " +
          std::to_string(kSwizzled) + ";\n  add.u64 b, a, " + std::to_string(kGroupBytesA / 16) +
          ";\n  mul.lo.u32 h, gid, 0x9E3779B1;\n  mad.lo.u32 at, tid, 4, at;\n"
          "fill_:\n  mad.lo.u32 h, h, 0x85EBCA6B, 0x165667B1;\n  and.b32 word, h, " +
          std::to_string(type.and_mask) + ";\n  or.b32 word, word, " +
          std::to_string(type.or_mask) + ";\n  st.shared.b32 [at], word;\n  add.u32 at, at, " +
          std::to_string(kGroupThreads * 4) +
          ";\n  setp.lt.u32 more, at, stop;\n  @more bra fill_;\n"
          "  fence.proxy.async;\n  bar.sync 0;\n  setp.eq.u32 add, tid, tid;\n";
  for (int i = 0; i < kGroupAccumulators; ++i)
    setup += "  mov" + out + " d" + std::to_string(i) + (integer ? ", 0;\n" : ", 0f00000000;\n");
  const std::string name = type.name;
  const std::string multiply = "  wgmma.mma_async.sync.aligned.m64n256k" + std::to_string(type.k) +
                               "." + type.accumulator + "." + name + "." + name + " {" +
                               ptx_list("d", kGroupAccumulators) + "}, a, b, add" +
                               type.immediates + ";\n";
  parts.body = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < kGroupsInFlight; ++i) parts.body += multiply;
  parts.body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 1; i < kGroupAccumulators; ++i)
    parts.result += "  add" + out + " d0, d0, d" + std::to_string(i) + ";\n";
  parts.result += "  mov.b32 sum, d0;\n";
  return parts;
}

void add_warpgroup_kernels(std::vector<RoofKernel>& kernels) {
  for (const GroupType& type : kGroupTypes) {
    RoofKernel kernel;
    kernel.roof = type.roof;
    kernel.kind = CeilingKind::compute;
    kernel.how = "wgmma m64n256k" + std::to_string(type.k) + " " + type.name;
    kernel.symbol = std::string("gable_roof_") + type.roof + "_wgmma";
    kernel.target = "sm_90a";
    kernel.lowest = kernel.highest = 90;
    kernel.block = kGroupThreads;
    kernel.blocks_per_sm = 2;
    kernel.operations = 2.0 * kGroupM * kGroupN * type.k * kGroupsInFlight / kGroupThreads;
    kernel.ptx = ptx_module(kernel, parts_of(type));
    kernels.push_back(std::move(kernel));
  }
}

// --- Streams over a window that is much larger than the L2, fits into it, or fits into every SM's
// L1.

constexpr int kAccesses = 8;  // of 16 byte, in one iteration of a thread

enum class Stream { read, write, copy };

// The four registers of one access.
std::string four_of(int access) {
  std::string list;
  for (int j = 0; j < 4; ++j) list += (j == 0 ? "{x" : ", x") + std::to_string(4 * access + j);
  return list + "}";
}

PtxParts parts_of(Stream stream, bool through_l1) {
  PtxParts parts;
  parts.version = "6.3";
  parts.registers =
      "  .reg .pred own;\n  .reg .b32 index, x<32>, s<4>;\n"
      "  .reg .b64 base, other, offset, at, where, start;\n";
  // With a window of its own a block begins at its first byte.
  parts.setup =
      "  setp.ne.u64 own, blockbytes, 0;\n  selp.b32 index, tid, gid, own;\n"
      "  mul.wide.u32 offset, index, 16;\n  cvt.u64.u32 start, cta;\n"
      "  mad.lo.u64 base, start, blockbytes, data;\n"
      "  add.u64 other, base, mask;\n  add.u64 other, other, 1;\n"
      "  mov.b32 s0, gid;\n  mov.b32 s1, tid;\n  mov.b32 s2, cta;\n  mov.b32 s3, ntid;\n";
  const std::string cache = through_l1 ? "ca" : "cg";
  std::string loads, uses;
  for (int i = 0; i < kAccesses; ++i) {
    const std::string four = four_of(i);
    loads += "  and.b64 at, offset, mask;\n  add.u64 offset, offset, step;\n";
    if (stream != Stream::write) {
      loads +=
          "  add.u64 where, base, at;\n  ld.global." + cache + ".v4.u32 " + four + ", [where];\n";
    }
    if (stream == Stream::read) {
      for (int j = 0; j < 4; ++j) {
        const std::string s = "s" + std::to_string(j);
        uses += "  xor.b32 " + s + ", " + s + ", x" + std::to_string(4 * i + j) + ";\n";
      }
    }
  }
  if (stream == Stream::read) {
    parts.body = loads + uses;
  } else if (stream == Stream::write) {
    for (int i = 0; i < kAccesses; ++i) {
      parts.body +=
          "  and.b64 at, offset, mask;\n  add.u64 offset, offset, step;\n"
          "  add.u64 where, base, at;\n  st.global.cg.v4.u32 [where], {s0, s1, s2, s3};\n";
    }
  } else {
    // What was read follows once all reads of the iteration are under way.
    parts.body = "  mov.b64 start, offset;\n" + loads;
    for (int i = 0; i < kAccesses; ++i) {
      parts.body +=
          "  and.b64 at, start, mask;\n  add.u64 start, start, step;\n"
          "  add.u64 where, other, at;\n  st.global.cg.v4.u32 [where], " +
          four_of(i) + ";\n";
    }
  }
  parts.result = "  xor.b32 sum, s0, s1;\n  xor.b32 sum, sum, s2;\n  xor.b32 sum, sum, s3;\n";
  return parts;
}

void add_stream(const char* roof, MemoryLevel level, Stream stream, const char* what,
                std::vector<RoofKernel>& kernels) {
  RoofKernel kernel;
  kernel.roof = roof;
  kernel.kind = CeilingKind::memory;
  kernel.how = std::string("streaming ") + what;
  kernel.symbol = std::string("gable_roof_") + roof + "_" + what;
  kernel.target = "sm_70";
  kernel.lowest = 70;
  kernel.level = level;
  kernel.copies = stream == Stream::copy;
  const bool l1 = level == MemoryLevel::l1;
  kernel.block = l1 ? 1024 : 256;
  kernel.blocks_per_sm = l1 ? 1 : 8;
  kernel.operations = 16.0 * kAccesses * (kernel.copies ? 2 : 1);
  kernel.ptx = ptx_module(kernel, parts_of(stream, l1));
  kernels.push_back(std::move(kernel));
}

void add_stream_kernels(std::vector<RoofKernel>& kernels) {
  for (const auto& [roof, level] :
       {std::pair{"dram", MemoryLevel::dram}, std::pair{"l2", MemoryLevel::l2}}) {
    add_stream(roof, level, Stream::read, "read", kernels);
    add_stream(roof, level, Stream::write, "write", kernels);
    add_stream(roof, level, Stream::copy, "copy", kernels);
  }
  // Writes pass through the L1: they are the L2's.
  add_stream("l1", MemoryLevel::l1, Stream::read, "read", kernels);
}

}  // namespace

const std::vector<RoofKernel>& roof_kernels() {
  static const std::vector<RoofKernel> kernels = [] {
    std::vector<RoofKernel> all;
    add_core_kernels(all);
    add_tensor_kernels(all);
    add_warpgroup_kernels(all);
    add_stream_kernels(all);
    return all;
  }();
  return kernels;
}

std::vector<const RoofKernel*> roof_kernels_of(int capability) {
  std::vector<const RoofKernel*> kernels;
  for (const RoofKernel& kernel : roof_kernels()) {
    if (capability >= kernel.lowest && (kernel.highest == 0 || capability <= kernel.highest))
      kernels.push_back(&kernel);
  }
  return kernels;
}

}  // namespace gable
