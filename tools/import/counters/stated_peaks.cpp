// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/stated_peaks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/number_text.h"
#include "analysis/base/units.h"

namespace gable {
namespace {

struct Peak {
  std::string_view roof;
  CeilingKind kind;
  std::string_view metric;  // without its roll-up
  std::string_view unit;    // whose clock it is
  double factor;
};

// Of a roof the first that a launch has.
constexpr std::array kPeaks = {
    Peak{"fp64", CeilingKind::compute, "smsp__sass_thread_inst_executed_op_dfma_pred_on", "sm", 2},
    Peak{"fp32", CeilingKind::compute, "smsp__sass_thread_inst_executed_op_ffma_pred_on", "sm", 2},
    Peak{"fp16", CeilingKind::compute, "smsp__sass_thread_inst_executed_op_hfma_pred_on", "sm", 4},
    Peak{"dram", CeilingKind::memory, "dram__bytes", "dram", 1},
    Peak{"l2", CeilingKind::memory, "derived__lts__lts2xbar_bytes", "lts", 1},
    Peak{"l2", CeilingKind::memory, "lts__t_bytes", "lts", 1},
    Peak{"l1", CeilingKind::memory, "derived__l1tex__lsu_writeback_bytes_mem_lgds", "l1tex", 1},
    Peak{"l1", CeilingKind::memory, "derived__l1tex__lsu_writeback_bytes_mem_lg", "l1tex", 1},
    Peak{"l1", CeilingKind::memory, "derived__l1tex__lsu_writeback_bytes", "l1tex", 1},
    Peak{"l1", CeilingKind::memory, "l1tex__t_bytes", "l1tex", 1},
};

class Metrics {
 public:
  explicit Metrics(const std::vector<std::string>& names) {
    for (std::uint32_t i = 0; i < names.size(); ++i) ids_.emplace(names[i], i);
  }
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  // The rate of a unit's clock. An SM's partitions have the SM's.
  [[nodiscard]] std::optional<std::uint32_t> rate(std::string_view unit) const {
    const auto of = [this](std::string_view name) {
      return find(std::string(name) + "__cycles_elapsed.avg.per_second");
    };
    const auto own = of(unit);
    return own || unit != "sm" ? own : of("smsp");
  }

 private:
  std::map<std::string, std::uint32_t, std::less<>> ids_;
};

Maybe value_of(const Imported::CounterLaunch& launch, std::uint32_t metric) {
  for (const auto& [id, value] : launch.values)
    if (id == metric && std::isfinite(value) && value > 0) return value;
  return std::nullopt;
}

struct Sample {
  double value, per_cycle, hz;
};

void state(const Peak& peak, std::int32_t device, std::vector<Sample>& samples,
           Imported& imported) {
  const bool stated = std::any_of(
      imported.stated.begin(), imported.stated.end(),
      [&](const Ceiling& each) { return each.device == device && each.name == peak.roof; });
  if (stated || samples.empty()) return;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end(),
                   [](const Sample& a, const Sample& b) { return a.value < b.value; });
  const bool compute = peak.kind == CeilingKind::compute;
  imported.stated.push_back(
      {device, peak.kind, std::string(peak.roof), middle->value,
       "theoretical: ncu states " + significant(middle->per_cycle, 6) +
           (compute ? " FLOP" : " byte") + " per cycle (" + std::string(peak.metric) +
           ".sum.peak_sustained) x " + significant(middle->hz / kGiga, 6) +
           " GHz, while it counted",
       peak.unit == "sm" || peak.unit == "l1tex" ? SmClock::measured : SmClock::none});
}

}  // namespace

void state_peaks(Imported& imported) {
  const Metrics metrics(imported.metrics);
  for (const Peak& peak : kPeaks) {
    const auto most = metrics.find(std::string(peak.metric) + ".sum.peak_sustained");
    const auto rate = metrics.rate(peak.unit);
    if (!most || !rate) continue;
    std::map<std::int32_t, std::vector<Sample>> samples;
    for (const Imported::CounterLaunch& launch : imported.counters) {
      const Maybe per_cycle = value_of(launch, *most), hz = value_of(launch, *rate);
      if (!per_cycle || !hz) continue;
      const double work = *per_cycle * peak.factor;
      samples[launch.device].push_back({work * *hz, work, *hz});
    }
    for (auto& [device, each] : samples) state(peak, device, each, imported);
  }
}

}  // namespace gable
