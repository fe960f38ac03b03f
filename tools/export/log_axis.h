// SPDX-License-Identifier: Apache-2.0
// A logarithmic axis of a drawn chart: values to pixels.
#pragma once

#include <cmath>
#include <vector>

namespace gable {

class LogAxis {
 public:
  // An axis from `low` at pixel `from` to `high` at pixel `to`; values must be above 0.
  LogAxis(double low, double high, double from, double to)
      : low_(std::log10(low)), high_(std::log10(high)), from_(from), to_(to) {}

  [[nodiscard]] double at(double value) const {
    return from_ + (std::log10(value) - low_) / (high_ - low_) * (to_ - from_);
  }
  [[nodiscard]] double low() const { return std::pow(10, low_); }
  [[nodiscard]] double high() const { return std::pow(10, high_); }
  // The powers of ten on the axis.
  [[nodiscard]] std::vector<double> decades() const {
    std::vector<double> values;
    const int last = static_cast<int>(std::floor(high_ + 1e-9));
    for (int power = static_cast<int>(std::ceil(low_ - 1e-9)); power <= last; ++power)
      values.push_back(std::pow(10, power));
    return values;
  }

 private:
  double low_, high_, from_, to_;
};

// The smallest and the largest of the values that are above 0.
struct Range {
  double low = 0, high = 0;
  void add(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    if (low == 0 || value < low) low = value;
    if (value > high) high = value;
  }
  // The axis with room at both ends; one decade if nothing was added.
  [[nodiscard]] LogAxis axis(double from, double to) const {
    return low > 0 ? LogAxis(low / 2, high * 2, from, to) : LogAxis(1, 10, from, to);
  }
};

}  // namespace gable
