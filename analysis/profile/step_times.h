// SPDX-License-Identifier: Apache-2.0
// How long steps take on the GPU's timeline: from the start of a step's first kernel to the start
// of the next step's first kernel. "First" is meant on the stream with most of the step's kernel
// time: a stream beside it may run ahead of the step, or behind it.
//
// The host's time from border to border is another quantity. A program that waits for the GPU only
// now and then gets through its borders as fast as it can enqueue, while the GPU is many steps
// behind.
//
// So a step's time is known if the step after it was timed too, with nothing switched in between.
// Steps with other things between them (cudaProfilerStop to cudaProfilerStart) end with their last
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/profile/layer_stats.h"
#include "analysis/profile/token_sum.h"

namespace gable {

// One step whose kernels all have times.
struct TimedStep {
  std::uint64_t step = 0;  // the next step has the next number; 0: the next one is not known
  std::size_t place = 0;   // its class's place in StepClasses
  bool changed = false;    // CUPTI was switched at its begin: the previous step's time is unknown
  bool reach = false;      // it only ends the previous step and is no step itself
  bool apart = false;      // it ends with its last kernel: other work precedes the next
  std::vector<HeldRecord> records;                     // by start
  std::optional<std::pair<LayerId, TokenSum>> tokens;  // if it is one pass of text generation
};

struct StepTime {
  std::uint64_t wall_ns = 0;
  std::uint64_t idle_ns = 0;  // time in it with no kernel of any step on any GPU
};

class StepTimes {
 public:
  using Measured = std::function<void(const TimedStep&, const StepTime&)>;

  // `max_records`: most records held of the last steps together.
  explicit StepTimes(std::size_t max_records) : max_records_(max_records) {}

  // Adds a step, in any order. `measured` is called for each step whose time becomes known.
  void add(TimedStep step, const Measured& measured);
  // Adds a kernel launched outside of any step while times were taken.
  void add_outside(std::uint64_t start_ns, std::uint64_t end_ns);

 private:
  static constexpr std::size_t kMaxOutside = 1u << 16;
  struct Held {
    TimedStep step;
    bool measured = false;
  };
  using Interval = std::pair<std::uint64_t, std::uint64_t>;

  [[nodiscard]] std::optional<StepTime> measure(const TimedStep* before, const TimedStep& step,
                                                const TimedStep* next) const;
  void forget();

  const std::size_t max_records_;
  std::deque<Held> held_;  // by step
  std::deque<Interval> outside_;
};

}  // namespace gable
