// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/ncu_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "analysis/base/ascii.h"
#include "tools/import/counters/ncu_units.h"

namespace gable {
namespace {

// Marks between groups of digits that are no decimal marks anywhere: a blank, U+00A0, U+2007,
// U+2009, U+202F, an apostrophe, U+2019.
constexpr auto kGroupMarks = std::to_array<std::string_view>(
    {" ", "\xC2\xA0", "\xE2\x80\x87", "\xE2\x80\x89", "\xE2\x80\xAF", "'", "\xE2\x80\x99"});
// Of those and others, what is nothing around a number: also tab, U+3000, U+FEFF.
constexpr auto kBlanks =
    std::to_array<std::string_view>({" ", "\t", "\xC2\xA0", "\xE2\x80\x87", "\xE2\x80\x89",
                                     "\xE2\x80\xAF", "\xE3\x80\x80", "\xEF\xBB\xBF"});
constexpr std::string_view kMinus = "\xE2\x88\x92";  // U+2212

// The mark that `text` begins with; empty where it begins with none.
std::string_view group_mark(std::string_view text, char other_mark) {
  if (text.front() == other_mark) return text.substr(0, 1);
  for (const std::string_view mark : kGroupMarks)
    if (text.starts_with(mark)) return mark;
  return {};
}

// Takes the digits of the whole part to `out`. Groups behind the first have three digits, or two
// where more follow (12,34,567).
bool take_whole(std::string_view& text, char other_mark, std::string& out) {
  const std::size_t begin = out.size();
  std::size_t group = 0, groups = 1;
  bool pair = false;  // of digits, which another group must follow
  std::string_view mark;
  while (!text.empty()) {
    if (is_digit(text.front())) {
      out += text.front();
      text.remove_prefix(1);
      ++group;
      continue;
    }
    const std::string_view found = group_mark(text, other_mark);
    if (found.empty() || text.size() == found.size() || !is_digit(text[found.size()])) break;
    if (!mark.empty() && found != mark) return false;
    if (groups == 1 ? group == 0 || group > 3 || out[begin] == '0' : group != 3 && group != 2)
      return false;
    pair = pair || (groups > 1 && group == 2);
    mark = found;
    ++groups;
    group = 0;
    text.remove_prefix(found.size());
  }
  if (groups > 1 && group != 3) return false;
  return !pair || groups > 2;
}

// Takes the sign to `out`.
void take_sign(std::string_view& text, std::string& out) {
  if (text.starts_with('-') || text.starts_with(kMinus)) {
    text.remove_prefix(text.front() == '-' ? 1 : kMinus.size());
    out = "-";
  } else if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
}

// "1234.5" of "1,234.5". Empty where `text` is no such number.
std::string plain_number(std::string_view text, DecimalMark mark) {
  const char decimal = mark == DecimalMark::point ? '.' : ',';
  const char other = mark == DecimalMark::point ? ',' : '.';
  std::string out;
  take_sign(text, out);
  const std::size_t sign = out.size();
  if (!take_whole(text, other, out)) return {};
  const bool whole = out.size() > sign;
  if (text.starts_with(decimal)) {
    out += '.';
    text.remove_prefix(1);
    const std::size_t before = out.size();
    while (!text.empty() && is_digit(text.front())) {
      out += text.front();
      text.remove_prefix(1);
    }
    if (!whole && out.size() == before) return {};
  } else if (!whole) {
    return {};
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    out += text;
    return out;
  }
  return text.empty() ? out : std::string();
}

constexpr std::size_t kLongestNumber = 64;

// The digits of "1,234,567": most numbers of ncu that are not plain. 0 where it is no such number.
std::size_t digits_of_groups(std::string_view text, char other, char* out) {
  constexpr std::size_t kStep = 4;  // three digits and a mark
  const std::size_t head = text.size() % kStep;
  if (head == 0 || text.front() == '0') return 0;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i >= head && (i - head) % kStep == 0) {
      if (text[i] != other) return 0;
    } else {
      if (!is_digit(text[i])) return 0;
      out[digits++] = text[i];
    }
  }
  return digits;
}

