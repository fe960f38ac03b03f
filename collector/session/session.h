// SPDX-License-Identifier: Apache-2.0
// One process's collection: made when the CUDA driver loads us, never destroyed. Subscribes to
// CUPTI, puts the parts of the run together, and is what the entries of the library call.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

#include "collector/cupti/subscription.h"
#include "collector/session/callbacks.h"
#include "collector/session/collection.h"
#include "collector/session/ending.h"
#include "collector/session/flusher.h"
#include "collector/session/metric_planner.h"
#include "collector/session/on_demand.h"
#include "collector/session/records.h"
#include "collector/session/reports.h"
#include "collector/session/worker.h"

namespace gable {

class Session final : private WorkerTasks {
 public:
  // Subscribes. Where CUPTI cannot be had, only NVTX ranges are collected, and the reason was said.
  // nullptr when nothing can be.
  static Session* start(Runtime& rt);
  static Session* start(Runtime& rt, CuptiApi api);  // with a CUPTI of the caller's: for benchmarks

  // --- what the program says of itself
  // One step ends, the next begins.
  void step_point(StepPoint point = StepPoint::call) {
    if (!c_.ranges_only) c_.windows.step_point(point);
  }
  // The Python side asks at a border whether it is to describe the model in the step that begins;
  // at the next one it says that it has, or why it has not (empty: it has). Or it asks when a
  // forward begins, with which the step's operators begin.
  [[nodiscard]] bool begin_model(bool forward);
  void end_model(const std::string& why_not);
  // The forward that begins on this thread, in the layer that is open, is one of text generation.
  void count_tokens(std::uint32_t sequences, std::uint32_t per_sequence);
  // This thread fetches the program's next input, until the end of it. False: that is not recorded,
  // or is already, and no end is to come.
  [[nodiscard]] bool begin_input() { return callbacks_.calls().begin_input(); }
  void end_input() { callbacks_.calls().end_input(); }
  // Only what runs in between is profiled. Say one sentence where that cannot be.
  void begin_block(const Block& block);
  void end_block() {
    if (!c_.ranges_only) c_.windows.end_block();
  }

  // --- the end
  // The program ends in its own way. On an application thread; later calls do nothing.
  void finish() { ending_.with_program(); }
  // Another tool, named by its file, wants CUPTI: the same, and then CUPTI is free.
  void leave_to(const std::string& tool);
  // The program's end begins on this thread, which takes none of these signals meanwhile: the
  // worker ends the program for one that comes, as soon as the report is written or that takes too
  // long.
  void ends(const sigset_t& held) { worker_.watch_for(held); }

  // --- in a signal handler
  // Has the worker write the report and raise the signal again.
  void signal(int number) { worker_.signal_from_handler(number); }
  // Has the worker open a further queue.
  void ask_for_queue() { worker_.wake(Worker::Command::signal_queue); }

 private:
  // What became of the subscription. While CUPTI has not returned from it nothing is collected;
  // after a while ranges are, whatever comes of it.
  enum class Start : std::uint8_t { under_way, waits, came_late, over };

  Session(Runtime& rt, CuptiApi api);
  Windows::Hooks hooks();
  // Subscribes to the CUPTI at hand, or, where the driver refuses one of our own choice, to the
  // next. Empty, or a sentence that says why not.
  std::string subscribe();
  // What came of it after all, where CUPTI did not return in time.
  void subscribed_late(const std::string& refused);
  void began(const std::string& refused);
  void collect();              // subscribed
  void collect_ranges_only();  // nothing is, nor will be
  void look_at_start();

  // --- WorkerTasks
  void make_plan() override { planner_.make(); }
  void end_queue() override { ending_.with_queue(); }
  std::string open_queue(const Schedule& schedule) override { return on_demand_.open(schedule); }
  std::string answer(const std::string& line) override { return on_demand_.answer(line); }
  void tend() override;
  void end_program() override { finish(); }
  void end_for_signal() override { ending_.for_signal(); }
  [[nodiscard]] bool ending() const override { return ending_.begun(); }

  Collection c_;
  Subscription subscription_;
  Worker worker_;
  Flusher flusher_;
  Records records_;
  Reports reports_;
  MetricPlanner planner_;
  Callbacks callbacks_;
  Ending ending_;
  OnDemand on_demand_;

  std::atomic<Start> start_{Start::under_way};
  std::atomic<std::uint64_t> waits_since_ns_{0};
  // The worker's alone.
  const std::chrono::milliseconds stall_patience_;
  std::uint64_t last_flush_ns_, last_look_ns_;
};

}  // namespace gable
