// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/quantities.h"

#include <deque>
#include <string>
#include <unordered_map>

namespace gable {
namespace {

constexpr std::string_view kNcu =
    "Nsight Compute's roofline: add and mul are one operation of a lane, fma two";
constexpr std::string_view kNcuHalf =
    "Nsight Compute: 16-bit instructions are two lanes wide (hadd x2, hmul x2, hfma x4)";
constexpr std::string_view kNcuPacked =
    "Nsight Compute's rule for compute capability 10.x: packed FP32 instructions are two lanes "
    "wide";
constexpr std::string_view kSector = "a sector is 32 bytes (Nsight Compute profiling guide)";
constexpr std::string_view kBytes = "the metric's unit is bytes";
constexpr std::string_view kOps = "the metric's unit is math operations (CUPTI: dimension math_op)";
constexpr std::string_view kEscape =
    "any of them; which instructions: CUPTI's description; that `l1tex__t_bytes` misses their "
    "traffic "
    "is inferred, not measured";
constexpr std::string_view kUnit = "the metric itself";

// CUDA-core counters count thread instructions whose predicate was true.
constexpr MetricRole kPlain[] = {
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", Quantity::flops_fp32, "", 1, kNcu},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", Quantity::flops_fp32, "", 1, kNcu},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", Quantity::flops_fp32, "", 2, kNcu},
    {"smsp__sass_thread_inst_executed_op_fadd2_pred_on.sum", Quantity::flops_fp32, "", 2,
     kNcuPacked},
    {"smsp__sass_thread_inst_executed_op_fmul2_pred_on.sum", Quantity::flops_fp32, "", 2,
     kNcuPacked},
    {"smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum", Quantity::flops_fp32, "", 4,
     kNcuPacked},
    {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", Quantity::flops_fp16, "", 2, kNcuHalf},
    {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", Quantity::flops_fp16, "", 2, kNcuHalf},
    {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", Quantity::flops_fp16, "", 4, kNcuHalf},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", Quantity::flops_fp64, "", 1, kNcu},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", Quantity::flops_fp64, "", 1, kNcu},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", Quantity::flops_fp64, "", 2, kNcu},
    {"dram__sectors_read.sum", Quantity::bytes_dram_read, "", 32, kSector},
    {"dram__sectors_write.sum", Quantity::bytes_dram_write, "", 32, kSector},
    // The names on GB202 to GB207, which lack the two above.
    {"dram__sectors_op_read.sum", Quantity::bytes_dram_read, "", 32, kSector},
    {"dram__sectors_op_write.sum", Quantity::bytes_dram_write, "", 32, kSector},
    // What the SMs asked of L2; lts__t_bytes would also count traffic between the halves of L2.
    {"lts__t_sectors_srcunit_tex.sum", Quantity::bytes_l2, "", 32, kSector},
    {"l1tex__t_bytes.sum", Quantity::bytes_l1, "", 1, kBytes},
    // What does not pass the tag stage that l1tex__t_bytes counts at, in instructions of a warp:
    // shared memory (also through LDSM, STSM and matrix instructions), copies from global to shared
    // memory past the registers, memory of other blocks of the cluster, bulk copies (TMA), and what
    // Blackwell's tensor cores read of shared memory by themselves.
    {"smsp__sass_inst_executed_op_shared.sum", Quantity::l1_escapes, "", 1, kEscape},
    {"smsp__sass_inst_executed_op_ldgsts.sum", Quantity::l1_escapes, "", 1, kEscape},
    {"smsp__sass_inst_executed_op_dshared.sum", Quantity::l1_escapes, "", 1, kEscape},
    {"smsp__sass_inst_executed_op_tma.sum", Quantity::l1_escapes, "", 1, kEscape},
    {"smsp__sass_inst_executed_op_utccp.sum", Quantity::l1_escapes, "", 1, kEscape},
    {"smsp__sass_inst_executed_op_utcmma.sum", Quantity::l1_escapes, "", 1, kEscape},
    {"gpu__time_duration.sum", Quantity::duration_ns, "", 1, kUnit},
    {"sm__ctas_launched.sum", Quantity::ctas, "", 1, kUnit},
    // The front end's count, for passes in which the SM's own does not fit (GB110's tcgen05
    // metrics).
    {"gr__ctas_launched.sum", Quantity::ctas, "", 1, kUnit},
    {"sm__cycles_elapsed.avg", Quantity::sm_cycles, "", 1, kUnit},
    {"sm__cycles_elapsed.max", Quantity::sm_cycles, "", 1, kUnit},
    {"sm__inst_executed_pipe_tensor.sum", Quantity::tensor_instructions, "", 1, kUnit},
};

// Names that other tools' files have, and Gable never collects.
constexpr MetricRole kImported[] = {
    {"dram__bytes_read.sum", Quantity::bytes_dram_read, "", 1, kBytes},
    {"dram__bytes_write.sum", Quantity::bytes_dram_write, "", 1, kBytes},
    {"dram__bytes_op_read.sum", Quantity::bytes_dram_read, "", 1, kBytes},
    {"dram__bytes_op_write.sum", Quantity::bytes_dram_write, "", 1, kBytes},
    {"dram__bytes.sum", Quantity::bytes_dram, "", 1, kBytes},
    {"dram__sectors.sum", Quantity::bytes_dram, "", 32, kSector},
    {"lts__t_bytes_srcunit_tex.sum", Quantity::bytes_l2, "", 1, kBytes},
    {"lts__t_bytes.sum", Quantity::bytes_l2, "", 1, kBytes, true},
    {"sm__inst_executed_pipe_tensor_op_imma.sum", Quantity::integer_tensor_instructions, "", 1,
     kUnit},
    {"smsp__inst_executed_pipe_tensor_op_imma.sum", Quantity::integer_tensor_instructions, "", 1,
     kUnit},
};

// What follows sm__ops_path_tensor_. Each name also has _sparsity_off and _sparsity_on variants,
// which together are the name itself. A name without an op_ is the sum over the instructions (hmma,
// hgmma …) that have that source type; one without _dst_ the sum over the destination types.
struct TensorMetric {
  std::string_view name, type;
};
constexpr TensorMetric kTensorFloat[] = {
    {"src_fp64", "fp64"},
    {"src_tf32_dst_fp32", "tf32"},
    {"op_hmma_src_tf32_dst_fp32", "tf32"},
    {"op_hgmma_src_tf32_dst_fp32", "tf32"},
    {"op_utchmma_src_tf32_dst_fp32", "tf32"},
    {"src_bf16_dst_fp32", "bf16"},
    {"op_hmma_src_bf16_dst_fp32", "bf16"},
    {"op_hgmma_src_bf16_dst_fp32", "bf16"},
    {"op_utchmma_src_bf16_dst_fp32", "bf16"},
    // Turing's name for what is FP16 there: its tensor cores know neither BF16 nor TF32.
    {"src_fp16_bf16_tf32_dst_fp32", "fp16"},
    {"src_fp16", "fp16"},
    {"src_fp16_dst_fp16", "fp16"},
    {"src_fp16_dst_fp32", "fp16"},
    {"op_hmma_src_fp16", "fp16"},
    {"op_hmma_src_fp16_dst_fp16", "fp16"},
    {"op_hmma_src_fp16_dst_fp32", "fp16"},
    {"op_hgmma_src_fp16", "fp16"},
    {"op_utchmma_src_fp16_dst_fp16", "fp16"},
    {"op_utchmma_src_fp16_dst_fp32", "fp16"},
    {"src_fp8", "fp8"},
    {"src_fp8_dst_fp16", "fp8"},
    {"src_fp8_dst_fp32", "fp8"},
    {"op_utcqmma_src_fp8_dst_fp16", "fp8"},
    {"op_utcqmma_src_fp8_dst_fp32", "fp8"},
    // One counter for all of FP8, FP6 and FP4 where they share an instruction, whose rate is that
    // of FP8.
    {"src_fp4_fp6_fp8_dst_fp16", "fp8"},
    {"src_fp4_fp6_fp8_dst_fp32", "fp8"},
    {"op_utcqmma_src_fp4_fp6_fp8_dst_fp16", "fp8"},
    {"op_utcqmma_src_fp4_fp6_fp8_dst_fp32", "fp8"},
    {"src_fp4_fp6_dst_fp16", "fp6"},
    {"src_fp4_fp6_dst_fp32", "fp6"},
    {"op_utcqmma_src_fp4_fp6_dst_fp16", "fp6"},
    {"op_utcqmma_src_fp4_fp6_dst_fp32", "fp6"},
    {"src_fp4_dst_fp32", "fp4"},
    {"op_utcomma_src_fp4_dst_fp32", "fp4"},
};
constexpr TensorMetric kTensorInteger[] = {
    {"src_int8", "int8"},          {"op_imma_src_int8", "int8"},
    {"op_igmma_src_int8", "int8"}, {"op_utcimma_src_int8", "int8"},
    {"src_int4", "int4"},          {"src_int1", "int1"},
    {"op_bmma_src_int1", "int1"},  {"op_bgmma_src_int1", "int1"},
};

struct Table {
  std::deque<std::string> names;  // what the roles' string_views point into
  std::vector<MetricRole> roles;
  std::unordered_map<std::string_view, const MetricRole*> by_name;

