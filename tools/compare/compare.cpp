// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/events/layer_tree.h"
#include "analysis/report/gpu_words.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/compare/compare_match.h"
#include "tools/compare/compare_noise.h"
#include "tools/compare/compare_work.h"
#include "tools/plot/plot.h"

namespace gable {
namespace {

Maybe times(const Maybe& value, double factor) {
  return value ? Maybe(*value * factor) : std::nullopt;
}

std::string path_of(const LayerRow* layer) {
  return shown_path(layer == nullptr ? std::vector<std::string>() : layer->path);
}

// Sums that speak of all of a row: the known part of one would be held against all of the other.
void fill(ComparedRow& row, const LayerRow* a, const LayerRow* b) {
  static const LayerRow kNone;
  if (a == nullptr) a = &kNone;
  if (b == nullptr) b = &kNone;
  const auto time = [](const LayerRow& of) {
    return whole_sum(of.time_total_ns, of.coverage.time);
  };
  const auto flops = [](const LayerRow& of) {
    return whole_sum(of.flops.total, of.coverage.flops);
  };
  const auto dram = [](const LayerRow& of) { return whole_sum(of.bytes.dram, of.coverage.bytes); };
  row.time_ns = {time(*a), time(*b)};
  row.flops = {flops(*a), flops(*b)};
  row.dram = {dram(*a), dram(*b)};
  row.fraction = {a->roof.fraction, b->roof.fraction};
  row.saving_ns = {a->saving_ns, b->saving_ns};
  row.launches = {a->launches, b->launches};
}

std::map<std::int32_t, const DeviceInfo*> used_devices(const Report& report) {
  std::set<std::int32_t> used;
  for (const KernelRow& kernel : report.kernels) used.insert(kernel.device);
  std::map<std::int32_t, const DeviceInfo*> out;
  for (const DeviceInfo& device : report.devices) {
    if (used.contains(device.id)) out[device.id] = &device;
  }
  return out;
}

bool is_playback(const Report& report) { return report.run.source == Source::playback; }

void compare_devices(const Report& a, const Report& b, const SideNames& names, Comparison& out) {
  const auto of_a = used_devices(a), of_b = used_devices(b);
  for (const auto& [id, device] : of_a) {
    const auto other = of_b.find(id);
    if (other == of_b.end()) continue;
    const DeviceInfo& second = *other->second;
    if (device->name != second.name || device->sm_count != second.sm_count) {
      out.obstacles.push_back(names.a + " ran on " + device->name + " (" +
                              std::to_string(device->sm_count) + " SMs), " + names.b + " on " +
                              second.name + " (" + std::to_string(second.sm_count) + " SMs).");
      return;
    }
    if (device->sm_clock_max_hz != second.sm_clock_max_hz ||
        device->memory_clock_max_hz != second.memory_clock_max_hz)
      out.remarks.push_back("The clocks of device " + std::to_string(id) + " differ.");
  }
  if (of_a.size() != of_b.size()) {
    out.obstacles.push_back(names.a + " ran on " + std::to_string(of_a.size()) + " GPUs, " +
                            names.b + " on " + std::to_string(of_b.size()) + ".");
  }
}

// GPUs that the program used: of others nothing is known.
void find_throttled(const Report& report, const std::string& name, Comparison& out) {
  const auto used = used_devices(report);
  std::string text;
  for (const auto& [id, device] : used) {
    const std::string by = throttled_by(*device);
    if (by.empty()) continue;
    text += text.empty() ? "" : "; ";
    text += (used.size() > 1 ? "GPU " + std::to_string(id) + ": " : std::string()) + by;
  }
  if (!text.empty()) out.throttled.push_back(name + " throttled (" + text + ")");
}

// What NVML read while windows were collected, of counters and of times. Says which devices differ.
std::set<std::int32_t> compare_mean_clocks(const Report& a, const Report& b, const SideNames& names,
                                           Comparison& out) {
  constexpr double kSame = 0.02;
  std::set<std::int32_t> differ;
  const auto of_a = used_devices(a), of_b = used_devices(b);
  out.clocks_agree = !of_a.empty() && of_a.size() == of_b.size();
  for (const auto& [id, device] : of_a) {
    const auto other = of_b.find(id);
    const bool known = other != of_b.end() && device->state && other->second->state;
    const Maybe before = known ? device->state->sm_clock.mean : std::nullopt;
    const Maybe after = known ? other->second->state->sm_clock.mean : std::nullopt;
    const bool same = before && after && std::abs(*after - *before) <= kSame * *before;
    out.clocks_agree = out.clocks_agree && same;
    if (!before || !after || same) continue;
    differ.insert(id);
    out.remarks.push_back("The mean SM clock of device " + std::to_string(id) + " was " +
                          std::to_string(std::llround(*before * 1e-6)) + " MHz in " + names.a +
                          " and " + std::to_string(std::llround(*after * 1e-6)) + " MHz in " +
                          names.b + ": times move with it.");
  }
  return differ;
}

// A clock measured in the counter windows that differs explains times that do.
void compare_clocks(const Report& a, const Report& b, const SideNames& names, Comparison& out) {
  constexpr double kSame = 0.02;
  const auto said = compare_mean_clocks(a, b, names, out);
  for (const auto& [id, clock] : a.sm_clock_measured_hz) {
    if (said.contains(id)) continue;
    const auto other = b.sm_clock_measured_hz.find(id);
    if (!clock || other == b.sm_clock_measured_hz.end() || !other->second || *clock <= 0) continue;
    const double ratio = *other->second / *clock;
    if (ratio > 1 - kSame && ratio < 1 + kSame) continue;
    out.remarks.push_back("The SM clock of device " + std::to_string(id) + " was measured as " +
                          std::to_string(static_cast<int>(*clock * 1e-6)) + " MHz in " + names.a +
                          " and " + std::to_string(static_cast<int>(*other->second * 1e-6)) +
                          " MHz in " + names.b + ": times move with it.");
  }
}

// Whether numbers of two reports may be held against each other: fills obstacles and remarks.
void say_how_comparable(const Report& a, const Report& b, const SideNames& names, Comparison& out) {
  if (is_playback(a) != is_playback(b)) {
    out.obstacles.push_back(
        std::string("One report is from playback and the other from hardware: ") +
        (is_playback(a) ? names.a : names.b) + " is from playback.");
  } else if (a.run.source != b.run.source) {
    out.remarks.push_back(names.a + " is from " + to_string(a.run.source) + ", " + names.b +
                          " from " + to_string(b.run.source) + ".");
  }
  if (a.run.unit != b.run.unit) {
    out.obstacles.push_back("Numbers of " + names.a + " are per " + to_string(a.run.unit) +
                            ", those of " + names.b + " per " + to_string(b.run.unit) + ".");
  }
  compare_devices(a, b, names, out);
  compare_clocks(a, b, names, out);
  find_throttled(a, names.a, out);
  find_throttled(b, names.b, out);
  const bool common = std::any_of(out.layers.begin(), out.layers.end(), [](const ComparedRow& row) {
    return row.match == Match::same || row.match == Match::renamed;
  });
  if (!common) out.obstacles.emplace_back("They have no layer with kernels in common.");
  for (const auto& [name, report] : {std::pair{names.a, &a}, std::pair{names.b, &b}}) {
    if (!report->run.complete)
      out.remarks.push_back(name + " is a snapshot of a program that was still running.");
    if (report->run.lost.records + report->run.lost.unattributed_launches > 0)
      out.remarks.push_back(name + " lost records: its sums may be too small.");
  }
  if (a.run.unit == Unit::run && b.run.unit == Unit::run) {
    out.remarks.emplace_back(
        "Numbers are of whole runs: they can be compared only if both runs did the same amount of "
        "work.");
  }
  if (a.run.unit == b.run.unit)
    out.other_work = other_work(work_done(a), work_done(b), names.a, names.b, a.run.unit);
}

// Windows of one program differ by less.
bool differs(const Compared& values) {
  constexpr double kSame = 0.005;
  if (values.a.has_value() != values.b.has_value()) return true;
  if (!values.a) return false;
  return std::abs(*values.b - *values.a) > kSame * std::max(*values.a, *values.b);
}

class Comparer {
 public:
  Comparer(const Report& a, const Report& b)
      : a_(a),
        b_(b),
        errors_a_(a),
        errors_b_(b),
        time_a_(time_of_roots(a)),
        time_b_(time_of_roots(b)) {}

