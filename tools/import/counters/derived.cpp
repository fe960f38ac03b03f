// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/derived.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/events/quantities.h"
#include "tools/import/counters/ncu_metrics.h"

namespace gable {
namespace {

constexpr std::string_view kCycles = "__cycles_elapsed.";
constexpr std::string_view kPerCycle = ".per_cycle_elapsed", kPerSecond = ".per_second";
constexpr std::string_view kTensorWork = "sm__ops_path_tensor_src_fp16.sum";
constexpr auto kTensorInstructions = std::to_array<std::string_view>(
    {"sm__inst_executed_pipe_tensor.sum", "smsp__inst_executed_pipe_tensor.sum"});
constexpr double kFlopsOfVoltaInstruction = 512;

struct Kind {
  std::string_view sm, smsp;
};
constexpr Kind kHalf{"sm__inst_executed_pipe_tensor_op_hmma.sum",
                     "smsp__inst_executed_pipe_tensor_op_hmma.sum"};
constexpr Kind kDouble{"sm__inst_executed_pipe_tensor_op_dmma.sum",
                       "smsp__inst_executed_pipe_tensor_op_dmma.sum"};
constexpr Kind kGroup{"sm__inst_executed_pipe_tensor_op_gmma.sum",
                      "smsp__inst_executed_pipe_tensor_op_gmma.sum"};

std::string_view unit_of(std::string_view metric) { return metric.substr(0, metric.find("__")); }

class Deriver {
 public:
  explicit Deriver(Imported& imported) : imported_(imported) {
    for (std::uint32_t i = 0; i < imported.metrics.size(); ++i)
      ids_.emplace(imported.metrics[i], i);
    find_clocks();
    find_rates();
    for (std::uint32_t i = 0; i < imported.metrics.size(); ++i) {
      const MetricRole* role = role_of(imported.metrics[i]);
      if (role != nullptr && role->quantity == Quantity::flops_tensor) tensor_metrics_.push_back(i);
    }
    values_.assign(imported.metrics.size(), kAbsent);
  }

  void run() {
    for (Imported::CounterLaunch& launch : imported_.counters) {
      // Asked for and without a value is there, and unknown.
      for (const auto& [metric, value] : launch.values) values_[metric] = value;
      derive(launch);
      for (const auto& [metric, value] : launch.values) values_[metric] = kAbsent;
    }
    if (by_clock_ > 0)
      imported_.notes.push_back(
          "Times of " + std::to_string(by_clock_) +
          (by_clock_ == 1 ? " counted launch is" : " counted launches are") +
          " cycles over the clock's rate, as exact as the files print that rate.");
  }

 private:
  // No value of a counter is infinite.
  static constexpr double kAbsent = -std::numeric_limits<double>::infinity();

  struct Clock {
    std::uint32_t cycles, rate;
  };
  struct Rate {
    std::uint32_t rate = 0;
    std::string whole;
    bool per_second = false;
    std::vector<std::uint32_t> cycles;  // the first that a launch has
  };

  // Of a metric that a report has from its first value on.
  std::uint32_t add(std::string_view name) {
    const auto [place, fresh] =
        ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(imported_.metrics.size()));
    if (fresh) {
      imported_.metrics.emplace_back(name);
      values_.push_back(kAbsent);
    }
    return place->second;
  }

  void find_clocks() {
    for (const auto& [name, id] : ids_) {
      if (name.find(kCycles) == std::string::npos || name.ends_with(kPerSecond)) continue;
      const auto rate = ids_.find(name + std::string(kPerSecond));
      if (rate != ids_.end()) clocks_.push_back({id, rate->second});
    }
    // The order of a hash is no order.
    std::sort(clocks_.begin(), clocks_.end(), [this](const Clock& a, const Clock& b) {
      return imported_.metrics[a.cycles] < imported_.metrics[b.cycles];
    });
  }

  // Cycles of the unit that counts; those of the SM and of its partitions are the same.
  [[nodiscard]] std::vector<std::uint32_t> cycles_of(std::string_view unit) const {
    std::vector<std::string> units{std::string(unit)};
    if (unit == "smsp") units.emplace_back("sm");
    if (unit == "sm") units.emplace_back("smsp");
    std::vector<std::uint32_t> found;
    for (const std::string_view roll_up : {"avg", "max"}) {
      for (const std::string& each : units) {
        const auto id = ids_.find(each + std::string(kCycles) + std::string(roll_up));
        if (id != ids_.end()) found.push_back(id->second);
      }
    }
    return found;
  }

