// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/cupti/chip_model.h"

#include <algorithm>

namespace gable::playback {
namespace {

// Hardware metrics that share a pass with everything of the tables.
constexpr std::string_view kPlain[] = {
    "dram__sectors_read", "dram__sectors_write", "dram__bytes_read",  "dram__bytes_write",
    "gpu__time_duration", "sm__ctas_launched",   "sm__cycles_elapsed"};
// Counted by instrumented code: all of them are one pass, which nothing else can be in. `chips`
// that have it; empty is all.
struct SassMetric {
  std::string_view name, chips;
};
constexpr SassMetric kSass[] = {
    {"smsp__sass_inst_executed.sum", ""},
    {"smsp__sass_thread_inst_executed.sum", ""},
    {"smsp__sass_thread_inst_executed_pred_on.sum", ""},
    {"smsp__sass_inst_executed_op_global.sum", ""},
    {"smsp__sass_inst_executed_op_global_ld.sum", ""},
    {"smsp__sass_inst_executed_op_global_st.sum", ""},
    {"smsp__sass_inst_executed_op_local.sum", ""},
    {"smsp__sass_inst_executed_op_shared.sum", ""},
    {"smsp__sass_inst_executed_op_texture.sum", ""},
    {"smsp__sass_inst_executed_op_ldgsts.sum", "GA100 GA102 AD102 GH100"},
    {"smsp__sass_inst_executed_op_dshared.sum", "GH100"},
    {"smsp__sass_inst_executed_op_tma.sum", "GH100"},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", ""},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", ""},
    {"smsp__sass_average_branch_targets_threads_uniform.pct", ""},
    {"smsp__sass_branch_targets.sum", ""},
    {"smsp__sass_branch_targets_threads_divergent.sum", ""}};
// smsp__sass_thread_inst_executed_op_*_pred_on.
constexpr SassMetric kSassThread[] = {{"fadd", ""},
                                      {"fmul", ""},
                                      {"ffma", ""},
                                      {"hadd", ""},
                                      {"hmul", ""},
                                      {"hfma", ""},
                                      {"dadd", ""},
                                      {"dmul", ""},
                                      {"dfma", ""},
                                      {"fp64", ""},
                                      {"fp32", ""},
                                      {"fp16", ""},
                                      {"integer", ""},
                                      {"bit", ""},
                                      {"control", ""},
                                      {"memory", ""},
                                      {"conversion", ""},
                                      {"misc", ""},
                                      {"inter_thread_communication", ""},
                                      {"fp8", "AD102 GH100"},
                                      {"uniform", "TU102 GA100 GA102 AD102 GH100"}};

// "x.sum" → "x"; empty when the roll-up is none.
std::string_view base_of(std::string_view metric) {
  const std::size_t dot = metric.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view rollup = metric.substr(dot + 1);
  const bool known = rollup == "sum" || rollup == "avg" || rollup == "min" || rollup == "max";
  return known ? metric.substr(0, dot) : std::string_view{};
}

bool on(const ChipTable& chip, const SassMetric& metric) {
  return metric.chips.empty() || metric.chips.find(chip.chip) != std::string_view::npos;
}

bool is_sass(const ChipTable& chip, std::string_view metric) {
  constexpr std::string_view kBefore = "smsp__sass_thread_inst_executed_op_", kAfter = "_pred_on";
  for (const SassMetric& one : kSass)
    if (one.name == metric) return on(chip, one);
  std::string_view base = base_of(metric);
  if (!base.starts_with(kBefore) || !base.ends_with(kAfter)) return false;
  base.remove_prefix(kBefore.size());
  base.remove_suffix(kAfter.size());
  return std::any_of(std::begin(kSassThread), std::end(kSassThread),
                     [&](const SassMetric& one) { return one.name == base && on(chip, one); });
}

bool is_plain(std::string_view base) {
  return std::find(std::begin(kPlain), std::end(kPlain), base) != std::end(kPlain);
}

// The tables name a metric without its roll-up, or with one where that is the one measured.
int index_of(const ChipTable& chip, std::string_view metric) {
  const std::string_view base = base_of(metric);
  for (std::size_t i = 0; i < chip.count; ++i) {
    const std::string_view name = chip.metrics[i].name;
    if (name == metric || (!base.empty() && name == base)) return static_cast<int>(i);
  }
  return -1;
}

bool fits(const ChipTable& chip, const std::vector<int>& group, int more) {
  std::vector<bool> member(chip.count, false);
  for (const int i : group) {
    if (i == more) return true;
    if ((chip.metrics[i].beside >> more & 1) == 0) return false;
    member[static_cast<std::size_t>(i)] = true;
  }
  member[static_cast<std::size_t>(more)] = true;
  return std::none_of(chip.triples, chip.triples + chip.triple_count,
                      [&](const ModelTriple& triple) {
                        return member[triple.a] && member[triple.b] && member[triple.c];
                      });
}

}  // namespace

const ChipTable* ChipModel::find(std::string_view chip) {
  for (std::size_t i = 0; i < kChipTableCount; ++i) {
    if (kChipTables[i].chip == chip) return &kChipTables[i];
  }
  return nullptr;
}

std::vector<const char*> ChipModel::chips() {
  std::vector<const char*> names;
  for (std::size_t i = 0; i < kChipTableCount; ++i) names.push_back(kChipTables[i].chip.data());
  return names;
}

bool ChipModel::fits_all(std::string_view metric) { return is_plain(base_of(metric)); }

bool ChipModel::has(const ChipTable& chip, std::string_view metric) {
  return is_plain(base_of(metric)) || is_sass(chip, metric) || index_of(chip, metric) >= 0;
}

std::optional<std::size_t> ChipModel::passes(const ChipTable& chip,
                                             const std::vector<std::string>& metrics) {
  bool sass = false, hardware = false;
  std::size_t extra = 0;
  std::vector<std::vector<int>> groups;
  for (const std::string& metric : metrics) {
    if (!has(chip, metric)) return std::nullopt;
    if (is_sass(chip, metric)) {
      sass = true;
      continue;
    }
    hardware = true;
    const int index = index_of(chip, metric);
    if (index < 0) continue;
    if (chip.metrics[index].passes > 1) {
      extra += chip.metrics[index].passes - 1;
      continue;
    }
    const auto room =
        std::find_if(groups.begin(), groups.end(),
                     [&](const std::vector<int>& group) { return fits(chip, group, index); });
    if (room != groups.end()) {
      room->push_back(index);
    } else {
      groups.push_back({index});
    }
  }
  const std::size_t hardware_passes =
      hardware ? std::max<std::size_t>(groups.size(), 1) + extra : 0;
  return hardware_passes + (sass ? 1 : 0);
}

}  // namespace gable::playback
