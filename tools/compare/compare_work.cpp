// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare_work.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/base/display.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/compare/compared.h"

namespace gable {
namespace {

bool same(double a, double b) { return std::abs(a - b) <= kSameWork * std::max(a, b); }

}  // namespace

WorkDone work_done(const Report& report) {
  WorkDone work;
  bool counted = true;
  for (const LayerRow& layer : report.layers) {
    if (layer.model && layer.model->self.flops)
      work.analytic = work.analytic.value_or(0) + *layer.model->self.flops;
    if (layer.parent) continue;
    const Maybe flops = whole_sum(layer.flops.total, layer.coverage.flops);
    counted = counted && flops;
    work.flops = work.flops.value_or(0) + flops.value_or(0);
    if (layer.launches) work.launches = work.launches.value_or(0) + *layer.launches;
  }
  if (!counted) work.flops.reset();
  return work;
}

std::string other_work(const WorkDone& a, const WorkDone& b, const std::string& name_a,
                       const std::string& name_b, Unit unit) {
  struct Kind {
    Maybe WorkDone::*value;
    const char* unit;
    const char* how;
  };
  static constexpr std::array<Kind, 3> kKinds = {{{&WorkDone::flops, "FLOP", ""},
                                                  {&WorkDone::analytic, "FLOP", " (by formula)"},
                                                  {&WorkDone::launches, "launches", ""}}};
  // Another precision or algorithm does other FLOPs for the same operators: tensor cores count what
  // fills up their tiles.
  if (a.analytic.value_or(0) > 0 && b.analytic && same(*a.analytic, *b.analytic)) return {};
  for (const Kind& kind : kKinds) {
    const Maybe before = a.*kind.value, after = b.*kind.value;
    // Programs that compute with integers alone have no FLOPs to tell them apart.
    if (!before || !after || (*before <= 0 && *after <= 0)) continue;
    if (same(*before, *after)) return {};
    const auto shown = [&](const Maybe& value) {
      return kind.value == &WorkDone::launches ? launches_text(*value) + " launches"
                                               : with_prefix(value, kind.unit);
    };
    const Maybe change = *before > 0 ? Maybe(*after / *before - 1) : std::nullopt;
    return name_a + " does " + shown(before) + " per " + to_string(unit) + ", " + name_b + " " +
           shown(after) + kind.how + (change ? " (" + signed_percent(change) + ")" : "");
  }
  return {};
}

}  // namespace gable
