// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace gable {
namespace {

// Of one side of a unit: "Mbyte", "nsecond", "hz". Times are ns above the line and seconds below.
double part_of_unit(std::string_view part, bool below) {
  struct Prefix {
    std::string_view text;
    double value;
  };
  static constexpr std::array<Prefix, 9> kTimes = {{{"ns", 1},
                                                    {"nsecond", 1},
                                                    {"us", 1e3},
                                                    {"usecond", 1e3},
                                                    {"ms", 1e6},
                                                    {"msecond", 1e6},
                                                    {"s", 1e9},
                                                    {"sec", 1e9},
                                                    {"second", 1e9}}};
  for (const auto& [text, value] : kTimes) {
    if (part == text) return below ? value * 1e-9 : value;
  }
  static constexpr std::array<Prefix, 9> kPrefixes = {{{"Ki", 1024},
                                                       {"Mi", 1048576},
                                                       {"Gi", 1073741824},
                                                       {"Ti", 1099511627776},
                                                       {"K", 1e3},
                                                       {"k", 1e3},
                                                       {"M", 1e6},
                                                       {"G", 1e9},
                                                       {"T", 1e12}}};
  static constexpr std::array<std::string_view, 12> kBases = {
      "byte",  "hz",     "Hz",   "inst",    "sector", "cycle",
      "block", "thread", "warp", "request", "b",      "B"};
  for (const auto& [prefix, value] : kPrefixes) {
    if (!part.starts_with(prefix)) continue;
    const std::string_view rest = part.substr(prefix.size());
    for (const std::string_view base : kBases) {
      if (rest == base) return value;
    }
  }
  return 1;
}

}  // namespace

std::optional<double> ncu_number(std::string_view text) {
  std::array<char, 64> plain{};
  std::size_t size = 0;
  for (const char c : text) {
    if (c == ',') continue;
    if (size == plain.size()) return std::nullopt;
    plain[size++] = c;
  }
  if (size == 0) return std::nullopt;
  double value = 0;
  const char* end = plain.data() + size;
  const auto [stop, code] = std::from_chars(plain.data(), end, value);
  // Out of range is a number, too: the reader refuses it.
  if (code == std::errc::result_out_of_range && stop == end) return HUGE_VAL;
  if (code != std::errc() || stop != end) return std::nullopt;
  return value;
}

double ncu_unit(std::string_view unit) {
  const auto line = unit.find('/');
  if (line == std::string_view::npos) return part_of_unit(unit, false);
  return part_of_unit(unit.substr(0, line), false) / part_of_unit(unit.substr(line + 1), true);
}

std::optional<Dim3> ncu_size(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return std::nullopt;
  text.remove_prefix(1);
  Dim3 size;
  for (std::uint32_t* part : {&size.x, &size.y, &size.z}) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), *part);
    if (code != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (text.empty() || (text.front() != ',' && text.front() != ')')) return std::nullopt;
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional<Dim3>(size) : std::nullopt;
}

std::string_view ncu_metric_of_title(std::string_view title, std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTitles = {
      {{"Duration", "gpu__time_duration.sum"},
       {"Elapsed Cycles", "sm__cycles_elapsed.max"},
       {"SM Frequency", "smsp__cycles_elapsed.avg.per_second"},
       {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
       {"SOL DRAM", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
       {"DRAM Throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
       {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
       {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
       {"L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
       {"Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
       {"Avg. Not Predicated Off Threads Per Warp",
        "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"},
       {"Branch Efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct"}}};
  for (const auto& [name, metric] : kTitles) {
    if (title == name) return metric;
  }
  // Two metrics have this title; the other is a percentage.
  if (title == "Memory Throughput" && unit.find("byte") != std::string_view::npos)
    return "dram__bytes.sum.per_second";
  return {};
}

}  // namespace gable