  Comparison run() {
    Comparison out;
    const LayerMatches matches = match_layers(a_, b_);
    for (const auto& [a, b] : matches.pairs) {
      ComparedRow row = layer_row(a, b);
      fill(row, a, b);
      row.noise_ns = noise_of(a == nullptr ? std::nullopt : errors_a_.all(a->id),
                              b == nullptr ? std::nullopt : errors_b_.all(b->id));
      add_share(row);
      const int depth = (b == nullptr ? a : b)->depth;
      if (depth == 0) out.wholes.push_back(row);
      out.trees.push_back(std::move(row));
    }
    own_layers(matches, out);
    kernels(matches, out);
    out.step = compare_steps({&a_}, {&b_});
    return out;
  }

 private:
  static ComparedRow layer_row(const LayerRow* a, const LayerRow* b) {
    ComparedRow row;
    row.match = a == nullptr   ? Match::added
                : b == nullptr ? Match::gone
                               : (a->path == b->path ? Match::same : Match::renamed);
    const LayerRow* shown = b == nullptr ? a : b;
    if (shown == nullptr) return row;
    row.layer_row = shown;
    row.name = path_of(shown);
    if (row.match == Match::renamed) row.before = path_of(a);
    row.direction = shown->direction;
    row.device = shown->device;
    return row;
  }

