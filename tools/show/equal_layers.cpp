// SPDX-License-Identifier: Apache-2.0
#include "tools/show/equal_layers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/base/ascii.h"
#include "analysis/base/display.h"
#include "analysis/base/units.h"
#include "analysis/events/layer_tree.h"

namespace gable {
namespace {

constexpr double kSameWork = 0.01, kSameTime = 0.25;  // by how much equal layers may differ

bool alike(const Maybe& a, const Maybe& b, double by) {
  if (!a || !b) return !a && !b;
  return *a == *b || std::abs(*a - *b) <= by * std::max(*a, *b);
}

// By formula a row has its rates alone. `rate` per second.
Maybe work_of(const LayerRow& row, const Maybe& work, const Maybe& rate) {
  if (work || !rate || !row.time_total_ns) return work;
  return *rate * *row.time_total_ns / kNsPerSecond;
}

// What is unknown is equal to nothing.
bool do_the_same(const LayerRow& a, const LayerRow& b) {
  const Maybe flops = work_of(a, a.flops.total, a.flops_per_s);
  const Maybe bytes = work_of(a, a.bytes.dram, a.bytes_per_s);
  if (!flops && !bytes) return false;
  return alike(flops, work_of(b, b.flops.total, b.flops_per_s), kSameWork) &&
         alike(bytes, work_of(b, b.bytes.dram, b.bytes_per_s), kSameTime) &&
         take_as_long(a.time_total_ns, b.time_total_ns);
}

// Behind the layer's path: "/*", or a graph's name.
std::string behind_path(const TableRow& row) {
  const std::string path = shown_path(row.layer->path);
  return row.name.starts_with(path) ? row.name.substr(path.size()) : row.name;
}

using Key = std::tuple<std::size_t, std::int32_t, Direction, Bound, std::string, Maybe, std::size_t,
                       std::string, std::string, bool>;

Key key_of(const TableRow& row) {
  const auto& path = row.layer->path;
  return {row.report,       row.device,  row.direction, row.sum.roof.bound, row.precision,
          row.sum.launches, path.size(), path.back(),   behind_path(row),   row.analytic};
}

using Rows = std::vector<const TableRow*>;

// Empty where it is unknown of one of them.
Maybe sum_of(const Rows& rows, auto value) {
  double sum = 0;
  for (const TableRow* row : rows) {
    const Maybe each = value(*row);
    if (!each) return std::nullopt;
    sum += *each;
  }
  return sum;
}

// Of rates and shares; where weights are unknown, of equal weights.
Maybe mean_of(const Rows& rows, auto value, auto weight) {
  const Maybe weights = sum_of(rows, weight);
  if (!weights || !(*weights > 0)) {
    const Maybe sum = sum_of(rows, value);
    return sum ? Maybe(*sum / static_cast<double>(rows.size())) : std::nullopt;
  }
  const Maybe sum = sum_of(rows, [&](const TableRow& row) {
    const Maybe each = value(row);
    return each ? Maybe(*each * *weight(row)) : std::nullopt;
  });
  return sum ? Maybe(*sum / *weights) : std::nullopt;
}

// Without one of them a step cannot be longer than without the best of them, and it cannot be
// shorter than by what all of them have on the critical path.
std::optional<StepSaving> saving_of_all(const Rows& rows) {
  bool any = false, on_path = true;
  StepSaving all, by_time;
  for (const TableRow* row : rows) {
    const auto saving = step_saving_of(row->sum);
    if (!saving) return std::nullopt;
    any = any || row->sum.step_saving || row->sum.path_ns;
    on_path = on_path && row->sum.path_ns && row->sum.saving_ns;
    if (on_path) all.high_ns += std::min(*row->sum.path_ns, *row->sum.saving_ns);
    by_time.high_ns += row->sum.saving_ns.value_or(saving->high_ns);
    all.low_ns = std::max(all.low_ns, saving->low_ns);
  }
  if (!any) return std::nullopt;
  if (!on_path) all.high_ns = by_time.high_ns;
  all.low_ns = std::min(all.low_ns, all.high_ns);
  return all;
}

void fill_metrics(const Rows& rows, auto time, SetMetrics& metrics) {
  static constexpr Maybe SetMetrics::*kAll[] = {
      &SetMetrics::compute_throughput, &SetMetrics::memory_throughput, &SetMetrics::occupancy,
      &SetMetrics::warp_efficiency,    &SetMetrics::l1_hit_rate,       &SetMetrics::l2_hit_rate,
      &SetMetrics::sectors_per_load};
  for (const auto member : kAll) {
    metrics.*member = mean_of(
        rows,
        [member](const TableRow& row) {
          return row.sum.metrics ? (*row.sum.metrics).*member : std::nullopt;
        },
        time);
  }
}

TableRow together(const Rows& rows) {
  TableRow out = *rows.front();
  const auto member = [](Maybe LayerRow::*value) {
    return [value](const TableRow& row) { return row.sum.*value; };
  };
  const auto time = member(&LayerRow::time_total_ns);
  out.count = rows.size();
  LayerRow& sum = out.sum;
  for (Maybe LayerRow::*value :
       {&LayerRow::time_total_ns, &LayerRow::launches, &LayerRow::saving_ns, &LayerRow::path_ns})
    sum.*value = sum_of(rows, member(value));
  for (Maybe LayerRow::*rate : {&LayerRow::flops_per_s, &LayerRow::bytes_per_s})
    sum.*rate = mean_of(rows, member(rate), time);
  sum.flops.total = sum_of(rows, [](const TableRow& row) { return row.sum.flops.total; });
  const std::pair<Maybe Bytes::*, Maybe Intensity::*> levels[] = {
      {&Bytes::dram, &Intensity::dram}, {&Bytes::l2, &Intensity::l2}, {&Bytes::l1, &Intensity::l1}};
  for (const auto& [bytes, intensity] : levels) {
    const auto of_level = [bytes = bytes](const TableRow& row) { return row.sum.bytes.*bytes; };
    sum.intensity.*intensity = mean_of(
        rows, [intensity = intensity](const TableRow& row) { return row.sum.intensity.*intensity; },
        of_level);
    sum.bytes.*bytes = sum_of(rows, of_level);
  }
  sum.roof.fraction = mean_of(
      rows, [](const TableRow& row) { return row.sum.roof.fraction; }, time);
  sum.coverage.time = mean_of(
      rows, [](const TableRow& row) { return row.sum.coverage.time; }, time);
  if (sum.metrics) fill_metrics(rows, time, *sum.metrics);
  sum.step_saving = saving_of_all(rows);
  out.share = sum_of(rows, [](const TableRow& row) { return row.share; });
  out.rank_time = 0;
  for (const TableRow* row : rows) {
    out.rank_time += row->rank_time;
    out.tensor_inferred = out.tensor_inferred || row->tensor_inferred;
  }
  out.rank_saving = saving_of(sum).value_or(0) * out.units;
  std::vector<std::vector<std::string>> paths;
  paths.reserve(rows.size());
  for (const TableRow* row : rows) paths.push_back(row->layer->path);
  out.name = name_of_paths(paths) + behind_path(*rows.front());
  return out;
}

std::optional<long> number_of(const std::string& text) {
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && text == std::to_string(number) && number >= 0 ? std::optional(number)
                                                                : std::nullopt;
}

// "{1,2}", "{0..11}", "*".
std::string name_of_parts(const std::set<std::string>& parts) {
  constexpr std::size_t kListed = 3, kWidest = 24;
  std::set<long> numbers;
  for (const std::string& part : parts)
    if (const auto number = number_of(part)) numbers.insert(*number);
  const bool all = numbers.size() == parts.size();
  if (all && parts.size() > 2 &&
      *numbers.rbegin() - *numbers.begin() + 1 == static_cast<long>(parts.size()))
    return "{" + std::to_string(*numbers.begin()) + ".." + std::to_string(*numbers.rbegin()) + "}";
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "{" : ",") + part; };
  if (all) {
    for (const long number : numbers) add(std::to_string(number));
  } else {
    for (const std::string& part : parts) add(part);
  }
  text += "}";
  return parts.size() <= kListed && display_width(text) <= kWidest ? text : "*";
}

