// SPDX-License-Identifier: Apache-2.0
#include "tools/ceilings/ceilings_ptx.h"

#include <array>

namespace gable {
namespace {

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

}  // namespace

std::string ptx_list(const std::string& name, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return list;
}

std::string ptx_module(const RoofKernel& kernel, const PtxParts& parts) {
  std::string ptx = ".version " + parts.version + "\n.target " + kernel.target +
                    "\n.address_size 64\n\n.visible .entry " + kernel.symbol +
                    "(\n  .param .u64 p_data,\n  .param .u64 p_out,\n"
                    "  .param .u64 p_blockbytes,\n  .param .u64 p_mask,\n"
                    "  .param .u64 p_step,\n  .param .u32 p_iterations\n)\n{\n";
  ptx +=
      "  .reg .pred again, first;\n"
      "  .reg .b32 tid, cta, ntid, gid, n, sum;\n"
      "  .reg .b64 data, out, blockbytes, mask, step, begin, end, place;\n";
  ptx += parts.registers;
  ptx +=
      "  ld.param.u64 data, [p_data];\n  ld.param.u64 out, [p_out];\n"
      "  ld.param.u64 blockbytes, [p_blockbytes];\n  ld.param.u64 mask, [p_mask];\n"
      "  ld.param.u64 step, [p_step];\n  ld.param.u32 n, [p_iterations];\n"
      "  mov.u32 tid, %tid.x;\n  mov.u32 cta, %ctaid.x;\n  mov.u32 ntid, %ntid.x;\n"
      "  mad.lo.u32 gid, cta, ntid, tid;\n";
  ptx += parts.setup;
  ptx += "  mov.u64 begin, %clock64;\nagain_:\n";
  ptx += parts.body;
  ptx +=
      "  sub.u32 n, n, 1;\n  setp.ne.u32 again, n, 0;\n  @again bra again_;\n"
      "  mov.u64 end, %clock64;\n";
  ptx += parts.result;
  ptx +=
      "  mul.wide.u32 place, gid, 4;\n  add.u64 place, out, place;\n"
      "  st.global.b32 [place+16], sum;\n"
      "  setp.eq.u32 first, gid, 0;\n  sub.u64 end, end, begin;\n"
      "  @first st.global.u64 [out], end;\n  ret;\n}\n";
  return ptx;
}

void add_core_kernels(std::vector<RoofKernel>& kernels) {
  for (const bool fused : {true, false}) {
    for (const Chain& chain : kChains) {
      RoofKernel kernel;
      kernel.roof = std::string(chain.roof) + (fused ? "" : "_no_fma");
      kernel.kind = "compute";
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
