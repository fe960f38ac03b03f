// SPDX-License-Identifier: Apache-2.0
#include "tests/playback/chip_model.h"

#include <algorithm>

namespace gable::playback {
namespace {

// Hardware metrics that share a pass with everything of the tables.
constexpr std::string_view kPlain[] = {
    "dram__sectors_read", "dram__sectors_write", "dram__bytes_read",  "dram__bytes_write",
    "gpu__time_duration", "sm__ctas_launched",   "sm__cycles_elapsed"};
// Counted by instrumented code: all nine are one pass, which nothing else can be in.
constexpr std::string_view kSass[] = {"fadd", "fmul", "ffma", "hadd", "hmul",
                                      "hfma", "dadd", "dmul", "dfma"};

// "x.sum" → "x"; empty when the roll-up is none.
std::string_view base_of(std::string_view metric) {
  const std::size_t dot = metric.find('.');
  if (dot == std::string_view::npos) return {};
  const std::string_view rollup = metric.substr(dot + 1);
  const bool known = rollup == "sum" || rollup == "avg" || rollup == "min" || rollup == "max";
  return known ? metric.substr(0, dot) : std::string_view{};
}

bool is_sass(std::string_view base) {
  return std::any_of(std::begin(kSass), std::end(kSass), [&](std::string_view op) {
    return base == "smsp__sass_thread_inst_executed_op_" + std::string(op) + "_pred_on";
  });
}

bool is_plain(std::string_view base) {
  return std::find(std::begin(kPlain), std::end(kPlain), base) != std::end(kPlain);
}

int index_of(const ChipTable& chip, std::string_view base) {
  for (std::size_t i = 0; i < chip.count; ++i) {
    if (chip.metrics[i].name == base) return static_cast<int>(i);
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

bool ChipModel::has(const ChipTable& chip, std::string_view metric) {
  const std::string_view base = base_of(metric);
  return !base.empty() && (is_plain(base) || is_sass(base) || index_of(chip, base) >= 0);
}

std::optional<std::size_t> ChipModel::passes(const ChipTable& chip,
                                             const std::vector<std::string>& metrics) {
  bool sass = false, hardware = false;
  std::size_t extra = 0;
  std::vector<std::vector<int>> groups;
  for (const std::string& metric : metrics) {
    if (!has(chip, metric)) return std::nullopt;
    const std::string_view base = base_of(metric);
    if (is_sass(base)) {
      sass = true;
      continue;
    }
    hardware = true;
    const int index = index_of(chip, base);
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