  void find_rates() {
    for (std::uint32_t i = 0; i < imported_.metrics.size(); ++i) {
      const std::string& name = imported_.metrics[i];
      const bool per_second = name.ends_with(kPerSecond);
      if (!per_second && !name.ends_with(kPerCycle)) continue;
      const std::string whole =
          name.substr(0, name.size() - (per_second ? kPerSecond : kPerCycle).size());
      const bool used = role_of(whole) != nullptr ||
                        std::find(kTensorInstructions.begin(), kTensorInstructions.end(), whole) !=
                            kTensorInstructions.end();
      if (!whole.ends_with(".sum") || !used) continue;
      rates_.push_back({i, whole, per_second, cycles_of(unit_of(name))});
    }
  }

  [[nodiscard]] bool known(std::uint32_t metric) const { return std::isfinite(values_[metric]); }
  [[nodiscard]] Maybe value_of(std::string_view name) const {
    const auto found = ids_.find(std::string(name));
    return found != ids_.end() && known(found->second) ? Maybe(values_[found->second])
                                                       : std::nullopt;
  }

  void set(Imported::CounterLaunch& launch, std::string_view name, double value) {
    const std::uint32_t metric = add(name);
    const auto found = std::find_if(launch.values.begin(), launch.values.end(),
                                    [metric](const auto& each) { return each.first == metric; });
    if (found != launch.values.end()) {
      found->second = value;
    } else {
      launch.values.emplace_back(metric, value);
    }
    values_[metric] = value;
  }

  void derive(Imported::CounterLaunch& launch) {
    Maybe duration = value_of(kNcuDuration);
    for (const Clock& clock : clocks_) {
      if (duration) break;
      if (!known(clock.cycles) || !known(clock.rate) || values_[clock.rate] <= 0) continue;
      duration = values_[clock.cycles] / values_[clock.rate] * 1e9;
      set(launch, kNcuDuration, *duration);
      ++by_clock_;
    }
    for (const Rate& rate : rates_) {
      if (!known(rate.rate) || value_of(rate.whole)) continue;
      double times = rate.per_second ? duration.value_or(0) * 1e-9 : 0;
      for (const std::uint32_t cycles : rate.cycles)
        if (!rate.per_second && times <= 0 && known(cycles)) times = values_[cycles];
      // They are whole numbers, of which the rate has lost digits.
      if (times > 0) set(launch, rate.whole, std::round(values_[rate.rate] * times));
    }
    derive_tensor(launch);
  }

  [[nodiscard]] Maybe instructions_of(const Kind& kind) const {
    const Maybe sm = value_of(kind.sm);
    return sm ? sm : value_of(kind.smsp);
  }

  // None of the kinds of instructions on floating point that the chip has. FP8's on 8.9 may be of
  // another kind, and those of 10.0 and later are.
  [[nodiscard]] bool has_no_kind(int major, int minor) const {
    if (major < 7 || major > 9 || (major == 8 && minor == 9)) return false;
    const bool doubles = (major == 8 && minor == 0) || major == 9, groups = major == 9;
    return instructions_of(kHalf) == 0.0 && (!doubles || instructions_of(kDouble) == 0.0) &&
           (!groups || instructions_of(kGroup) == 0.0);
  }

  void derive_tensor(Imported::CounterLaunch& launch) {
    Maybe instructions;
    for (const std::string_view name : kTensorInstructions)
      if (!instructions) instructions = value_of(name);
    const auto device = imported_.devices.find(launch.device);
    if (device == imported_.devices.end()) return;
    const int major = device->second.compute_major, minor = device->second.compute_minor;
    if ((instructions == 0.0 && major >= 7 && major <= 9) || has_no_kind(major, minor)) {
      for (const std::uint32_t each : tensor_metrics_)
        if (!known(each)) set(launch, imported_.metrics[each], 0);
      if (tensor_metrics_.empty()) set(launch, kTensorWork, 0);
    } else if (instructions && major == 7 && minor == 0 &&
               std::none_of(tensor_metrics_.begin(), tensor_metrics_.end(),
                            [this](std::uint32_t each) { return known(each); })) {
      set(launch, kTensorWork, kFlopsOfVoltaInstruction * *instructions);
    }
  }

  Imported& imported_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<Clock> clocks_;
  std::vector<Rate> rates_;
  std::vector<std::uint32_t> tensor_metrics_;
  std::vector<double> values_;  // of one launch, by metric
  std::uint64_t by_clock_ = 0;
};

}  // namespace

void derive_quantities(Imported& imported) {
  if (!imported.counters.empty()) Deriver(imported).run();
}

}  // namespace gable
