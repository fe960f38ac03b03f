// SPDX-License-Identifier: Apache-2.0
// Two kernels as PTX, so that the sample needs no CUDA compiler: the driver compiles them for
// whatever GPU is there.
#pragma once

namespace gable::sample {

inline constexpr int kFmasPerElement = 512;

// triad(float* y, const float* x, float a, unsigned n): y[i] = a * x[i] + y[i]; one FMA on 12
// bytes, held by memory. polynomial(float* y, const float* x, float a, unsigned n): y[i] = 512 FMAs
// on x[i]; held by compute.
inline constexpr const char* kKernels = R"ptx(
.version 6.4
.target sm_50
.address_size 64

.visible .entry triad(.param .u64 p_y, .param .u64 p_x, .param .f32 p_a, .param .u32 p_n)
{
  .reg .pred %p;
  .reg .b32 %i, %n, %t;
  .reg .b64 %y, %x, %offset;
  .reg .f32 %a, %value, %sum;
  ld.param.u64 %y, [p_y];
  ld.param.u64 %x, [p_x];
  ld.param.f32 %a, [p_a];
  ld.param.u32 %n, [p_n];
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %ntid.x;
  mul.lo.u32 %i, %i, %t;
  mov.u32 %t, %tid.x;
  add.u32 %i, %i, %t;
  setp.ge.u32 %p, %i, %n;
  @%p bra done;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %y, %y, %offset;
  add.u64 %x, %x, %offset;
  ld.global.f32 %value, [%x];
  ld.global.f32 %sum, [%y];
  fma.rn.f32 %sum, %a, %value, %sum;
  st.global.f32 [%y], %sum;
done:
  ret;
}

.visible .entry polynomial(.param .u64 p_y, .param .u64 p_x, .param .f32 p_a, .param .u32 p_n)
{
  .reg .pred %p;
  .reg .b32 %i, %n, %t, %round;
  .reg .b64 %y, %x, %offset;
  .reg .f32 %a, %value, %sum;
  ld.param.u64 %y, [p_y];
  ld.param.u64 %x, [p_x];
  ld.param.f32 %a, [p_a];
  ld.param.u32 %n, [p_n];
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %ntid.x;
  mul.lo.u32 %i, %i, %t;
  mov.u32 %t, %tid.x;
  add.u32 %i, %i, %t;
  setp.ge.u32 %p, %i, %n;
  @%p bra done;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %y, %y, %offset;
  add.u64 %x, %x, %offset;
  ld.global.f32 %value, [%x];
  mov.f32 %sum, 0f3F800000;
  mov.u32 %round, 0;
again:
  fma.rn.f32 %sum, %sum, %a, %value;
  fma.rn.f32 %sum, %sum, %a, %value;
  fma.rn.f32 %sum, %sum, %a, %value;
  fma.rn.f32 %sum, %sum, %a, %value;
  add.u32 %round, %round, 4;
  setp.lt.u32 %p, %round, 512;
  @%p bra again;
  st.global.f32 [%y], %sum;
done:
  ret;
}
)ptx";

}  // namespace gable::sample
