// SPDX-License-Identifier: Apache-2.0
#include "tools/ceilings/ceilings_ptx.h"

namespace gable {

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
      "  .reg .b64 data, out, blockbytes, mask, step, begin, end, since, until, place;\n";
  ptx += parts.registers;
  ptx +=
      "  ld.param.u64 data, [p_data];\n  ld.param.u64 out, [p_out];\n"
      "  ld.param.u64 blockbytes, [p_blockbytes];\n  ld.param.u64 mask, [p_mask];\n"
      "  ld.param.u64 step, [p_step];\n  ld.param.u32 n, [p_iterations];\n"
      "  mov.u32 tid, %tid.x;\n  mov.u32 cta, %ctaid.x;\n  mov.u32 ntid, %ntid.x;\n"
      "  mad.lo.u32 gid, cta, ntid, tid;\n";
  ptx += parts.setup;
  ptx += "  mov.u64 since, %globaltimer;\n  mov.u64 begin, %clock64;\nagain_:\n";
  ptx += parts.body;
  ptx +=
      "  sub.u32 n, n, 1;\n  setp.ne.u32 again, n, 0;\n  @again bra again_;\n"
      "  mov.u64 end, %clock64;\n  mov.u64 until, %globaltimer;\n";
  ptx += parts.result;
  ptx +=
      "  mul.wide.u32 place, gid, 4;\n  add.u64 place, out, place;\n"
      "  st.global.b32 [place+16], sum;\n"
      "  setp.eq.u32 first, gid, 0;\n  sub.u64 end, end, begin;\n"
      "  sub.u64 until, until, since;\n"
      "  @first st.global.u64 [out], end;\n  @first st.global.u64 [out+8], until;\n  ret;\n}\n";
  return ptx;
}

}  // namespace gable