bool is_ascii(char c) { return (static_cast<unsigned char>(c) & 0x80) == 0; }

// How many bytes the parts have in common from `begin` on, which stand at their other end: without
// the digits next to what differs, and not within a letter beyond ASCII. "layer" of "layer12",
// "layer13".
template <typename Iterator>
std::size_t in_common(Iterator begin, const std::set<std::string>& parts, auto of) {
  const std::string& first = *parts.begin();
  std::size_t same = first.size();
  for (const std::string& part : parts) {
    const auto most = static_cast<std::ptrdiff_t>(std::min(part.size(), same));
    same = static_cast<std::size_t>(std::mismatch(begin, begin + most, of(part)).first - begin);
  }
  const auto stays = [&](char c) { return !is_digit(c) && is_ascii(c); };
  while (same > 0 && !stays(*(begin + static_cast<std::ptrdiff_t>(same) - 1))) --same;
  return same;
}

// Whether each part at `first` goes with one part at `other` and no more, as in "block1/mlp1".
bool follows(const std::vector<std::vector<std::string>>& paths, std::size_t first,
             std::size_t other) {
  std::set<std::string> firsts;
  std::set<std::pair<std::string, std::string>> both;
  for (const auto& path : paths) {
    firsts.insert(path[first]);
    both.emplace(path[first], path[other]);
  }
  return both.size() == firsts.size();
}

}  // namespace

