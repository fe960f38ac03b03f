// SPDX-License-Identifier: Apache-2.0
// Streams of known size: copies, reads, writes, a stride, a window that stays in the L2, and shared
// memory alone.
#include "tests/gpu/truth/truth.h"

namespace gable::truth {
namespace {

using Kind = Expectation::Kind;

constexpr unsigned kBlocks = 2048, kThreads = 512;
constexpr std::uint64_t kAccess = 16, kStride = 128;

// All threads together go over `mask` elements, `step` bytes apart, `turns` times. `access` uses
// the addresses `from` (in data) and `to` (in out).
std::string module_of(const std::string& name, const std::string& access) {
  return ".version 6.3\n.target sm_70\n.address_size 64\n\n.visible .entry " + name +
         "(\n  .param .u64 p_data,\n  .param .u64 p_out,\n  .param .u64 p_blockbytes,\n"
         "  .param .u64 p_mask,\n  .param .u64 p_step,\n  .param .u32 p_turns\n)\n{\n"
         "  .shared .align 16 .b8 own[8192];\n  .reg .pred p;\n"
         "  .reg .b32 t, c, w, g, n, s, place, x<4>;\n"
         "  .reg .b64 data, out, count, step, k, all, at, from, to;\n"
         "  ld.param.u64 data, [p_data];\n  ld.param.u64 out, [p_out];\n"
         "  ld.param.u64 count, [p_mask];\n  ld.param.u64 step, [p_step];\n"
         "  ld.param.u32 n, [p_turns];\n"
         "  mov.u32 t, %tid.x;\n  mov.u32 c, %ctaid.x;\n  mov.u32 w, %ntid.x;\n"
         "  mov.u32 g, %nctaid.x;\n  mul.wide.u32 all, w, g;\n"
         "  mov.u32 s, 0;\n  mov.u32 x0, t;\n  mov.u32 x1, c;\n  mov.u32 x2, t;\n"
         "  mov.u32 x3, c;\n  shl.b32 place, t, 4;\n  mov.u32 t, own;\n"
         "  add.u32 place, place, t;\n"
         "again_:\n  mov.u32 t, %tid.x;\n  mad.lo.u32 t, c, w, t;\n  cvt.u64.u32 k, t;\n"
         "next_:\n  setp.ge.u64 p, k, count;\n  @p bra done_;\n"
         "  mul.lo.u64 at, k, step;\n  add.u64 from, data, at;\n  add.u64 to, out, at;\n" +
         access +
         "  add.u64 k, k, all;\n  bra next_;\n"
         "done_:\n  sub.u32 n, n, 1;\n  setp.ne.u32 p, n, 0;\n  @p bra again_;\n"
         // Never true, which the compiler cannot know.
         "  setp.eq.u32 p, s, 0x5A5A1234;\n  @p st.global.u32 [out], s;\n  ret;\n}\n";
}

constexpr const char* kLoad = "  ld.global.cg.v4.u32 {x0, x1, x2, x3}, [from];\n";
constexpr const char* kStore = "  st.global.cg.v4.u32 [to], {x0, x1, x2, x3};\n";
constexpr const char* kUse =
    "  xor.b32 s, s, x0;\n  xor.b32 s, s, x1;\n  xor.b32 s, s, x2;\n  xor.b32 s, s, x3;\n";

struct Stream {
  const char* name;
  std::string access;
  std::uint64_t elements, step;
  // Bytes of an element: read and written in memory, and each of both in shared memory.
  unsigned reads, writes, shared = 0;
  std::uint32_t turns = 1;
};

Kernel kernel_of(const Stream& stream, const Memory& memory) {
  Kernel kernel;
  kernel.name = stream.name;
  kernel.ptx = module_of(stream.name, stream.access);
  kernel.grid = kBlocks;
  kernel.block = kThreads;
  kernel.data = memory.data;
  kernel.out = memory.out;
  kernel.mask = stream.elements;
  kernel.step = stream.step;
  kernel.turns = stream.turns;
  kernel.reads = stream.reads;
  kernel.writes = stream.writes;
  kernel.shared_reads = kernel.shared_writes = stream.shared;
  return kernel;
}

Expectation bytes(const char* quantity, Kind kind, double value, double high, double tolerance,
                  const char* why) {
  Expectation one;
  one.quantity = quantity;
  one.kind = kind;
  one.value = value;
  one.high = high;
  one.tolerance = tolerance;
  one.why = why;
  one.may_be_null = "some chips count no DRAM traffic";
  return one;
}

}  // namespace

std::vector<Kernel> stream_kernels(const Memory& memory, std::uint64_t l2_bytes) {
  const std::uint64_t elements = memory.bytes / kAccess;
  const auto size = static_cast<double>(memory.bytes);
  // Lines that earlier kernels wrote may still be on their way.
  const double dirty = static_cast<double>(l2_bytes) + 0.01 * size;
  std::vector<Kernel> kernels;
  const auto add = [&](const Stream& stream) -> Kernel& {
    return kernels.emplace_back(kernel_of(stream, memory));
  };
  const std::string copy = std::string(kLoad) + kStore;
  // The first two leave the L2 as the third leaves it.
  for (const char* name : {"truth_copy_1", "truth_copy_2", "truth_copy_3"}) {
    const bool third = std::string(name) == "truth_copy_3";
    Kernel& kernel = add({name, copy, elements, kAccess, 16, 16});
    const double slack = third ? 0.02 : 0.1;
    kernel.expected = {bytes("bytes.dram_read", Kind::near, size, 0, slack, "each byte once"),
                       bytes("bytes.dram_write", Kind::near, size, 0, slack, "each byte once"),
                       bytes("bytes.l2", Kind::near, 2 * size, 0, 0.01, "read and written")};
  }
  Kernel& read = add({"truth_read", std::string(kLoad) + kUse, elements, kAccess, 16, 0});
  read.expected = {
      bytes("bytes.dram_read", Kind::near, size, 0, 0.02, "each byte once"),
      bytes("bytes.dram_write", Kind::between, 0, dirty, 0, "what the copy before left in the L2")};
  Kernel& write = add({"truth_write", kStore, elements, kAccess, 0, 16});
  write.expected = {
      bytes("bytes.dram_read", Kind::between, 0, 0.01 * size, 0, "whole sectors are written"),
      bytes("bytes.dram_write", Kind::near, size, 0, 0.02, "each byte once")};
  return kernels;
}

std::vector<Kernel> cache_kernels(const Memory& memory, std::uint64_t l2_bytes) {
  const std::uint64_t elements = memory.bytes / kAccess;
  const auto size = static_cast<double>(memory.bytes);
  std::vector<Kernel> kernels;
  const auto add = [&](const Stream& stream) -> Kernel& {
    return kernels.emplace_back(kernel_of(stream, memory));
  };
  Kernel& strided = add({"truth_strided", "  ld.global.cg.u32 x0, [from];\n  xor.b32 s, s, x0;\n",
                         memory.bytes / kStride, kStride, 4, 0});
  const double sectors = size / static_cast<double>(kStride) * 32;
  strided.expected = {bytes("bytes.dram_read", Kind::between, 0.98 * sectors, 2.04 * sectors, 0,
                            "a sector of 32 byte, or two that memory reads together, for each 4"),
                      bytes("bytes.l2", Kind::near, sectors, 0, 0.01, "a sector for each 4 byte")};
  const std::uint64_t window = l2_bytes / 4 / 65536 * 65536;
  Kernel& resident =
      add({"truth_l2", std::string(kLoad) + kUse, window / kAccess, kAccess, 16, 0, 0, 64});
  const double served = 64.0 * static_cast<double>(window);
  resident.expected = {
      bytes("bytes.l2", Kind::near, served, 0, 0.01, "a quarter of the L2, 64 times"),
      bytes("bytes.dram_read", Kind::between, 0, 0.05 * served, 0,
            "once at most, and little else")};
  Kernel& shared = add({"truth_shared",
                        // Volatile, or the compiler takes what was stored from its registers.
                        "  st.volatile.shared.v4.u32 [place], {x0, x1, x2, x3};\n"
                        "  ld.volatile.shared.v4.u32 {x0, x1, x2, x3}, [place];\n" +
                            std::string(kUse),
                        elements / 4, kAccess, 0, 0, 16});
  shared.expected = {bytes("bytes.dram_read", Kind::between, 0, 0.01 * size, 0, "none is asked"),
                     bytes("bytes.l2", Kind::between, 0, 0.01 * size, 0, "none is asked")};
  return kernels;
}

}  // namespace gable::truth