  void add_share(ComparedRow& row) const {
    const bool only_b = row.match == Match::added;
    const Maybe& time = only_b ? row.time_ns.b : row.time_ns.a;
    const Maybe& whole = only_b ? time_b_ : time_a_;
    if (time && whole && *whole > 0 && !row.counts_again) row.share = *time / *whole;
  }

  // Rows of a layer's own work, by its place in the matches and what else its name says: graphs are
  // rows of their own.
  void own_layers(const LayerMatches& matches, Comparison& out) const {
    const std::vector<PlotRow> rows_a = plot_layers(a_), rows_b = plot_layers(b_);
    std::map<std::pair<std::size_t, std::string>, std::vector<const PlotRow*>> left;
    const auto key = [&](const PlotRow& row, const auto& places) {
      const auto place = places.find(row.layer);
      return std::pair(place == places.end() ? matches.pairs.size() : place->second,
                       row.name.substr(path_of(row.layer).size()));
    };
    for (const PlotRow& row : rows_a) left[key(row, matches.place_a)].push_back(&row);
    const auto add = [&](const PlotRow* a, const PlotRow* b) {
      const PlotRow& shown = b == nullptr ? *a : *b;
      ComparedRow row;
      if (shown.layer != nullptr)
        row = layer_row(a == nullptr ? nullptr : a->layer, b == nullptr ? nullptr : b->layer);
      row.name = shown.name;
      row.direction = shown.direction;
      row.device = shown.sum.device;
      row.counts_again = shown.counts_again;
      fill(row, a == nullptr ? nullptr : &a->sum, b == nullptr ? nullptr : &b->sum);
      if (shown.layer != nullptr && a != nullptr && b != nullptr && a->layer != nullptr &&
          b->layer != nullptr && !shown.counts_again)
        row.noise_ns = noise_of(errors_a_.own(a->layer->id), errors_b_.own(b->layer->id));
      add_share(row);
      out.layers.push_back(std::move(row));
    };
    for (const PlotRow& row : rows_b) {
      auto found = left.find(key(row, matches.place_b));
      const PlotRow* a = nullptr;
      if (found != left.end() && !found->second.empty()) {
        a = found->second.front();
        found->second.erase(found->second.begin());
      }
      add(a, &row);
    }
    for (const auto& [unused, rows] : left) {
      for (const PlotRow* row : rows) add(row, nullptr);
    }
  }

