// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/window_judge.h"

#include "collector/queue/phase_queue.h"

namespace gable {

Verdict judge_window(const WindowFacts& facts, std::uint32_t thrown_away,
                     const JoinChecks& checks) {
  const auto has = [&facts](WindowFlaw flaw) { return (facts.flaws & flaw) != 0; };
  const auto kind = facts.phase.kind;
  if (kind == PhaseKind::wait || kind == PhaseKind::warmup) return {};  // that is what they are for
  if (checks.captures && has(kCapture)) return {"A stream was captured within it.", false};
  if (checks.stuck && has(kStuck))
    return {"CUPTI or another thread took too long to change windows.", false};
  if (has(kRefused)) return {"CUPTI refused counters for one context in this window.", false};
  if (has(kCollective))
    return {"A collective ran in it, and launches must not wait beside one.", false};
  if (has(kGraph))
    return {"A CUDA graph ran in it, of which CUPTI makes no automatic ranges.", false};
  const bool last_try = thrown_away + 1 >= PhaseQueue::kMaxThrownAway;
  const bool patched = kind == PhaseKind::flops;
  if (checks.modules && has(kModuleLoaded) && (patched || (facts.steps && !last_try)))
    return {"A module was loaded within it.", false};
  if (!checks.new_functions || !has(kNewFunction)) return {};
  if (facts.steps && !last_try) return {"A kernel ran for the first time within it.", false};
  return {{}, patched};
}

}  // namespace gable
