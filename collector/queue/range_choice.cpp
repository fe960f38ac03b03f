// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/range_choice.h"

#include "analysis/events/collective.h"

namespace gable {

RangeChoice choose_ranges(const Settings& settings, bool ranks) {
  if (settings.scope == CounterScope::range) return {RangeMode::layer, {}};
  const bool replay = settings.replay == Replay::kernel;
  const bool automatic = settings.ranges == RangesBy::automatic;
  if (!replay && !automatic) return {RangeMode::user, {}};
  if (!ranks) return {replay ? RangeMode::replay : RangeMode::automatic, {}};
  return {RangeMode::user, replay ? "--replay kernel runs kernels again, and these may wait for "
                                    "kernels of other ranks: no kernel is replayed."
                                  : "--ranges auto waits after every launch, and other ranks may "
                                    "wait for this one meanwhile: Gable uses user ranges instead."};
}

bool may_wait_for_ranks(std::string_view symbol) { return is_collective(symbol); }

}  // namespace gable
