// SPDX-License-Identifier: Apache-2.0
// Counters of one launch become FLOP and bytes: the formulas with numbers worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/roofline/work.h"

namespace gable::tests {
namespace {

using Counters = std::map<std::string, Maybe>;

std::string sass(const std::string& operation) {
  return "smsp__sass_thread_inst_executed_op_" + operation + "_pred_on.sum";
}

Counters cuda_cores() {  // the nine counters of a flops window, all 0
  Counters counters;
  for (const char* type : {"f", "d", "h"}) {
    for (const char* operation : {"add", "mul", "fma"})
      counters[sass(std::string(type) + operation)] = 0;
  }
  return counters;
}

bool has(const Work& work, const std::string& flag) {
  return std::count(work.flags.begin(), work.flags.end(), flag) == 1;
}

TEST(Work, AddAndMulAreOneOperationFmaTwo) {
  Counters counters = cuda_cores();
  counters[sass("fadd")] = 100;
  counters[sass("fmul")] = 20;
  counters[sass("ffma")] = 3;
  counters[sass("dadd")] = 1000;
  counters[sass("dmul")] = 2000;
  counters[sass("dfma")] = 4000;
  const Work work = work_of(counters, 32, "k");
  EXPECT_EQ(work.flops.fp32, 126);    // 100 + 20 + 2 x 3
  EXPECT_EQ(work.flops.fp64, 11000);  // 1000 + 2000 + 2 x 4000
  EXPECT_EQ(work.flops.fp16, 0);
  EXPECT_EQ(work.flops.total, 11126);
  EXPECT_EQ(work.flags, std::vector<std::string>{"tensor_unknown"});  // nobody asked for them
}

TEST(Work, HalfPrecisionInstructionsAreTwoLanesWide) {
  Counters counters = cuda_cores();
  counters[sass("hadd")] = 10;
  counters[sass("hmul")] = 100;
  counters[sass("hfma")] = 1000;
  EXPECT_EQ(work_of(counters, 1, "k").flops.fp16, 4220);  // 2 x 10 + 2 x 100 + 4 x 1000
}

TEST(Work, PackedSinglePrecisionIsTwoLanesWide) {
  Counters counters = cuda_cores();
  counters[sass("ffma")] = 1;
  counters[sass("fadd2")] = 10;
  counters[sass("fmul2")] = 100;
  counters[sass("ffma2")] = 1000;
  EXPECT_EQ(work_of(counters, 1, "k").flops.fp32, 4222);  // 2 + 2 x 10 + 2 x 100 + 4 x 1000
}

TEST(Work, APartThatHasNoValueMakesItsTypeUnknown) {
  Counters counters = cuda_cores();
  counters[sass("ffma")] = std::nullopt;
  counters[sass("dadd")] = 5;
  const Work work = work_of(counters, 1, "k");
  EXPECT_FALSE(work.flops.fp32);
  EXPECT_EQ(work.flops.fp64, 5);
  counters.erase(sass("dmul"));  // never asked for: add and fma alone would pass for all
  EXPECT_FALSE(work_of(counters, 1, "k").flops.fp64);
}

TEST(Work, NothingCollectedIsUnknownNotZero) {
  const Work work = work_of({}, 1, "k");
  EXPECT_FALSE(work.flops.total || work.flops.fp32 || work.bytes.dram || work.bytes.l1);
  EXPECT_TRUE(work.flags.empty());
}

TEST(Work, HfmaAloneBesideOtherWorkMayMoveConstants) {
  Counters counters = cuda_cores();
  counters[sass("hfma")] = 128100;  // 1,281 for each of 100 threads, as in an unrolled FP32 GEMM
  EXPECT_EQ(work_of(counters, 100, "k").flops.fp16, 512400);
  for (const char* other : {"ffma", "dadd"}) {
    counters[sass(other)] = 7;
    const Work moves = work_of(counters, 100, "k");
    EXPECT_FALSE(moves.flops.fp16) << other;
    EXPECT_EQ(moves.flops.total, other[0] == 'f' ? 14 : 7);
    EXPECT_TRUE(has(moves, "hfma_moves"));
    counters[sass("hmul")] = 1;  // 16-bit arithmetic, of which HFMA2 is a part
    EXPECT_EQ(work_of(counters, 100, "k").flops.fp16, 512402);
    counters[sass("hmul")] = counters[sass(other)] = 0;
  }
}

TEST(Work, FewHfmaAloneMayMoveConstants) {
  Counters counters = cuda_cores();
  counters[sass("hfma")] = 800;  // 8 for each of 100 threads
  const Work moves = work_of(counters, 100, "k");
  EXPECT_FALSE(moves.flops.fp16);
  EXPECT_EQ(moves.flops.total, 0);
  EXPECT_TRUE(has(moves, "hfma_moves"));

  counters[sass("hfma")] = 801;
  EXPECT_EQ(work_of(counters, 100, "k").flops.fp16, 3204);
  counters[sass("hfma")] = 800;
  counters[sass("hadd")] = 1;
  EXPECT_EQ(work_of(counters, 100, "k").flops.fp16, 3202);
  counters[sass("hadd")] = counters[sass("hfma")] = 0;
  const Work none = work_of(counters, 100, "k");
  EXPECT_EQ(none.flops.fp16, 0);
  EXPECT_FALSE(has(none, "hfma_moves"));
}

TEST(Work, IntegersByTheNamesOfLibraries) {
  const std::map<std::string, Maybe> counters{{"gpu__time_duration.sum", 5}};
  for (const char* name :
       {"sm90_xmma_gemm_i8i32_i8i32_i32_tn_n_tilesize128x128x128_warpgroupsize1x1x1",
        "sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize64x64x64_stage4_warpsize2x2x1_tensor16x8x32",
        "sm80_xmma_gemm_i8f32_i8i32_f32_tn_n_tilesize128x128x64",
        "sm80_xmma_fprop_implicit_gemm_interleaved_i8i8_i8i32_f32_nchw_vect_c_32kcrs",
        "void sm80_xmma_gemm_i8_kernel(int)", "sm75_xmma_gemm_u4i32_x",
        "cutlass3x_sm90_tensorop_i64x256x32gemm_s8_s8_s32_s32_s32_64x256x128",
        "void cutlass::Kernel<cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16>(int)"})
    EXPECT_TRUE(has(work_of(counters, 1, name), "integer_unknown")) << name;
  for (const char* name :
       {"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64", "i8i32_copy", "i8_gemm",
        "sm80_xmma_gemm_tf32f32_tf32f32_f32_i", "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_i32",
        "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32", "i64x64_gemm", "sm80_xmma_gemm_i",
        "cutlass_80_tensorop_s16816gemm_s8_bf16", "sm80_xmma_gemm_i8x_f16", "xmma"})
    EXPECT_FALSE(has(work_of(counters, 1, name), "integer_unknown")) << name;
}

TEST(Work, IntegersOnTensorCoresAreSaidWhereNothingCountsThem) {
  Counters counters = cuda_cores();
  counters["sm__ops_path_tensor_src_fp16.sum"] = 0;
  counters["sm__inst_executed_pipe_tensor.sum"] = 5;  // and no work on floating point
  EXPECT_TRUE(has(work_of(counters, 1, "k"), "integer_unknown"));
  counters["sm__inst_executed_pipe_tensor.sum"] = 0;
  EXPECT_FALSE(has(work_of(counters, 1, "ampere_i16832gemm"), "integer_unknown"));
  counters.erase("sm__inst_executed_pipe_tensor.sum");
  EXPECT_TRUE(has(work_of(counters, 1, "ampere_i16832gemm"), "integer_unknown"));
  EXPECT_FALSE(has(work_of(counters, 1, "k"), "integer_unknown"));
  counters["sm__ops_path_tensor_src_int8.sum"] = 100;
  EXPECT_FALSE(has(work_of(counters, 1, "ampere_i16832gemm"), "integer_unknown"));
  counters["sm__ops_path_tensor_src_int8.sum"] = std::nullopt;
  EXPECT_TRUE(has(work_of(counters, 1, "ampere_i16832gemm"), "integer_unknown"));
}

TEST(Work, TypesThatShareACounterAreSaid) {
  Counters counters = cuda_cores();
  counters["sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum"] = 0;
  EXPECT_FALSE(has(work_of(counters, 1, "k"), "narrow_together"));
  counters["sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum"] = 64;
  const Work work = work_of(counters, 1, "k");
  EXPECT_EQ(work.flops.tensor.at("fp8"), 64);
  EXPECT_TRUE(has(work, "narrow_together"));
}

TEST(Work, TensorMetricsCountOperationsByInputType) {
  Counters counters = cuda_cores();
  counters["sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum"] = 4096;
  counters["sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on.sum"] = 4;
  counters["sm__ops_path_tensor_src_tf32_dst_fp32.sum"] = 0;
  counters["sm__ops_path_tensor_src_int8.sum"] = 77;
  counters[sass("fadd")] = 10;
  const Work work = work_of(counters, 1, "sm90_gemm_bf16");
  EXPECT_EQ(work.flops.tensor.at("bf16"), 4100);
  EXPECT_EQ(work.flops.tensor.at("tf32"), 0);
  EXPECT_EQ(work.ops.at("int8"), 77);
  EXPECT_EQ(work.flops.total, 4110);  // integer operations are no FLOP
  EXPECT_TRUE(work.flags.empty());
}

TEST(Work, TensorCoresThatWereNotCountedAreInferredFromTheName) {
  Counters counters = cuda_cores();
  counters[sass("fmul")] = 1000;  // the epilogue
  const Work work =
      work_of(counters, 1, "sm80_xmma_fprop_implicit_gemm_tf32f32_tilesize128x128x16");
  EXPECT_EQ(work.flops.fp32, 1000);
  EXPECT_FALSE(work.flops.total);  // 1000 would show an idle kernel
  EXPECT_TRUE(has(work, "tensor_inferred"));
  EXPECT_FALSE(has(work_of(counters, 1, "volta_scudnn_128x64_relu"), "tensor_inferred"));
}

TEST(Work, WhatIsNamedIsInferredWhereAnotherTypeWasCounted) {
  Counters counters = cuda_cores();
  counters[sass("fmul")] = 28;
  const auto inferred = [&](const char* name) {
    const Work work = work_of(counters, 1, name);
    EXPECT_EQ(work.flops.total.has_value(), !has(work, "tensor_inferred")) << name;
    return has(work, "tensor_inferred");
  };
  counters["sm__ops_path_tensor_src_fp16_dst_fp32.sum"] = 0;
  EXPECT_TRUE(inferred("ampere_bf16_s16816gemm"));
  EXPECT_TRUE(inferred("cutlass_80_tensorop_s1688gemm_tf32"));
  EXPECT_TRUE(inferred("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n"));
  EXPECT_FALSE(inferred("turing_h1688gemm"));
  EXPECT_FALSE(inferred("my_kernel"));
  counters["sm__inst_executed_pipe_tensor.sum"] = 0;  // so there was none
  EXPECT_FALSE(inferred("ampere_bf16_s16816gemm"));
  counters["sm__inst_executed_pipe_tensor.sum"] = 1e6;
  EXPECT_TRUE(inferred("my_kernel"));
  counters["sm__ops_path_tensor_src_bf16_dst_fp32.sum"] = 0;
  counters["sm__ops_path_tensor_src_tf32_dst_fp32.sum"] = 0;
  EXPECT_FALSE(inferred("my_kernel"));  // on integers
  EXPECT_FALSE(inferred("ampere_bf16_s16816gemm"));
}

TEST(Work, TensorInstructionsWithoutTheirWorkLeaveTheTotalUnknown) {
  Counters counters = cuda_cores();
  counters["sm__inst_executed_pipe_tensor.sum"] = 1e6;
  const Work work = work_of(counters, 1, "my_kernel");
  EXPECT_FALSE(work.flops.total);
  EXPECT_TRUE(has(work, "tensor_inferred"));
  // On some chips HFMA2 is one of them.
  counters[sass("hadd")] = 999'999;
  EXPECT_FALSE(work_of(counters, 1, "my_kernel").flops.total);
  counters[sass("hadd")] = 1e6;
  EXPECT_TRUE(work_of(counters, 1, "my_kernel").flops.total);
  counters[sass("hadd")] = 0;
  counters["sm__inst_executed_pipe_tensor.sum"] = 0;
  EXPECT_TRUE(work_of(counters, 1, "my_kernel").flops.total);
}

TEST(Work, TensorCoresThatWereCountedAreNotInferred) {
  Counters counters = cuda_cores();
  counters["sm__ops_path_tensor_src_tf32_dst_fp32.sum"] = 0;
  const Work work = work_of(counters, 1, "xmma_tf32_gemm");
  EXPECT_EQ(work.flops.total, 0);
  EXPECT_TRUE(work.flags.empty());
}

TEST(Work, ATypeOfTensorWorkWithoutAValueIsSaid) {
  Counters counters = cuda_cores();
  counters["sm__ops_path_tensor_src_bf16_dst_fp32.sum"] = 50;
  counters["sm__ops_path_tensor_src_tf32_dst_fp32.sum"] = std::nullopt;
  const Work work = work_of(counters, 1, "k");
  EXPECT_FALSE(work.flops.tensor.at("tf32"));
  EXPECT_EQ(work.flops.total, 50);
  EXPECT_TRUE(has(work, "tensor_unknown"));
}

TEST(Work, WithoutTheCudaCoresTensorWorkAloneIsATotalThatSaysSo) {
  const Work work = work_of({{"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 50.0}}, 1, "k");
  EXPECT_EQ(work.flops.total, 50);
  EXPECT_TRUE(has(work, "cuda_cores_unknown"));
  const Work nothing = work_of({{"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 0.0}}, 1, "k");
  EXPECT_FALSE(nothing.flops.total);
  EXPECT_TRUE(has(nothing, "cuda_cores_unknown"));
}

TEST(Work, SectorsAreThirtyTwoBytes) {
  const Work work = work_of({{"dram__sectors_read.sum", 100.0},
                             {"dram__sectors_write.sum", 10.0},
                             {"lts__t_sectors_srcunit_tex.sum", 1000.0},
                             {"l1tex__t_bytes.sum", 5.0},
                             {"gpu__time_duration.sum", 1234.0}},
                            1, "k");
  EXPECT_EQ(work.bytes.dram_read, 3200);
  EXPECT_EQ(work.bytes.dram_write, 320);
  EXPECT_EQ(work.bytes.dram, 3520);
  EXPECT_EQ(work.bytes.l2, 32000);
  EXPECT_EQ(work.duration_ns, 1234);
  EXPECT_FALSE(work_of({{"dram__sectors_read.sum", 100.0}}, 1, "k").bytes.dram);
}

// l1tex__t_bytes misses shared memory and bulk copies: a GEMM would show a tenth of its L1 traffic.
TEST(Work, L1BytesAreKnownOnlyWhereNothingEscapesTheirCounter) {
  const std::map<std::string, Maybe> counted = {{"l1tex__t_bytes.sum", 4096.0},
                                                {"smsp__sass_inst_executed_op_shared.sum", 0.0},
                                                {"smsp__sass_inst_executed_op_tma.sum", 0.0}};
  const Work plain = work_of(counted, 1, "k");
  EXPECT_EQ(plain.bytes.l1, 4096);
  EXPECT_TRUE(plain.flags.empty() || !has(plain, "l1_partial"));
  for (const char* metric :
       {"smsp__sass_inst_executed_op_shared.sum", "smsp__sass_inst_executed_op_tma.sum"}) {
    auto used = counted;
    used[metric] = 1.0;
    const Work work = work_of(used, 1, "k");
    EXPECT_FALSE(work.bytes.l1) << metric;
    EXPECT_TRUE(has(work, "l1_partial")) << metric;
  }
  auto unanswered = counted;
  unanswered["smsp__sass_inst_executed_op_tma.sum"] = std::nullopt;
  for (const auto& one : {unanswered, {{"l1tex__t_bytes.sum", 4096.0}}}) {
    const Work work = work_of(one, 1, "k");
    EXPECT_FALSE(work.bytes.l1);
    EXPECT_TRUE(has(work, "l1_unchecked"));
  }
  EXPECT_FALSE(
      has(work_of({{"smsp__sass_inst_executed_op_shared.sum", 9.0}}, 1, "k"), "l1_partial"));
}

// Groups of one chip may differ in which name fits beside their tensor metrics.
TEST(Work, TwoNamesForOneQuantityAreNotAdded) {
  const Work work = work_of({{"dram__sectors_read.sum", 100.0},
                             {"dram__sectors_op_read.sum", 100.0},
                             {"dram__sectors_write.sum", std::nullopt},
                             {"dram__sectors_op_write.sum", 10.0}},
                            1, "k");
  EXPECT_EQ(work.bytes.dram_read, 3200);
  EXPECT_EQ(work.bytes.dram_write, 320);
}

TEST(Work, NamesOfTensorCoreKernels) {
  for (const char* name :
       {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", "volta_h884gemm_64x64_nn",
        "sm90_xmma_gemm_bf16bf16_bf16f32", "turing_fp16_s1688gemm", "nvjet_hsh_gmma_256x128",
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw",
        "cutlass_tensorop_f16_conv", "void gemm_kernel<__nv_bfloat16>", "fmha_fwd_bf16"})
    EXPECT_TRUE(names_tensor_cores(name)) << name;
  for (const char* name :
       {"volta_sgemm_128x64_nn", "volta_scudnn_128x64_relu", "vectorized_elementwise_kernel<bf16>",
        "void cudnn::bn_fw_tr_1C11_kernel_NCHW", "", "im2col_kernel",
        "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nchw_tilesize128x128x8_ffma"})
    EXPECT_FALSE(names_tensor_cores(name)) << name;
}

}  // namespace
}  // namespace gable::tests