  void kernels(const LayerMatches& matches, Comparison& out) const {
    for (const auto& [a, b, match] : match_kernels(a_, b_, matches)) {
      const KernelRow& shown = b == nullptr ? *a : *b;
      ComparedRow row;
      row.match = match;
      row.name = shown.name;
      if (match == Match::reshaped) row.before = shape_of(*a);
      row.direction = shown.direction;
      row.device = shown.device;
      row.layer_row = matches.layer(shown.layer, b != nullptr);
      row.layer = path_of(row.layer_row);
      row.counts_again = shown.counts_again() && shown.time_source == TimeSource::time;
      const auto pair = [&, a = a, b = b](auto value) {
        return Compared{a == nullptr ? std::nullopt : value(*a),
                        b == nullptr ? std::nullopt : value(*b)};
      };
      row.time_ns = pair([](const KernelRow& k) { return k.time_total_ns; });
      row.flops = pair([](const KernelRow& k) { return times(k.flops.total, k.launches); });
      row.dram = pair([](const KernelRow& k) { return times(k.bytes.dram, k.launches); });
      row.fraction = pair([](const KernelRow& k) { return k.roof.fraction; });
      row.saving_ns = pair([](const KernelRow& k) { return k.saving_ns; });
      row.launches = pair([](const KernelRow& k) { return Maybe(k.launches); });
      if (a != nullptr && b != nullptr)
        row.noise_ns = noise_of(standard_error_ns(*a), standard_error_ns(*b));
      add_share(row);
      out.kernels.push_back(std::move(row));
    }
  }

  const Report& a_;
  const Report& b_;
  const LayerErrors errors_a_, errors_b_;
  const Maybe time_a_, time_b_;
};

}  // namespace

Compared ComparedRow::per_launch_ns() const {
  const auto of = [](const Maybe& time, const Maybe& count) {
    return time && count.value_or(0) > 0 ? Maybe(*time / *count) : std::nullopt;
  };
  return {of(time_ns.a, launches.a), of(time_ns.b, launches.b)};
}

bool ComparedRow::launches_differ() const { return differs(launches); }

bool ComparedRow::launch_beyond_noise() const {
  const Compared each = per_launch_ns();
  const Maybe chance = larger(noise_ns, range.time_ns);
  if (!each.a || !each.b || !chance) return true;
  return std::abs(*each.b - *each.a) * *launches.b > *chance;
}

bool ComparedRow::beyond_noise() const {
  const Maybe chance = larger(noise_ns, range.time_ns);
  if (!time_ns.a || !time_ns.b || !chance) return true;
  return std::abs(*time_ns.b - *time_ns.a) > *chance;
}

std::string match_name(Match match) {
  switch (match) {
    case Match::renamed:
      return "renamed";
    case Match::reshaped:
      return "reshaped";
    case Match::added:
      return "new";
    case Match::gone:
      return "gone";
    case Match::same:
      break;
  }
  return "same";
}

bool same_within_noise(const ComparedRow& row) {
  const bool time = row.time_ns.a.has_value() == row.time_ns.b.has_value() &&
                    (row.time_ns.a == row.time_ns.b || !row.beyond_noise());
  return row.match == Match::same && time && !row.launches_differ() && !differs(row.flops) &&
         !differs(row.dram);
}

bool no_difference(const Comparison& comparison, const std::vector<const ComparedRow*>& rows) {
  const ComparedStep& step = comparison.step;
  const Maybe chance = larger(step.noise_ns, step.wall_range);
  const bool step_same =
      step.wall_ns.a == step.wall_ns.b || (step.wall_ns.a && step.wall_ns.b && chance &&
                                           std::abs(*step.wall_ns.b - *step.wall_ns.a) <= *chance);
  return step_same && comparison.other_work.empty() &&
         std::all_of(comparison.wholes.begin(), comparison.wholes.end(), same_within_noise) &&
         std::all_of(rows.begin(), rows.end(),
                     [](const ComparedRow* row) { return same_within_noise(*row); });
}

Comparison compare(const Report& a, const Report& b, const SideNames& names) {
  Comparison out = Comparer(a, b).run();
  say_how_comparable(a, b, names, out);
  if (out.step.on_host)
    out.remarks.push_back((out.step.gpu_ns.a ? names.b : names.a) +
                          " does not know how long a step takes on the GPU: steps are compared by "
                          "the host's time, which may be far less.");
  return out;
}

}  // namespace gable
