// SPDX-License-Identifier: Apache-2.0
// A queue of windows by itself: the test opens and closes them, and makes CUPTI follow.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "collector/windows/window_queue.h"
#include "tests/unit/collector/script/run_on_script.h"

namespace gable {

class QueueAlone {
 public:
  explicit QueueAlone(const std::string& options) : run(options), queue(make()) {}

  // A letter for the phase of the window that is open.
  [[nodiscard]] char phase() {
    const MutexLock hold(queue.mutex());
    if (!queue.state().in_window()) return '-';
    switch (queue.state().phase().kind) {
      case PhaseKind::wait:
        return 'w';
      case PhaseKind::warmup:
        return 'u';
      case PhaseKind::hw:
        return 'h';
      case PhaseKind::flops:
        return 'f';
      case PhaseKind::time:
        return 't';
      case PhaseKind::off:
        break;
    }
    return '?';
  }
  void begin(std::uint64_t at) {
    const MutexLock hold(queue.mutex());
    queue.begin_window(at);
  }
  void follow() {
    const MutexLock hold(queue.mutex());
    queue.settled(queue.asked(), false, 0, 0);
  }
  void launch(FunctionId function = 1) {
    Event event;
    event.step = run.rt.hot.step.load();
    event.launch.key.function = function;
    run.c.sink.emit(this_thread(), event);
  }
  void end(std::uint64_t at, const std::string& spoilt = {}) {
    const MutexLock hold(queue.mutex());
    queue.end_window(at, spoilt);
  }
  // The window that ended last, where it had counters: it counts as read.
  EndedWindow read() {
    const MutexLock hold(queue.mutex());
    auto ended = queue.take_ended();
    if (ended.empty()) return {};
    EXPECT_TRUE(queue.state().read_one());
    if (ended.back().end.keep) queue.was_read(ended.back(), {});
    return ended.back();
  }
  char step(int launches = 1) {
    begin(now += 1000);
    const char which = phase();
    follow();
    for (int i = 0; i < launches; ++i) launch();
    end(now += 1000);
    (void)read();
    return which;
  }
  std::string steps(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += step();
    return text;
  }
  void start_over(Border border, bool repeats = false) {
    const MutexLock hold(queue.mutex());
    queue.start_over(border, repeats, now, "");
  }
  WindowQueue::Counts counts() {
    const MutexLock hold(queue.mutex());
    return queue.counts();
  }

  RunOnScript run;
  std::uint64_t now = 1'000'000;
  bool plan = true, looks_on = false, may_return = false;
  int records_wanted = 0;
  WindowQueue queue;

 private:
  WindowQueue make() {
    const auto known = [this] { return plan ? &run.plan : nullptr; };
    return {run.rt,
            run.c.sink,
            run.c.activity,
            {.wait_for_plan = known,
             .known_plan = known,
             .records_wanted = [this] { ++records_wanted; },
             .counted = {},
             .looks_on = [this] { return looks_on; },
             .may_return = [this] { return may_return; }},
            RangeMode::user};
  }
};

}  // namespace gable
