// SPDX-License-Identifier: Apache-2.0
// The probe's kernels, as PTX. All take (out, in, n); a thread stores one result, so that its work
// is not optimised away.
#pragma once

namespace gable::probe {

// fma, hfma2: n of them a thread. spin: one thread for n cycles. copy: n times 16 byte by all
// threads together.
inline constexpr const char* kKernels = R"ptx(
.version 6.4
.target sm_53
.address_size 64

.visible .entry probe_fma(.param .u64 out, .param .u64 in, .param .u64 n)
{
  .reg .pred %p;
  .reg .b32 %t, %c, %i;
  .reg .b64 %o, %m, %k;
  .reg .f32 %a, %b, %d;
  ld.param.u64 %o, [out];
  ld.param.u64 %m, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %i, %ntid.x;
  mad.lo.u32 %i, %c, %i, %t;
  cvt.rn.f32.u32 %a, %t;
  cvt.rn.f32.u32 %d, %c;
  mov.f32 %b, 0f3F7FFF00;
  mov.u64 %k, 0;
again:
  setp.ge.u64 %p, %k, %m;
  @%p bra done;
  fma.rn.f32 %a, %a, %b, %d;
  add.u64 %k, %k, 1;
  bra again;
done:
  mul.wide.u32 %k, %i, 4;
  add.u64 %o, %o, %k;
  st.global.f32 [%o], %a;
  ret;
}

.visible .entry probe_hfma2(.param .u64 out, .param .u64 in, .param .u64 n)
{
  .reg .pred %p;
  .reg .b32 %t, %c, %i, %a, %b;
  .reg .b64 %o, %m, %k;
  ld.param.u64 %o, [out];
  ld.param.u64 %m, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %i, %ntid.x;
  mad.lo.u32 %i, %c, %i, %t;
  and.b32 %a, %t, 0x000F000F;
  and.b32 %b, %c, 0x00070007;
  mov.u64 %k, 0;
again:
  setp.ge.u64 %p, %k, %m;
  @%p bra done;
  fma.rn.f16x2 %a, %a, %b, %b;
  add.u64 %k, %k, 1;
  bra again;
done:
  mul.wide.u32 %k, %i, 4;
  add.u64 %o, %o, %k;
  st.global.b32 [%o], %a;
  ret;
}

.visible .entry probe_spin(.param .u64 out, .param .u64 in, .param .u64 n)
{
  .reg .pred %p;
  .reg .b64 %o, %m, %from, %now;
  ld.param.u64 %o, [out];
  ld.param.u64 %m, [n];
  mov.u64 %from, %clock64;
again:
  mov.u64 %now, %clock64;
  sub.u64 %now, %now, %from;
  setp.lt.u64 %p, %now, %m;
  @%p bra again;
  st.global.u64 [%o], %now;
  ret;
}

.visible .entry probe_copy(.param .u64 out, .param .u64 in, .param .u64 n)
{
  .reg .pred %p;
  .reg .b32 %t, %c, %w, %g, %x<4>;
  .reg .b64 %o, %i, %m, %k, %step, %at, %to;
  ld.param.u64 %o, [out];
  ld.param.u64 %i, [in];
  ld.param.u64 %m, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %w, %ntid.x;
  mov.u32 %g, %nctaid.x;
  mad.lo.u32 %t, %c, %w, %t;
  cvt.u64.u32 %k, %t;
  mul.wide.u32 %step, %w, %g;
again:
  setp.ge.u64 %p, %k, %m;
  @%p bra done;
  shl.b64 %at, %k, 4;
  add.u64 %to, %o, %at;
  add.u64 %at, %i, %at;
  ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%at];
  st.global.v4.u32 [%to], {%x0, %x1, %x2, %x3};
  add.u64 %k, %k, %step;
  bra again;
done:
  ret;
}
)ptx";

// A module that is loaded late: n additions a thread.
inline constexpr const char* kLateKernel = R"ptx(
.version 6.4
.target sm_53
.address_size 64

.visible .entry probe_late(.param .u64 out, .param .u64 in, .param .u64 n)
{
  .reg .pred %p;
  .reg .b32 %t, %c, %i;
  .reg .b64 %o, %m, %k;
  .reg .f32 %a, %b;
  ld.param.u64 %o, [out];
  ld.param.u64 %m, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mov.u32 %i, %ntid.x;
  mad.lo.u32 %i, %c, %i, %t;
  cvt.rn.f32.u32 %a, %t;
  cvt.rn.f32.u32 %b, %c;
  mov.u64 %k, 0;
again:
  setp.ge.u64 %p, %k, %m;
  @%p bra done;
  add.rn.f32 %a, %a, %b;
  add.u64 %k, %k, 1;
  bra again;
done:
  mul.wide.u32 %k, %i, 4;
  add.u64 %o, %o, %k;
  st.global.f32 [%o], %a;
  ret;
}
)ptx";

inline constexpr unsigned kGrid = 264, kBlock = 256;
inline constexpr unsigned long long kTurns = 1000;
// A launch with a number has a grid of its own: the count of its thread blocks tells which it was.
inline constexpr unsigned kGrids = 7;

}  // namespace gable::probe