  Table() {
    for (const auto& role : kPlain) roles.push_back(role);
    for (const auto& metric : kTensorFloat) add(metric, Quantity::flops_tensor);
    for (const auto& metric : kTensorInteger) add(metric, Quantity::ops_tensor);
    for (const auto& role : roles) by_name.emplace(role.metric, &role);
    for (const auto& role : kImported) by_name.emplace(role.metric, &role);
  }

  void add(const TensorMetric& metric, Quantity quantity) {
    for (std::string_view variant : {"", "_sparsity_off", "_sparsity_on"}) {
      std::string name = "sm__ops_path_tensor_";
      name.append(metric.name).append(variant).append(".sum");
      roles.push_back({names.emplace_back(std::move(name)), quantity, metric.type, 1, kOps});
    }
  }
};

// Never destroyed: the injected library may ask while the process exits.
const Table& table() {
  static const Table* const instance = new Table;
  return *instance;
}

}  // namespace

const std::vector<MetricRole>& metric_roles() { return table().roles; }

bool is_one_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::flops_fp64:
    case Quantity::flops_fp32:
    case Quantity::flops_fp16:
    case Quantity::flops_tensor:
    case Quantity::ops_tensor:
    case Quantity::l1_escapes:
      return false;
    default:
      return true;
  }
}

bool is_ratio(std::string_view metric) {
  for (const std::string_view part : {".pct", ".ratio", ".max_rate", ".per_cycle_", ".per_second"})
    if (metric.find(part) != std::string_view::npos) return true;
  // What a unit can do in a cycle: the same for one launch and for many.
  return metric.ends_with(".peak_sustained") || metric.ends_with(".peak_burst");
}

const MetricRole* role_of(std::string_view metric) {
  const auto found = table().by_name.find(metric);
  return found == table().by_name.end() ? nullptr : found->second;
}

}  // namespace gable
