// SPDX-License-Identifier: Apache-2.0
// What ncu says a block takes of an SM: launch__registers_per_thread and its likes of the raw page,
// or the details page's "Registers Per Thread".
#pragma once

#include <cmath>
#include <optional>
#include <string_view>

#include "analysis/events/events.h"
#include "tools/import/counters/ncu_units.h"
#include "tools/import/counters/ncu_values.h"

namespace gable {

// Of one launch.
class NcuResources {
 public:
  [[nodiscard]] static bool is_one(std::string_view metric) {
    return kRegisters.is(metric) || kStatic.is(metric) || kDynamic.is(metric);
  }
  void begin() { *this = {}; }
  // A value that is no number says nothing. False: nor does its unit.
  [[nodiscard]] bool take(std::string_view metric, std::string_view unit, std::string_view value,
                          DecimalMark mark) {
    const auto number = ncu_number(value, mark);
    if (!number) return true;
    const auto known = ncu_unit(unit);
    const auto wanted = kRegisters.is(metric) ? NcuUnitKind::count : NcuUnitKind::bytes;
    if (!known || (known->above != wanted && known->above != NcuUnitKind::none)) return false;
    const double scaled = std::round(*number * known->scale);
    if (!(scaled >= 0) || scaled > kMost) return true;
    (kRegisters.is(metric) ? registers_ : kStatic.is(metric) ? static_ : dynamic_) = scaled;
    return true;
  }
  // Empty until registers, static and dynamic shared memory are all known.
  [[nodiscard]] std::optional<KernelResources> known() const {
    if (!registers_ || !static_ || !dynamic_) return std::nullopt;
    return KernelResources{static_cast<std::uint32_t>(*registers_),
                           static_cast<std::uint32_t>(*static_ + *dynamic_)};
  }

 private:
  struct Name {
    std::string_view metric, title;
    [[nodiscard]] bool is(std::string_view name) const { return name == metric || name == title; }
  };
  static constexpr Name kRegisters{"launch__registers_per_thread", "Registers Per Thread"};
  static constexpr Name kStatic{"launch__shared_mem_per_block_static",
                                "Static Shared Memory Per Block"};
  static constexpr Name kDynamic{"launch__shared_mem_per_block_dynamic",
                                 "Dynamic Shared Memory Per Block"};
  static constexpr double kMost = 1u << 24;  // of any

  std::optional<double> registers_, static_, dynamic_;
};

}  // namespace gable
