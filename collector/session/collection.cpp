// SPDX-License-Identifier: Apache-2.0
#include "collector/session/collection.h"

#include <memory>
#include <optional>
#include <utility>

#include "analysis/profile/range_rows.h"

namespace gable {
namespace {

ProfileLimits limits_of(const Settings& settings) {
  ProfileLimits limits;
  limits.max_keys = settings.max_keys;
  return limits;
}

}  // namespace

Collection::Collection(Runtime& runtime, CuptiApi calls, const Windows::Hooks& hooks)
    : rt(runtime),
      api(std::move(calls)),
      sink(rt.layers, rt.functions, limits_of(rt.settings)),
      filter({rt.settings.kernels, rt.settings.include, rt.settings.exclude}, rt.layers,
             rt.functions),
      graph_nodes(rt.layers),
      activity(api, rt.functions,
               [this](std::uint64_t node) -> std::optional<FunctionId> {
                 // As long as no module is gone, the record knows best.
                 if (unload_epoch.load(std::memory_order_relaxed) == 1) return std::nullopt;
                 return graph_nodes.function_of(node);
               }),
      range_choice(choose_ranges(rt.settings, rt.ranks)),
      counters(api, gpus, range_choice.mode, rt.functions.intern(kRangeSymbol)),
      windows(rt, api, sink, counters, activity, hooks) {
  gpus.find();
  if (range_choice.mode == RangeMode::layer)
    sink.with_profile([](Profile& profile) { profile.count_ranges(); });
  if (!range_choice.sentence.empty()) rt.notes.say(range_choice.sentence);
}

void Collection::watch_gpus() {
  gpus.watch([&hot = rt.hot] { return hot.window.load(std::memory_order_relaxed) != kNoWindow; });
}

}  // namespace gable
