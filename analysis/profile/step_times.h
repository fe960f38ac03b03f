// SPDX-License-Identifier: Apache-2.0
// How long steps take on the GPU's timeline: from the start of a step's first kernel to the start
// of the next step's first kernel. "First" is meant on the stream with most of the step's kernel
// time: a stream beside it may run ahead of the step, or behind it.
//
// The host's time from border to border is another quantity. A program that waits for the GPU only
// now and then gets through its borders as fast as it can enqueue, while the GPU is many steps
// behind.
//
// So a step's time is known where the step after it was timed too, with nothing switched between.
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
  std::uint64_t step = 0;  // the next one has the next number; 0: the next one is not known
  std::size_t place = 0;   // of its class, as StepClasses counts them
  bool changed = false;    // CUPTI was switched when it began: the step before it is not known
  bool reach = false;      // it ends the step before it, and is no step of its own
  bool apart = false;      // it ends with its last kernel: other things come before the next
  std::vector<HeldRecord> records;                     // by start
  std::optional<std::pair<LayerId, TokenSum>> tokens;  // where it is one forward that makes text
};

struct StepTime {
  std::uint64_t wall_ns = 0;
  std::uint64_t idle_ns = 0;  // of it: no kernel ran on any GPU, of this step or another
};

class StepTimes {
 public:
  using Measured = std::function<void(const TimedStep&, const StepTime&)>;

  // Records that may be held together, of the last steps and of launches outside of steps.
  explicit StepTimes(std::size_t max_records) : max_records_(max_records) {}

  // Steps may come in any order. `measured` is called for those whose time is known now.
  void add(TimedStep step, const Measured& measured);
  // A kernel that was launched outside of any step while times were taken.
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
