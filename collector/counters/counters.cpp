// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/counters.h"

#include <algorithm>
#include <limits>

#include "analysis/profile/range_rows.h"
#include "collector/layers/graph_nodes.h"

namespace gable {
namespace {

constexpr std::uint64_t kLeastMemory = std::uint64_t{512} << 20;
// What a range takes of the GPU's memory, as seen on an H200; of what is free, counters take at
// most this share, as the program may want the rest.
constexpr std::uint64_t kMemoryOfRange = 1200000, kShareOfFree = 4;

}  // namespace

Counters::Context* Counters::find(const Place& place, bool create) {
  const MutexLock hold(mutex_);
  for (auto& context : contexts_) {
    if (context.place.context == place.context && context.place.uid == place.uid && !context.gone)
      return &context;
  }
  const auto* plan = plan_.load(std::memory_order_acquire);
  if (!create || plan == nullptr) return nullptr;
  return &contexts_.emplace_back(engine_, place, plan->chip);
}

std::vector<Counters::Context*> Counters::all() {
  const MutexLock hold(mutex_);
  std::vector<Context*> out;
  for (auto& context : contexts_) {
    if (!context.gone) out.push_back(&context);
  }
  return out;
}

bool Counters::begun(const Place& place, WindowId window) {
  const auto* context = find(place, false);
  return context != nullptr && context->begun.load(std::memory_order_acquire) == window;
}

CuptiFailure Counters::begin(const Place& place, WindowId window, Phase phase,
                             std::size_t max_ranges) {
  auto* context = find(place, true);
  if (context == nullptr) return {};
  if (!has_turn(*context, window, phase)) {
    context->usable.store(false, std::memory_order_relaxed);
    context->begun.store(window, std::memory_order_release);
    return {};
  }
  auto failure = make_way(*context);
  if (!failure.failed()) failure = begin_on(*context, phase, max_ranges);
  const bool usable = !failure.failed() && context->window.active();
  context->usable.store(usable, std::memory_order_relaxed);
  context->begun.store(window, std::memory_order_release);
  return failure;
}

bool Counters::has_turn(const Context& context, WindowId window, Phase phase) {
  const MutexLock hold(mutex_);
  auto& turn = turns_[context.place.device];
  const auto had = [phase](Context& each) -> std::uint64_t& {
    return each.turns[{phase.kind, phase.group}];
  };
  if (turn.window != window) {
    Context* chosen = nullptr;
    for (auto& each : contexts_) {
      if (each.gone || each.place.device != context.place.device) continue;
      if (chosen == nullptr || had(each) < had(*chosen)) chosen = &each;
    }
    turn = {window, chosen};
    if (chosen != nullptr) ++had(*chosen);
  }
  return turn.context == &context;
}

std::uint32_t Counters::sharing(const Place& place) {
  const MutexLock hold(mutex_);
  std::uint32_t count = 0;
  for (const auto& each : contexts_)
    count += !each.gone && each.place.device == place.device ? 1 : 0;
  return count;
}

CuptiFailure Counters::make_way(const Context& context) {
  CuptiFailure first;
  for (auto* each : all()) {
    if (each == &context || each->place.device != context.place.device || !each->window.enabled())
      continue;
    auto failure = each->window.close();
    if (!first.failed()) first = failure;
  }
  return first;
}

// The first time on a context, CUPTI takes what it needs of the GPU's memory. The profiler is
// enabled again after every window of times; what is free by then says nothing about counters.
CuptiFailure Counters::begin_on(Context& context, Phase phase, std::size_t max_ranges) {
  const bool first = !context.had;
  const auto before = gpus_.free_bytes(context.place.device);
  if (first && before && *before < kLeastMemory) {
    return {
        CUPTI_ERROR_OUT_OF_MEMORY,
        "Only " + std::to_string(*before >> 20) +
            " MiB of GPU memory are free, and counters may need 512 MiB; leave that much free, for "
            "example with a smaller batch."};
  }
  // While it is enabled it has its memory already.
  if (before && !context.window.enabled()) {
    const auto ranges = *before / kShareOfFree / kMemoryOfRange;
    if (ranges < max_ranges)
      context.window.limit_ranges(
          ranges, {CUPTI_ERROR_OUT_OF_MEMORY,
                   std::to_string(*before >> 20) +
                       " MiB of GPU memory are free, of which counters may take a quarter."});
  }
  CuptiFailure failure;
  const auto* plan = plan_.load(std::memory_order_acquire);
  for (const auto& pass : plan->passes)
    if (pass.phase == phase && (!pass.replayed || mode() == RangeMode::replay))
      failure = context.window.begin(pass, max_ranges, mode());
  if (!failure.failed()) context.had = true;
  if (!first || !before || failure.failed()) return failure;
  const auto after = gpus_.free_bytes(context.place.device);
  const MutexLock hold(mutex_);
  if (after) context.gpu_bytes = *before > *after ? *before - *after : 0;
  return failure;
}

bool Counters::active() {
  const auto contexts = all();
  return std::any_of(contexts.begin(), contexts.end(),
                     [](const Context* context) { return context->window.active(); });
}

CuptiFailure Counters::drop() {
  CuptiFailure first;
  for (auto* context : all()) {
    if (!context->window.active()) continue;
    auto failure = context->window.drop();
    if (!first.failed()) first = failure;
  }
  return first;
}

std::optional<std::uint64_t> Counters::gpu_bytes() {
  const MutexLock hold(mutex_);
  std::optional<std::uint64_t> sum;
  for (const auto& context : contexts_)
    if (context.gpu_bytes) sum = sum.value_or(0) + *context.gpu_bytes;
  return sum;
}

bool Counters::before_launch(const Place& place, std::uint32_t ordinal, const LaunchKey& key,
                             bool wanted, std::uint32_t kernels) {
  auto* context = find(place, false);
  if (context == nullptr || !context->usable.load(std::memory_order_relaxed)) return false;
  const auto mode = this->mode();
  if (mode == RangeMode::layer) {
    if (wanted) {
      return context->window.before_launch(
          ordinal, {counted_key(key), key.grid.count(), key.function, place.stream});
    }
    context->window.close_range();
    return false;
  }
  // Automatic ranges cannot be chosen by launch: all must be known, so that the order can be
  // followed.
  if (!wanted && are_pushed(mode)) return false;
  return context->window.before_launch(ordinal, key, mode == RangeMode::replay ? kernels : 1,
                                       is_graph(key));
}

LaunchKey Counters::counted_key(const LaunchKey& key) const {
  if (mode() != RangeMode::layer || is_graph(key)) return key;
  return range_key(key.layer, key.device, range_function_);
}

void Counters::close_ranges() {
  if (mode() != RangeMode::layer) return;
  for (auto* context : all()) context->window.close_range();
}

void Counters::after_launch(const Place& place, bool launched) {
  if (auto* context = find(place, false)) context->window.after_launch(launched);
}

CountersOutcome Counters::finish() {
  std::vector<CounterResult> results;
  {
    const MutexLock hold(mutex_);
    results = std::move(early_);
    early_.clear();
  }
  for (auto* context : all()) {
    if (context->window.active()) results.push_back(context->window.end());
  }
  return outcome_of(std::move(results));
}

CuptiFailure Counters::close() {
  CuptiFailure first;
  for (auto* context : all()) {
    if (!context->window.enabled()) continue;
    auto failure = context->window.close();
    if (!first.failed()) first = failure;
  }
  return first;
}

std::size_t Counters::most_ranges() {
  auto most = std::numeric_limits<std::size_t>::max();
  for (const auto* context : all()) most = std::min(most, context->window.most_ranges());
  return most;
}

CuptiFailure Counters::refused_ranges() {
  for (const auto* context : all())
    if (context->window.refused_ranges().failed()) return context->window.refused_ranges();
  return {};
}

CuptiFailure Counters::not_closed() {
  for (const auto* context : all())
    if (context->window.not_closed().failed()) return context->window.not_closed();
  return {};
}

void Counters::end_context(CUcontext ended) {
  for (auto* context : all()) {
    if (ended != nullptr && context->place.context != ended) continue;
    if (context->window.active()) {
      auto result = context->window.end();
      const MutexLock hold(mutex_);
      early_.push_back(std::move(result));
    }
    if (context->window.enabled()) (void)context->window.close();
    context->gone.store(true, std::memory_order_release);
  }
}

void Counters::abandon_context(CUcontext ended) {
  for (auto* context : all()) {
    if (ended != nullptr && context->place.context != ended) continue;
    context->window.abandon();
    context->gone.store(true, std::memory_order_release);
  }
}

bool Counters::hangs() { return engine_.patience()->stuck(); }

bool Counters::may_return() { return engine_.patience()->may_return(); }

bool Counters::runs_on() {
  const auto contexts = all();
  return std::any_of(contexts.begin(), contexts.end(),
                     [](const Context* context) { return context->window.runs_on(); });
}

std::uint64_t Counters::image_bytes() {
  const MutexLock hold(mutex_);
  std::uint64_t sum = 0;
  for (const auto& context : contexts_) sum += context.window.image_bytes();
  return sum;
}

}  // namespace gable
