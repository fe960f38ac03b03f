// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/truth.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/profile/key_table.h"
#include "tests/simulation/gpu.h"

namespace gable::simulation {
namespace {

bool off(double found, double expected, double share = kWrong) {
  const double low = std::min(found, expected), high = std::max(found, expected);
  return high > low * (1 + share) + 1e-9;
}

}  // namespace

void Truth::add(const Program& program, PhaseKind kind, std::uint64_t sequence,
                const std::vector<Launch>& launches) {
  ++windows_[kind_index(kind)][sequence];
  std::vector<Work*> open;
  for (const Launch& launch : launches) {
    const Kernel& kernel = program.kernels[launch.kernel];
    auto& sums = sums_[{launch.key.function, launch.key.grid.y, launch.key.grid.z,
                        launch.key.dynamic_shared}];
    auto& own = sums.by_kind[kind_index(kind)];
    const double flops = 2 * kernel.ffma * launch.work * launch.flops;
    const double sectors = 2 * kernel.sectors * launch.work;
    sums.flops += flops;
    sums.sectors += sectors;
    sums.ns += kernel.ns * launch.work;
    ++sums.launches;
    ++sums.seen[kind_index(kind)][sequence];
    if (kind == PhaseKind::hw) sums.hw_bytes += launch.bytes;
    if (kind == PhaseKind::flops && launch.is_new) continue;
    own.flops += flops;
    own.sectors += sectors * launch.bytes;
    own.ns += kernel.ns * launch.work;
    ++own.launches;
    if (own.open_launches++ == 0) open.push_back(&own);
    own.open += kind == PhaseKind::hw ? sectors * launch.bytes : flops;
  }
  for (auto* own : open) {
    own->spread.add(own->open / own->open_launches);
    own->open = own->open_launches = 0;
  }
}

// Where the same launches come again and again, a step is a whole number of times all of them.
void Truth::add_step(const Program& program, const std::vector<Launch>& launches) {
  ++all_steps_;
  std::vector<std::int64_t> expected(program.kernels.size()), found(program.kernels.size());
  for (const auto& sequence : program.sequences)
    for (const auto kernel : sequence) ++expected[kernel];
  for (const Launch& launch : launches) ++found[launch.kernel];
  const auto one = program.sequences.front().front();
  const auto times = std::max<std::int64_t>(found[one] / expected[one], 1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == times * expected[i]) continue;
    ++no_steps_;
    return;
  }
}

// Kernels that are tried out at the beginning make some of them longer.
void Truth::compare_borders(const Program& program, Played& played) const {
  if (!program.regular() || no_steps_ <= program.tuning) return;
  played.wrong.push_back(std::to_string(no_steps_) + " of " + std::to_string(all_steps_) +
                         " steps were none; the period is " + std::to_string(played.period));
}

void Truth::say_wrong(const KernelRow& row, const char* what, double is, double expected,
                      Played& played) {
  played.wrong.push_back(std::string(what) + " of " + row.symbol + " is " + std::to_string(is) +
                         ", not " + std::to_string(expected));
}

void Truth::compare_counts(const KernelRow& row, const Sums& sums, Played& played) {
  const auto& flops = sums.by_kind[kind_index(PhaseKind::flops)];
  const auto& hw = sums.by_kind[kind_index(PhaseKind::hw)];
  const auto& time = sums.by_kind[kind_index(PhaseKind::time)];
  const auto check = [&](const char* what, const std::optional<double>& is, double sum,
                         double launches) {
    if (!is) return;
    if (launches == 0)
      say_wrong(row, what, *is, 0, played);
    else if (off(*is, sum / launches, kMiscounted))
      say_wrong(row, what, *is, sum / launches, played);
  };
  check("FLOP counted", row.flops.fp32, flops.flops, flops.launches);
  check("bytes counted", row.bytes.dram, kBytesOfSector * hw.sectors, hw.launches);
  if (row.time_source == TimeSource::time)
    check("time measured", row.time_mean_ns, time.ns, time.launches);
}

