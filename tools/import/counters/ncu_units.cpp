// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gable {
namespace {

struct Part {
  double scale = 1;
  NcuUnitKind kind = NcuUnitKind::none;
};

struct Named {
  std::string_view text;
  double value;
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view without_plural(std::string_view text) {
  if (text.size() > 3 && text.ends_with('s')) text.remove_suffix(1);
  return text;
}

// In ns.
std::optional<double> time_of(std::string_view part) {
  static constexpr std::array<Named, 5> kPrefixes = {
      {{"\xC2\xB5", 1e3}, {"\xCE\xBC", 1e3}, {"n", 1}, {"u", 1e3}, {"m", 1e6}}};
  static constexpr auto kWords = std::to_array<Named>({{"picosecond", 1e-3},
                                                       {"nanosecond", 1},
                                                       {"microsecond", 1e3},
                                                       {"millisecond", 1e6},
                                                       {"minute", 60e9},
                                                       {"min", 60e9},
                                                       {"hour", 3600e9},
                                                       {"hr", 3600e9},
                                                       {"h", 3600e9},
                                                       {"day", 86400e9}});
  const auto is_second = [](std::string_view text) {
    return text == "s" || text == "sec" || text == "second";
  };
  const std::string small = lower(part);
  const std::string_view text = without_plural(small);
  if (is_second(text)) return 1e9;
  if (text.starts_with('p') && is_second(text.substr(1)))
    return part.front() == 'p' ? std::optional<double>(1e-3) : std::nullopt;
  for (const auto& [prefix, value] : kPrefixes) {
    if (!text.starts_with(prefix) || !is_second(text.substr(prefix.size()))) continue;
    // A capital M is a million.
    return part.front() == 'M' ? std::nullopt : std::optional<double>(value);
  }
  for (const auto& [word, value] : kWords)
    if (text == word && part != "H") return value;
  return std::nullopt;
}

// Of what is counted; capitals are those of the prefix.
std::optional<NcuUnitKind> base_of(std::string_view part) {
  static constexpr auto kCounted = std::to_array<std::string_view>(
      {"inst",      "instruction", "thread inst", "sector",      "block",    "thread",
       "warp",      "request",     "register",    "sample",      "cluster",  "op",
       "math op",   "math_op",     "wavefront",   "transaction", "tag",      "line",
       "access",    "conflict",    "cta",         "cga",         "sm",       "pixel",
       "primitive", "quad",        "ray",         "texel",       "workload", "bit"});
  const std::string small = lower(part);
  const std::string_view text = without_plural(small);
  if (text == "byte" || part == "B") return NcuUnitKind::bytes;
  if (text == "hz") return NcuUnitKind::hertz;
  if (text == "cycle") return NcuUnitKind::cycles;
  if (std::find(kCounted.begin(), kCounted.end(), text) != kCounted.end())
    return NcuUnitKind::count;
  return std::nullopt;
}

// A word for what is counted that is not one of the above with letters before it.
bool is_word(std::string_view part) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  if (part.size() < 3 || !is_small(part.front()) ||
      !std::all_of(part.begin(), part.end(), [&](char c) {
        return is_small(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == ' ';
      }))
    return false;
  for (std::size_t i = 1; i < part.size(); ++i) {
    if (is_small(part[i - 1]) && (base_of(part.substr(i)) || time_of(part.substr(i)))) {
      // "second" ends in what is a unit, too, as any word in "s" or "h" does.
      if (part.size() - i > 2) return false;
    }
  }
  return true;
}

std::optional<Part> part_of(std::string_view part) {
  static constexpr auto kPrefixes = std::to_array<Named>({{"Ki", 1024.0},
                                                          {"Mi", 1048576.0},
                                                          {"Gi", 1073741824.0},
                                                          {"Ti", 1099511627776.0},
                                                          {"Pi", 1125899906842624.0},
                                                          {"Ei", 1152921504606846976.0},
                                                          {"K", 1e3},
                                                          {"k", 1e3},
                                                          {"M", 1e6},
                                                          {"G", 1e9},
                                                          {"T", 1e12},
                                                          {"P", 1e15},
                                                          {"E", 1e18}});
  if (part == "%" || part == "pct" || part == "percent") return Part{1, NcuUnitKind::percent};
  if (const auto ns = time_of(part)) return Part{*ns, NcuUnitKind::time};
  if (const auto base = base_of(part)) return Part{1, *base};
  for (const auto& [prefix, value] : kPrefixes) {
    if (!part.starts_with(prefix)) continue;
    if (const auto base = base_of(part.substr(prefix.size()))) return Part{value, *base};
  }
  if (is_word(part)) return Part{1, NcuUnitKind::count};
  return std::nullopt;
}

// What the values of a metric are in.
struct Wanted {
  NcuUnitKind above = NcuUnitKind::count;
  bool any = false;  // above
  bool per_second = false, per_cycle = false;
};

Wanted wanted_of(std::string_view metric) {
  const auto has = [&](std::string_view part) {
    return metric.find(part) != std::string_view::npos;
  };
  Wanted wanted;
  wanted.per_second = metric.ends_with(".per_second");
  wanted.per_cycle = has(".per_cycle_");
  if (has(".pct")) {
    wanted.above = NcuUnitKind::percent;
  } else if (has("time_duration")) {
    wanted.above = NcuUnitKind::time;
  } else if (has("bytes")) {
    wanted.above = NcuUnitKind::bytes;
  } else if (has("__cycles_")) {
    wanted.above = NcuUnitKind::cycles;
  } else if (!has("__inst_") && !has("inst_executed") && !has("sectors") && !has("__ops_") &&
             !has("ctas_launched")) {
    wanted.any = true;
  }
  // What it is a ratio of is nowhere.
  wanted.any = wanted.any || has(".ratio") || has(".max_rate") || has("peak_sustained");
  if (wanted.above == NcuUnitKind::percent) wanted.any = false;
  return wanted;
}

}  // namespace

std::optional<NcuUnit> ncu_unit(std::string_view unit) {
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  while (unit.ends_with(' ')) unit.remove_suffix(1);
  if (unit.empty()) return NcuUnit{};
  const auto line = unit.find('/');
  const auto above = part_of(unit.substr(0, line));
  if (!above) return std::nullopt;
  if (line == std::string_view::npos) return NcuUnit{above->scale, above->kind};
  const auto below = part_of(unit.substr(line + 1));
  if (!below) return std::nullopt;
  const double seconds = below->kind == NcuUnitKind::time ? 1e-9 : 1;
  return NcuUnit{above->scale / (below->scale * seconds), above->kind, below->kind};
}

std::optional<double> ncu_scale(std::string_view metric, std::string_view unit) {
  const auto found = ncu_unit(unit);
  if (!found) return std::nullopt;
  const Wanted wanted = wanted_of(metric);
  if (found->above == NcuUnitKind::none) return 1;
  const bool hertz = found->above == NcuUnitKind::hertz;
  if (wanted.per_second && found->below != NcuUnitKind::time &&
      !(hertz && found->below == NcuUnitKind::none))
    return std::nullopt;
  if (wanted.per_cycle && found->below != NcuUnitKind::cycles && found->below != NcuUnitKind::none)
    return std::nullopt;
  if (!wanted.any && !wanted.per_second && !wanted.per_cycle && found->below != NcuUnitKind::none)
    return std::nullopt;
  const bool clock = hertz && wanted.per_second && wanted.above == NcuUnitKind::cycles;
  if (!wanted.any && found->above != wanted.above && !clock) return std::nullopt;
  return found->scale;
}

}  // namespace gable