bool take_as_long(const Maybe& a, const Maybe& b) { return alike(a, b, kSameTime); }

std::string name_of_paths(const std::vector<std::vector<std::string>>& paths) {
  std::vector<std::set<std::string>> parts(paths.front().size());
  for (const auto& path : paths)
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].insert(path[i]);
  std::optional<std::size_t> first;  // that differs
  std::vector<std::string> name;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::set<std::string>& each = parts[i];
    if (each.size() == 1) {
      name.push_back(*each.begin());
      continue;
    }
    const std::string& one = *each.begin();
    const std::size_t before =
        in_common(one.begin(), each, [](const std::string& part) { return part.begin(); });
    std::size_t behind =
        in_common(one.rbegin(), each, [](const std::string& part) { return part.rbegin(); });
    for (const std::string& part : each) behind = std::min(behind, part.size() - before);
    std::set<std::string> middles;
    for (const std::string& part : each)
      middles.insert(part.substr(before, part.size() - before - behind));
    const bool known = first && follows(paths, *first, i);
    name.push_back(one.substr(0, before) + (known ? "*" : name_of_parts(middles)) +
                   one.substr(one.size() - behind));
    if (!first) first = i;
  }
  return shown_path(name);
}

void fold_equal_layers(std::vector<TableRow>& rows) {
  std::vector<Rows> groups;
  std::map<Key, std::vector<std::size_t>> with_key;
  for (const TableRow& row : rows) {
    if (row.counts_again || row.layer == nullptr || row.layer->path.empty()) {
      groups.push_back({&row});
      continue;
    }
    std::vector<std::size_t>& same = with_key[key_of(row)];
    const auto found = std::find_if(same.begin(), same.end(), [&](std::size_t i) {
      return do_the_same(groups[i].front()->sum, row.sum);
    });
    if (found != same.end()) {
      groups[*found].push_back(&row);
      continue;
    }
    same.push_back(groups.size());
    groups.push_back({&row});
  }
  if (groups.size() == rows.size()) return;
  std::vector<TableRow> folded;
  folded.reserve(groups.size());
  for (const Rows& group : groups)
    folded.push_back(group.size() == 1 ? *group.front() : together(group));
  rows = std::move(folded);
}

}  // namespace gable
