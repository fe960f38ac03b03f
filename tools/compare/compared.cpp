// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compared.h"

#include <algorithm>
#include <numeric>

#include "analysis/base/number_text.h"

namespace gable {

Maybe Compared::change() const {
  if (!a || !b || *a == 0) return std::nullopt;
  return *b / *a - 1;
}

std::string launches_text(double launches) { return significant(launches, 6); }

Maybe RunValues::mean() const {
  if (values_.empty()) return std::nullopt;
  return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

Maybe RunValues::range() const {
  if (values_.size() < 2) return std::nullopt;
  const auto [least, most] = std::minmax_element(values_.begin(), values_.end());
  return *most - *least;
}

Maybe larger(const Maybe& a, const Maybe& b) {
  if (!a) return b;
  return b ? Maybe(std::max(*a, *b)) : a;
}

}  // namespace gable
