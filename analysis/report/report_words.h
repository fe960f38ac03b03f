// SPDX-License-Identifier: Apache-2.0
// Fields of the report that have one of a few words. docs/report.md explains them.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/base/words.h"

namespace gable {

// Where a report's numbers come from.
enum class Source : std::uint8_t {
  cupti,      // a real GPU
  playback,   // a recording; no GPU was measured
  imported,   // another tool's file
  predicted,  // formulas; nothing ran
};
template <>
inline constexpr auto kWordsOf<Source> = std::to_array<Word<Source>>({
    {Source::cupti, "cupti"},
    {Source::playback, "playback"},
    {Source::imported, "import"},
    {Source::predicted, "predicted"},
});

// What sums and counts are per.
enum class Unit : std::uint8_t { run, step };
template <>
inline constexpr auto kWordsOf<Unit> = std::to_array<Word<Unit>>({{Unit::step, "step"},
                                                                  {Unit::run, "run"}});

// What one counter range was: a kernel, or a stretch of kernels in one layer.
enum class Scope : std::uint8_t { kernel, range };
template <>
inline constexpr auto kWordsOf<Scope> = std::to_array<Word<Scope>>({{Scope::kernel, "kernel"},
                                                                    {Scope::range, "range"}});

// What limits the time of a kernel or a layer.
enum class Bound : std::uint8_t {
  unknown,
  memory,
  compute,
  latency,        // neither roof: far below both
  overhead,       // kernels shorter than the time to launch them
  communication,  // kernels that wait for other ranks
};
template <>
inline constexpr auto kWordsOf<Bound> = std::to_array<Word<Bound>>({
    {Bound::memory, "memory"},
    {Bound::compute, "compute"},
    {Bound::latency, "latency"},
    {Bound::overhead, "overhead"},
    {Bound::communication, "communication"},
    {Bound::unknown, "unknown"},
});
// Neither the GPU's arithmetic nor its memory limits it: its roofs say nothing of what could be
// saved.
[[nodiscard]] constexpr bool is_beside_roofs(Bound bound) {
  return bound == Bound::overhead || bound == Bound::communication;
}

}  // namespace gable