// Of digits without a mark. Those of four digits and more would have groups where others do.
MarkEvidence evidence_of_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (std::all_of(text.begin(), text.end(), is_digit))
    return text.size() > 3 ? MarkEvidence::no_groups : MarkEvidence::none;
  const bool groups = std::any_of(kGroupMarks.begin(), kGroupMarks.end(), [&](auto mark) {
    return text.find(mark) != std::string_view::npos;
  });
  return groups && ncu_number(text) ? MarkEvidence::other_groups : MarkEvidence::none;
}

}  // namespace

std::string_view ncu_trimmed(std::string_view text) {
  // Nearly all cells: neither end can be part of a blank.
  const auto is_ink = [](char c) { return c > ' ' && c <= '~'; };
  if (!text.empty() && is_ink(text.front()) && is_ink(text.back())) return text;
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view blank : kBlanks) {
      if (text.starts_with(blank)) {
        text.remove_prefix(blank.size());
        again = true;
      } else if (text.ends_with(blank)) {
        text.remove_suffix(blank.size());
        again = true;
      }
    }
  }
  return text;
}

bool ncu_says_nothing(std::string_view text, bool counted) {
  const auto has = [&](auto what) { return std::any_of(text.begin(), text.end(), what); };
  text = ncu_trimmed(text);
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with("nan") || text.starts_with("NaN")) return true;
  const bool digits = has(is_digit);
  const bool foreign = has([](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  const bool word = !text.empty() && ((text.front() >= 'a' && text.front() <= 'z') ||
                                      (text.front() >= 'A' && text.front() <= 'Z'));
  if (word) return !digits || !counted;
  return !digits && !foreign;
}

std::optional<double> ncu_number(std::string_view text, DecimalMark mark) {
  if (text.empty() || text.size() > kLongestNumber) return std::nullopt;
  double value = 0;
  const bool plain = std::all_of(text.begin(), text.end(), [mark](char c) {
    return is_digit(c) || (c == '.' && mark == DecimalMark::point);
  });
  std::array<char, kLongestNumber> digits;
  std::string written;
  std::string_view number = text;
  if (!plain) {
    const char other = mark == DecimalMark::point ? ',' : '.';
    number = {digits.data(), digits_of_groups(text, other, digits.data())};
    if (number.empty()) number = written = plain_number(ncu_trimmed(text), mark);
    if (number.empty()) return std::nullopt;
  }
  const char* end = number.data() + number.size();
  const auto [stop, code] = std::from_chars(number.data(), end, value);
  // Out of range is a number, too: the reader refuses it.
  if (code == std::errc::result_out_of_range && stop == end) return HUGE_VAL;
  if (code != std::errc() || stop != end) return std::nullopt;
  return value;
}

MarkEvidence mark_evidence(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  const bool marked = text.find_first_of(".,") != std::string_view::npos;
  const bool only = text.find_first_not_of("-0123456789., ") == std::string_view::npos;
  if (text.find_first_of("0123456789") == std::string_view::npos) return MarkEvidence::none;
  if (!marked) return evidence_of_whole(ncu_trimmed(text));
  const auto point = ncu_number(text, DecimalMark::point);
  const auto comma = ncu_number(text, DecimalMark::comma);
  if (!point && !comma) return only ? MarkEvidence::neither : MarkEvidence::none;
  if (!comma) return MarkEvidence::point;
  if (!point) return MarkEvidence::comma;
  return text.find('.') != std::string_view::npos ? MarkEvidence::any_point
                                                  : MarkEvidence::any_comma;
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
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kTitles = {
      {{"Duration", "gpu__time_duration.sum"},
       {"Elapsed Cycles", "sm__cycles_elapsed.max"},
       {"SM Frequency", "smsp__cycles_elapsed.avg.per_second"},
       {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
       {"SOL DRAM", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
       {"DRAM Throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
       {"Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
       {"SOL SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
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
  // Two metrics have this title, a rate and a percentage.
  const auto known = ncu_unit(unit);
  if (title == "Memory Throughput" && known && known->above == NcuUnitKind::bytes)
    return "dram__bytes.sum.per_second";
  if (unit == "%" && (title == "Memory Throughput" || title == "SOL Memory"))
    return "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  return {};
}

}  // namespace gable