void Truth::compare_parts(const KernelRow& row, const Sums& sums, Played& played) {
  const double flops = row.flops.fp32.value_or(0), bytes = row.bytes.dram.value_or(0);
  const auto& hw = sums.by_kind[kind_index(PhaseKind::hw)];
  const auto& counted = sums.by_kind[kind_index(PhaseKind::flops)];
  const double own = hw.launches > 0 ? sums.hw_bytes / hw.launches : 1;
  const double all_bytes = kBytesOfSector * sums.sectors * own;
  const auto check = [&](const char* what, double is, double expected, bool wrong) {
    if (wrong) say_wrong(row, what, is, expected, played);
  };
  const auto check_mean = [&](const char* what, double is, double sum) {
    check(what, is, sum / sums.launches, off(is, sum / sums.launches));
  };
  check_mean("time", *row.time_mean_ns, sums.ns);
  if (row.bytes.dram) {
    check_mean("bytes", bytes, all_bytes);
    check("bytes, which vary and do not say so,", hw.spread.low, hw.spread.high,
          hw.spread.variation() > kSilentSpread);
  }
  if (!row.flops.fp32) return;
  check_mean("FLOP", flops, sums.flops);
  check("FLOP, which vary and do not say so,", counted.spread.low, counted.spread.high,
        counted.spread.variation() > kSilentSpread);
  check("FLOP/s", flops / *row.time_mean_ns, sums.flops / sums.ns,
        off(flops * sums.ns, sums.flops * *row.time_mean_ns));
  if (row.bytes.dram)
    check("FLOP/byte", flops / bytes, sums.flops / all_bytes,
          off(flops * all_bytes, sums.flops * bytes));
}

double Truth::per_step(const Sums& sums, std::size_t kind) const {
  double launches = 0, steps = 0;
  for (const auto& [sequence, windows] : windows_[kind]) {
    const auto seen = sums.seen[kind].find(sequence);
    const double of_one = seen == sums.seen[kind].end() ? 0 : seen->second / windows;
    const auto found = steps_.find(sequence);  // none of windows that are no steps
    const double weight = found == steps_.end() ? 1 : found->second;
    launches += of_one * weight;
    steps += weight;
  }
  return launches / steps;
}

void Truth::compare(const Report& report, Played& played) const {
  const bool steps = report.run.unit == Unit::step;
  for (const KernelRow& row : report.kernels) {
    if (row.symbol.empty() || row.symbol[0] != 'f') continue;  // "(other)"
    const auto function = static_cast<std::uint32_t>(std::stoul(row.symbol.substr(1)));
    const auto found = sums_.find({function, row.grid.y, row.grid.z, row.dynamic_shared});
    if (found == sums_.end()) continue;
    const Sums& sums = found->second;
    ++played.rows;
    const bool timed = row.time_source == TimeSource::time;
    if (row.flops.fp32 && row.bytes.dram && timed) ++played.complete;
    const bool flagged = row.has_flag("work_varies") || row.has_flag("spread") ||
                         row.has_flag("times_differ") || row.has_flag("flops_unchecked");
    if (flagged) ++played.flagged;
    if (steps && !row.has_flag("launches_differ")) {
      for (std::size_t kind = 0; kind < windows_.size(); ++kind) {
        if (windows_[kind].empty()) continue;
        const double expected = per_step(sums, kind);
        if (std::abs(row.launches - expected) > 1e-6 * std::max(1.0, expected))
          say_wrong(row, "launches per step", row.launches, expected, played);
      }
    }
    compare_counts(row, sums, played);
    // Without a time window nothing can tell that the work changed between hw and flops; the row's
    // time says where it comes from.
    // A row of times alone has no parts that could be of different work.
    const bool joined = row.flops.fp32 || row.bytes.dram;
    if (!flagged && timed && joined) compare_parts(row, sums, played);
  }
}

}  // namespace gable::simulation
