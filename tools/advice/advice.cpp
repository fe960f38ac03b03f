// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/advice.h"

#include <algorithm>

#include "tools/advice/advice_rules.h"

namespace gable {

std::vector<Advice> advise(const Report& report) {
  const AdviceFacts facts = advice_facts(report);
  std::vector<Advice> advice;
  if (!(facts.unit_ns > 0)) return advice;
  advise_on_compute(facts, advice);
  advise_on_memory(facts, advice);
  advise_on_the_rest(facts, advice);
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) {
    return a.saving_ns.value_or(-1) > b.saving_ns.value_or(-1);
  });
  return advice;
}

}  // namespace gable
