// SPDX-License-Identifier: Apache-2.0
// Streams over a window that is much larger than the L2, fits into it, or fits into every SM's L1.
#include "tools/ceilings/ceilings_ptx.h"

namespace gable {
namespace {

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

void add(const char* roof, RoofKernel::Level level, Stream stream, const char* what,
         std::vector<RoofKernel>& kernels) {
  RoofKernel kernel;
  kernel.roof = roof;
  kernel.kind = "memory";
  kernel.how = std::string("streaming ") + what;
  kernel.symbol = std::string("gable_roof_") + roof + "_" + what;
  kernel.target = "sm_70";
  kernel.lowest = 70;
  kernel.level = level;
  kernel.copies = stream == Stream::copy;
  const bool l1 = level == RoofKernel::Level::l1;
  kernel.block = l1 ? 1024 : 256;
  kernel.blocks_per_sm = l1 ? 1 : 8;
  kernel.operations = 16.0 * kAccesses * (kernel.copies ? 2 : 1);
  kernel.ptx = ptx_module(kernel, parts_of(stream, l1));
  kernels.push_back(std::move(kernel));
}

}  // namespace

void add_stream_kernels(std::vector<RoofKernel>& kernels) {
  using Level = RoofKernel::Level;
  for (const auto& [roof, level] : {std::pair{"dram", Level::dram}, std::pair{"l2", Level::l2}}) {
    add(roof, level, Stream::read, "read", kernels);
    add(roof, level, Stream::write, "write", kernels);
    add(roof, level, Stream::copy, "copy", kernels);
  }
  // Writes pass through the L1: they are the L2's.
  add("l1", Level::l1, Stream::read, "read", kernels);
}

}  // namespace gable
