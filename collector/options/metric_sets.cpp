// SPDX-License-Identifier: Apache-2.0
#include "collector/options/metric_sets.h"

#include <algorithm>

namespace gable {
namespace {

// Every "__sass_" metric of a chip shares one pass with all the others (docs/metrics.md), so what
// they count takes no window of its own.
std::vector<SetQuantity> instruction_mix() {
  std::vector<SetQuantity> mix = {
      {"warp instructions", "", {"smsp__sass_inst_executed.sum"}},
      {"thread instructions", "predicate true", {"smsp__sass_thread_inst_executed_pred_on.sum"}},
      {"FP64", "", {"smsp__sass_thread_inst_executed_op_fp64_pred_on.sum"}},
      {"FP32", "", {"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"}},
      {"FP16", "", {"smsp__sass_thread_inst_executed_op_fp16_pred_on.sum"}},
      {"FP8", "", {"smsp__sass_thread_inst_executed_op_fp8_pred_on.sum"}},
      {"integer", "", {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum"}},
      {"bit", "", {"smsp__sass_thread_inst_executed_op_bit_pred_on.sum"}},
      {"conversion", "", {"smsp__sass_thread_inst_executed_op_conversion_pred_on.sum"}},
      {"control", "", {"smsp__sass_thread_inst_executed_op_control_pred_on.sum"}},
      {"load and store", "", {"smsp__sass_thread_inst_executed_op_memory_pred_on.sum"}},
      {"between threads",
       "shuffle, vote …",
       {"smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum"}},
      {"uniform", "", {"smsp__sass_thread_inst_executed_op_uniform_pred_on.sum"}},
      {"other", "", {"smsp__sass_thread_inst_executed_op_misc_pred_on.sum"}},
      {"global memory", "warp instructions", {"smsp__sass_inst_executed_op_global.sum"}},
      {"local memory", "warp instructions", {"smsp__sass_inst_executed_op_local.sum"}},
      {"shared memory", "warp instructions", {"smsp__sass_inst_executed_op_shared.sum"}},
      {"texture", "warp instructions", {"smsp__sass_inst_executed_op_texture.sum"}},
      {"copies past registers",
       "warp instructions (LDGSTS)",
       {"smsp__sass_inst_executed_op_ldgsts.sum"}},
      {"bulk copies", "warp instructions (TMA)", {"smsp__sass_inst_executed_op_tma.sum"}}};
  return mix;
}

std::vector<SetQuantity> warps() {
  return {{"achieved occupancy",
           "percent of the warps that an SM holds",
           {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
          {"warp efficiency",
           "threads / instructions, of 32",
           {"smsp__sass_thread_inst_executed.sum", "smsp__sass_inst_executed.sum"}},
          {"warp efficiency, predicate true",
           "threads / instructions, of 32",
           {"smsp__sass_thread_inst_executed_pred_on.sum", "smsp__sass_inst_executed.sum"}},
          {"branches without divergence",
           "percent of branch targets",
           {"smsp__sass_average_branch_targets_threads_uniform.pct"}},
          {"branch targets", "", {"smsp__sass_branch_targets.sum"}},
          {"divergent branch targets", "", {"smsp__sass_branch_targets_threads_divergent.sum"}}};
}

// The hit rate of L2 as a metric takes two passes on every chip. That of L1 takes one, and its
// parts do too: of these there are sums over launches.
std::vector<SetQuantity> cache() {
  return {
      {"L1 hit rate",
       "hits / sectors",
       {"l1tex__t_sectors_lookup_hit.sum", "l1tex__t_sectors.sum"}},
      {"L2 hit rate", "hits / sectors", {"lts__t_sectors_lookup_hit.sum", "lts__t_sectors.sum"}},
      {"L1 sectors per load",
       "sectors / warp instructions",
       {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "smsp__sass_inst_executed_op_global_ld.sum"}},
      {"L1 sectors per store",
       "sectors / warp instructions",
       {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
        "smsp__sass_inst_executed_op_global_st.sum"}},
      {"L2 sectors per request",
       "sectors / requests of the SMs",
       {"lts__t_sectors_srcunit_tex.sum", "lts__t_requests_srcunit_tex.sum"}}};
}

}  // namespace

const std::vector<MetricSet>& metric_sets() {
  // Never destroyed: the injected library may ask while the process exits.
  static const auto* const sets = new std::vector<MetricSet>{
      {kRooflineSet, "operations and bytes: what the roofline is made of", {}},
      {"mix", "instructions by kind", instruction_mix()},
      {"warps", "occupancy, warp efficiency and divergence", warps()},
      {"cache", "hit rates of L1 and L2, sectors per request", cache()}};
  return *sets;
}

const MetricSet* find_metric_set(std::string_view name) {
  const auto& sets = metric_sets();
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&](const MetricSet& set) { return set.name == name; });
  return found == sets.end() ? nullptr : &*found;
}

}  // namespace gable
