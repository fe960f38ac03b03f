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
  // Subscribes. Without CUPTI, reports the reason and collects only NVTX ranges; returns nullptr if
  // nothing can be collected.
  static Session* start(Runtime& rt);
  static Session* start(Runtime& rt, CuptiApi api);  // with the caller's CUPTI, for benchmarks

  // --- what the program says of itself
  // Ends one step and begins the next. `anew`: as in StepBorders.
  void step_point(StepPoint point = StepPoint::call, bool anew = false) {
    if (!c_.ranges_only) c_.windows.step_point(point, anew);
  }
  // Returns whether the Python side should describe the model in the step that begins. It asks at a
  // border, or, with `forward`, when a forward pass begins and with it the step's operators. At the
  // next border it calls end_model() with the reason why it did not (empty if it did).
  [[nodiscard]] bool begin_model(bool forward);
  void end_model(const std::string& why_not);
  // Says that the forward pass beginning on this thread, in the open layer, generates text.
  void count_tokens(std::uint32_t sequences, std::uint32_t per_sequence);
  // Says that this thread begins to fetch the program's next input. Returns false if that is not
  // recorded or already begun; then no end may follow.
  [[nodiscard]] bool begin_input() { return callbacks_.calls().begin_input(); }
  void end_input() { callbacks_.calls().end_input(); }
  // Restrict profiling to what runs between the two; report one sentence if that is impossible.
  void begin_block(const Block& block);
  void end_block();
  // Whether the queue is complete and its report written, if it has one.
  [[nodiscard]] bool is_complete() const { return c_.ranges_only || ending_.complete(); }

  // --- the end
  // Ends with the program, on an application thread; later calls do nothing.
  void finish() { ending_.with_program(); }
  // Does the same and releases CUPTI, for another tool that wants it; `tool`: its file.
  void leave_to(const std::string& tool);
  // Says that the program's end begins on this thread, which blocks the signals in `held`: if one
  // comes, the worker ends the program once the report is written or takes too long.
  void ends(const sigset_t& held) { worker_.watch_for(held); }

  // --- in a signal handler
  // Has the worker write the report and raise the signal again.
  void signal(int number) { worker_.signal_from_handler(number); }
  // Has the worker open a further queue.
  void ask_for_queue() { worker_.wake(Worker::Command::signal_queue); }

 private:
  // State of the subscription. Until CUPTI returns from it nothing is collected; after a while
  // ranges are collected in any case.
  enum class Start : std::uint8_t { under_way, waits, came_late, over };

  Session(Runtime& rt, CuptiApi api);
  Windows::Hooks hooks();
  // Subscribes to the current CUPTI or, if the driver refuses one that Gable chose, to the next.
  // Returns an empty text or a sentence that says why not.
  std::string subscribe();
  // Takes the late result of a subscription that did not return in time.
  void subscribed_late(const std::string& refused);
  void began(const std::string& refused);
  void collect();              // after subscribing
  void collect_ranges_only();  // without a subscription
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
  // Used only by the worker.
  const std::chrono::milliseconds stall_patience_;
  std::uint64_t last_flush_ns_, last_look_ns_;
};

}  // namespace gable
