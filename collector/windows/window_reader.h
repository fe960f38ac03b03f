// SPDX-License-Identifier: Apache-2.0
// Reads the counters of ended windows and tells the queue the outcome, on the thread whose turn it
// is to change CUPTI.
#pragma once

#include <functional>

#include "collector/counters/counters.h"
#include "collector/windows/counting_fallback.h"
#include "collector/windows/record_clock.h"
#include "collector/windows/step_borders.h"
#include "collector/windows/window_queue.h"

namespace gable {

class WindowReader {
 public:
  struct Hooks {
    std::function<const MetricPlan*()> plan;        // returns nullptr if there is no plan
    std::function<bool(const LaunchKey&)> counted;  // keys that LaunchFilter selects; empty: all
  };
  WindowReader(Runtime& rt, EventSink& sink, Counters& counters, WindowQueue& queue,
               StepBorders& borders, CountingFallback& fallback, RecordClock& clock, Hooks hooks);

  // Reads a window; one that cannot be kept is collected again.
  void read(EndedWindow window);

 private:
  [[nodiscard]] ProgressQuery judge(EndedWindow& window, CountersOutcome& outcome);
  [[nodiscard]] KeyNeeds add(const EndedWindow& window, const CountersOutcome& outcome,
                             const ProgressQuery& query);
  void was_read(const EndedWindow& window, const CountersOutcome& outcome, const KeyNeeds& needs);
  void say_graphs_are_left_out();
  void forget_unpatched(const EndedWindow& window, CountersOutcome& outcome);

  Runtime& rt_;
  EventSink& sink_;
  Counters& counters_;
  WindowQueue& queue_;
  StepBorders& borders_;
  CountingFallback& fallback_;
  RecordClock& clock_;
  const Hooks hooks_;
  bool graphs_left_out_ = false;  // CUPTI made no ranges of graphs; used by one thread at a time
};

}  // namespace gable
