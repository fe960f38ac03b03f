// SPDX-License-Identifier: Apache-2.0
#include "collector/metrics/metric_request.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "collector/metrics/metric_parts.h"
#include "collector/options/metric_sets.h"

namespace gable {
namespace {

class Reader {
 public:
  explicit Reader(ChipMetrics& chip) : chip_(chip) {}

  MetricRequest read(const std::vector<std::string>& wanted) {
    request_.roofline = wanted.empty();
    for (const std::string& name : wanted) {
      const MetricSet* set = find_metric_set(name);
      if (set == nullptr) {
        add_named(name);
      } else if (set->name == kRooflineSet) {
        request_.roofline = true;
      } else {
        for (const SetQuantity& quantity : set->quantities) add_quantity(*set, quantity);
      }
    }
    return std::move(request_);
  }

 private:
  void take(const MetricNames& metrics) {
    for (const std::string& metric : metrics) {
      auto& taken = request_.metrics;
      if (std::find(taken.begin(), taken.end(), metric) == taken.end()) taken.push_back(metric);
    }
  }

  void leave_out(const std::string& metric, bool exists, const std::string& why) {
    request_.left_out.push_back({metric, exists, metric + " is left out: " + why});
  }

  void add_quantity(const MetricSet& set, const SetQuantity& quantity) {
    const auto& metrics = quantity.metrics;
    if (std::all_of(metrics.begin(), metrics.end(),
                    [&](std::string_view metric) { return chip_.single(metric); })) {
      take(MetricNames(metrics.begin(), metrics.end()));
      return;
    }
    const bool exists = std::all_of(metrics.begin(), metrics.end(),
                                    [&](std::string_view metric) { return chip_.has(metric); });
    // What a chip's instruction set lacks is no loss.
    if (!exists) return;
    leave_out(std::string(set.name) + ": " + std::string(quantity.name), true,
              chip_.chip() + " needs more than one pass to count it, and a window has one.");
  }

  // Where the roll-up of a metric begins; npos: it has none.
  static std::size_t rollup_of(std::string_view name) {
    const auto unit = name.find("__");
    return unit == std::string_view::npos ? unit : name.find('.', unit);
  }

  // The first roll-up that the chip has for a name without one.
  std::optional<std::string> rolled_up(const std::string& base) {
    const bool rate = base.ends_with("_rate");
    for (const char* rollup :
         {".sum", rate ? ".pct" : ".ratio", ".avg.pct_of_peak_sustained_elapsed"})
      if (chip_.has(base + rollup)) return base + rollup;
    return std::nullopt;
  }

  void add_named(const std::string& name) {
    const auto rollup = rollup_of(name);
    const std::string base = name.substr(0, rollup);
    const auto usual =
        rollup == std::string::npos || !chip_.has(name) ? rolled_up(base) : std::optional(name);
    if (!usual) {
      leave_out(name, false, "CUPTI has no metric of that name for " + chip_.chip() + ".");
      return;
    }
    if (rollup != std::string::npos && *usual != name) {
      leave_out(
          name, false,
          chip_.chip() + " has no '" + name.substr(rollup) + "' of it; ask for " + *usual + ".");
      return;
    }
    const MetricNames parts = single_pass_parts(chip_, *usual);
    if (parts.empty()) {
      leave_out(name, true,
                chip_.chip() + " needs " + std::to_string(chip_.passes_alone(*usual).value_or(0)) +
                    " passes to count it, and a window has one.");
      return;
    }
    if (parts.front() != *usual) {
      std::string list;
      for (const std::string& part : parts)
        list += (list.empty() ? "" : (&part == &parts.back() ? " and " : ", ")) + part;
      request_.notes.push_back(
          chip_.chip() + " needs " + std::to_string(chip_.passes_alone(*usual).value_or(0)) +
          " passes for " + *usual + ": " + list + " are collected in its place.");
    }
    take(parts);
  }

  ChipMetrics& chip_;
  MetricRequest request_;
};

}  // namespace

MetricRequest read_request(ChipMetrics& chip, const std::vector<std::string>& wanted) {
  return Reader(chip).read(wanted);
}

}  // namespace gable
