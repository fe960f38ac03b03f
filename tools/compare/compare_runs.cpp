// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare_runs.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gable {
namespace {

// A row of the first run of a side, by its name there.
using RowKey = std::tuple<std::string, Direction, std::int32_t>;

struct RowRuns {
  RunValues time_ns, flops, dram, fraction, saving_ns, launches;
  void add(const ComparedRow& row, Maybe Compared::*side) {
    time_ns.add(row.time_ns.*side);
    flops.add(row.flops.*side);
    dram.add(row.dram.*side);
    fraction.add(row.fraction.*side);
    saving_ns.add(row.saving_ns.*side);
    launches.add(row.launches.*side);
  }
};

void add_each_once(std::vector<std::string>& to, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
  }
}

// The rows of one kind in all runs of a side but the first.
using OtherRuns = std::map<RowKey, RowRuns>;

class Side {
 public:
  // What the other runs say of the first's rows; `out` takes the obstacles and remarks.
  Side(const SideRuns& runs, Comparison& out) : several_(runs.reports.size() > 1) {
    for (std::size_t i = 1; i < runs.reports.size(); ++i) {
      const Comparison one =
          compare(*runs.reports[i], *runs.reports[0], {runs.names[i], runs.names[0]});
      add_each_once(out.obstacles, one.obstacles);
      add_each_once(out.remarks, one.remarks);
      add_each_once(out.throttled, one.throttled);
      out.clocks_agree = out.clocks_agree && one.clocks_agree;
      if (out.other_work.empty()) out.other_work = one.other_work;
      add(one.wholes, wholes);
      add(one.trees, trees);
      add(one.layers, layers);
    }
  }
  [[nodiscard]] bool several() const { return several_; }
  OtherRuns wholes, trees, layers;

 private:
  static void add(const std::vector<ComparedRow>& rows, OtherRuns& to) {
    for (const ComparedRow& row : rows) {
      if (row.match == Match::same || row.match == Match::renamed)
        to[{row.name, row.direction, row.device}].add(row, &Compared::a);
    }
  }
  bool several_;
};

void join(std::vector<ComparedRow>& rows, const OtherRuns& of_a, const OtherRuns& of_b) {
  for (ComparedRow& row : rows) {
    const auto runs = [&](const OtherRuns& others, const std::string& name, Maybe Compared::*side) {
      RowRuns all;
      if (const auto found = others.find({name, row.direction, row.device}); found != others.end())
        all = found->second;
      all.add(row, side);
      return all;
    };
    const RowRuns a = runs(of_a, row.before.empty() ? row.name : row.before, &Compared::a);
    const RowRuns b = runs(of_b, row.name, &Compared::b);
    const auto take = [&](Compared& values, RunValues RowRuns::*what) {
      values = {(a.*what).mean(), (b.*what).mean()};
      return larger((a.*what).range(), (b.*what).range());
    };
    row.range.time_ns = take(row.time_ns, &RowRuns::time_ns);
    row.range.flops = take(row.flops, &RowRuns::flops);
    row.range.dram = take(row.dram, &RowRuns::dram);
    row.range.fraction = take(row.fraction, &RowRuns::fraction);
    (void)take(row.saving_ns, &RowRuns::saving_ns);
    (void)take(row.launches, &RowRuns::launches);
  }
}

}  // namespace

Comparison compare_runs(const SideRuns& a, const SideRuns& b) {
  Comparison out = compare(*a.reports[0], *b.reports[0], {a.names[0], b.names[0]});
  const Side others_a(a, out), others_b(b, out);
  if (!others_a.several() && !others_b.several()) return out;
  out.kernels.clear();
  join(out.wholes, others_a.wholes, others_b.wholes);
  join(out.trees, others_a.trees, others_b.trees);
  join(out.layers, others_a.layers, others_b.layers);
  out.step = compare_steps(a.reports, b.reports);
  return out;
}

}  // namespace gable
