// SPDX-License-Identifier: Apache-2.0
// Fields of the report whose values are words. docs/report.md explains them.
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

// The unit that sums and counts are per.
enum class Unit : std::uint8_t { run, step };
template <>
inline constexpr auto kWordsOf<Unit> = std::to_array<Word<Unit>>({{Unit::step, "step"},
                                                                  {Unit::run, "run"}});

// What one counter range was: a kernel, or a stretch of kernels in one layer.
enum class Scope : std::uint8_t { kernel, range };
template <>
inline constexpr auto kWordsOf<Scope> = std::to_array<Word<Scope>>({{Scope::kernel, "kernel"},
                                                                    {Scope::range, "range"}});

// How the totals of a run were made.
enum class Basis : std::uint8_t { measured, extrapolated };
template <>
inline constexpr auto kWordsOf<Basis> = std::to_array<Word<Basis>>({
    {Basis::measured, "measured"},
    {Basis::extrapolated, "extrapolated"},
});

// Which windows gave a time.
enum class TimeSource : std::uint8_t {
  unknown,
  time,  // time windows: activity records
  hw,    // counter windows: gpu__time_duration
};
template <>
inline constexpr auto kWordsOf<TimeSource> = std::to_array<Word<TimeSource>>({
    {TimeSource::time, "time"},
    {TimeSource::hw, "hw"},
});

enum class MemoryLevel : std::uint8_t { none, dram, l2, l1 };
template <>
inline constexpr auto kWordsOf<MemoryLevel> = std::to_array<Word<MemoryLevel>>({
    {MemoryLevel::dram, "dram"},
    {MemoryLevel::l2, "l2"},
    {MemoryLevel::l1, "l1"},
});

// What a ceiling bounds: FLOP/s, byte/s of a memory, or byte/s of a link to host or other GPUs.
enum class CeilingKind : std::uint8_t { compute, memory, link };
template <>
inline constexpr auto kWordsOf<CeilingKind> = std::to_array<Word<CeilingKind>>({
    {CeilingKind::compute, "compute"},
    {CeilingKind::memory, "memory"},
    {CeilingKind::link, "link"},
});

// The clock of the SMs behind a ceiling.
enum class SmClock : std::uint8_t {
  none,      // the clock does not matter
  measured,  // in counter windows
  boost,     // the highest
};
template <>
inline constexpr auto kWordsOf<SmClock> = std::to_array<Word<SmClock>>({
    {SmClock::measured, "measured"},
    {SmClock::boost, "boost"},
});

// What limits the time of a kernel or a layer.
enum class Bound : std::uint8_t {
  unknown,
  memory,
  compute,
  latency,        // far below both roofs
  small,          // the same, with grids that do not fill the GPU
  overhead,       // kernels shorter than the time to launch them
  communication,  // kernels that wait for other ranks
};
template <>
inline constexpr auto kWordsOf<Bound> = std::to_array<Word<Bound>>({
    {Bound::memory, "memory"},
    {Bound::compute, "compute"},
    {Bound::latency, "latency"},
    {Bound::small, "small"},
    {Bound::overhead, "overhead"},
    {Bound::communication, "communication"},
    {Bound::unknown, "unknown"},
});
// What memory is held for.
enum class HeldFor : std::uint8_t {
  parameters,
  buffers,
  gradients,
  optimizer_state,
  activations,  // made in forward
  backward,     // made in backward, and no parameter's gradient
  inputs,       // of operators, and made by none that was seen
};
template <>
inline constexpr auto kWordsOf<HeldFor> = std::to_array<Word<HeldFor>>({
    {HeldFor::parameters, "parameters"},
    {HeldFor::buffers, "buffers"},
    {HeldFor::gradients, "gradients"},
    {HeldFor::optimizer_state, "optimizer_state"},
    {HeldFor::activations, "activations"},
    {HeldFor::backward, "backward"},
    {HeldFor::inputs, "inputs"},
});

// Who says how much memory is taken.
enum class MemorySource : std::uint8_t {
  allocator,  // the framework's, by its statistics
  tensors,    // the sum of those seen
};
template <>
inline constexpr auto kWordsOf<MemorySource> = std::to_array<Word<MemorySource>>({
    {MemorySource::allocator, "allocator"},
    {MemorySource::tensors, "tensors"},
});

// Whether neither the GPU's arithmetic nor its memory is the limit, so that roofs do not show what
// could be saved.
[[nodiscard]] constexpr bool is_beside_roofs(Bound bound) {
  return bound == Bound::overhead || bound == Bound::communication;
}

}  // namespace gable
