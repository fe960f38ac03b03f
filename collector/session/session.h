// SPDX-License-Identifier: Apache-2.0
// One process's collection: made when the CUDA driver loads us, never destroyed. Wires CUPTI's
// callbacks to the launch path and to the windows, and keeps the threads that work behind the
// program's back.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/counters/counters.h"
#include "collector/cupti/activity_stream.h"
#include "collector/cupti/cupti_api.h"
#include "collector/cupti/device_query.h"
#include "collector/cupti/launch_calls.h"
#include "collector/cupti/subscription.h"
#include "collector/layers/graph_nodes.h"
#include "collector/layers/launch_filter.h"
#include "collector/metrics/plan.h"
#include "collector/queue/range_choice.h"
#include "collector/queue/snapshot_pace.h"
#include "collector/runtime/event_sink.h"
#include "collector/runtime/runtime.h"
#include "collector/session/background.h"
#include "collector/session/recording_output.h"
#include "collector/session/report_output.h"
#include "collector/windows/windows.h"

namespace gable {

class Session {
 public:
  // Subscribes. Where CUPTI cannot be had, only NVTX ranges are collected, and the reason was said.
  // nullptr when nothing can be.
  static Session* start(Runtime& rt);
  static Session* start(Runtime& rt, CuptiApi api);  // with a CUPTI of the caller's: for benchmarks

  // One step ends, the next begins.
  void step_point(StepPoint point = StepPoint::call) {
    if (!ranges_only_) windows_.step_point(point);
  }
  // The Python side asks at a border whether it is to describe the model in the step that begins;
  // at the next one it says that it has, or why it has not (empty: it has). model_step.cpp
  // Or it asks when a forward begins, with which the step's operators begin.
  [[nodiscard]] bool begin_model(bool forward);
  void end_model(const std::string& why_not);

  // The forward that begins on this thread, in the layer that is open, is one of text generation.
  void count_tokens(std::uint32_t sequences, std::uint32_t per_sequence);

  // Only what runs in between is profiled (on_demand.cpp). Say one sentence where that cannot be.
  void begin_block(const Block& block);
  void end_block() {
    if (!ranges_only_) windows_.end_block();
  }

  // The program ends in its own way: closes what is open, waits a bounded time for records, writes
  // the report. On an application thread, once; later calls do nothing.
  void finish();
  // Another tool, named by its file, wants CUPTI: the same, and then CUPTI is free.
  void leave_to(const std::string& tool);
  // The same from the worker, when a signal is about to end the program: CUPTI is only asked for
  // records.
  void finish_for_signal();
  // The program's end begins on this thread, which takes none of these signals meanwhile: the
  // worker ends the program for one that comes, as soon as the report is written or that takes too
  // long.
  void ends(const sigset_t& held) { background_.watch_for(held); }
  // In a signal handler: has the worker write the report and raise the signal again.
  void signal(int number) { background_.signal_from_handler(number); }
  // In a signal handler: has the worker open a further queue.
  void ask_for_queue() { background_.wake(Background::kQueue); }

 private:
  Session(Runtime& rt, CuptiApi api);
  // Subscribes to the CUPTI at hand, or, where the driver refuses one of our own choice, to the
  // next. Empty, or a sentence that says why not.
  std::string subscribe();
  // What came of it after all, where CUPTI did not return in time.
  void subscribed_late(const std::string& refused);
  void collect();              // subscribed
  void collect_ranges_only();  // nothing is, nor will be

  static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data);
  void on_driver(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
  // graph_path.cpp
  void on_graph(CUpti_CallbackIdResource id, const CUpti_GraphData& data);
  void enter_graph(const CUpti_CallbackData& data);
  GraphNodes::Launched graph_of(const void* exec, std::int32_t device);
  [[nodiscard]] bool can_follow_graphs() const;

  void enter_launch(CUpti_CallbackId id, const CUpti_CallbackData& data);
  bool key_of_launch(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data,
                     LaunchEvent& launch, const void*& stream);
  [[nodiscard]] bool may_wait_for_ranks() const {
    return collective_.load(std::memory_order_relaxed) || windows_.communicator_seen();
  }
  void exit_launch(const CUpti_CallbackData& data);
  void end_launch(ThreadState& thread, const CUpti_CallbackData& data);
  void launched_beside_capture(ThreadState& thread, std::uint32_t correlation);
  // wait_path.cpp
  void enter_wait(ThreadState& thread);
  void exit_wait(ThreadState& thread);
  void call_after_wait(ThreadState& thread, const LaunchEvent& launch);

  void enter_other(CallKind kind, const CUpti_CallbackData& data);
  void exit_other(CallKind kind, const CUpti_CallbackData& data);
  void follow_capture(CallKind kind, const CUpti_CallbackData& data);
  FunctionId function_of(ThreadState& thread, const void* handle, const char* symbol);
  Counters::Place place_of(ThreadState& thread, const CUpti_CallbackData& data,
                           std::int32_t& device);

  // --- behind the program's back (background.cpp calls these) ---
  friend class Background;
  void make_plan();
  MetricPlan plan_of(const std::string& chip);
  const MetricPlan* wait_for_plan();
  const MetricPlan* known_plan();  // nullptr: it is not made yet
  void wait_for_devices();
  bool collect_records();  // false: another thread has been at it for too long
  // session_end.cpp
  bool await_records(std::chrono::milliseconds look_again, const std::function<bool()>& stop,
                     const std::function<bool()>& given_up);
  bool await_last_records();
  void end_collection();  // after the queue: waits for records, writes the report, lets go of CUPTI
  bool write_report(bool complete);
  // On the worker, often: a snapshot of the report where it is time for one.
  void write_snapshot();
  SnapshotContent content_so_far();
  // on_demand.cpp
  std::string answer_request(const std::string& line);
  // Empty, or a sentence that says why not.
  std::string open_queue(const Schedule& schedule);
  void check_progress();
  bool claim_end();
  void write_end();

  Runtime& rt_;
  CuptiApi api_;  // nobody changes it once there is a subscription
  const DriverCalls driver_;
  Subscription subscription_;
  const std::chrono::milliseconds stall_patience_;
  // CUPTI could not be had. While it has not returned from the start nothing is collected; after a
  // while ranges are, whatever comes of it.
  std::atomic<bool> ranges_only_{false};
  enum class Start : std::uint8_t { under_way, waits, came_late, over };
  std::atomic<Start> start_{Start::under_way};
  std::atomic<std::uint64_t> waits_since_ns_{0};
  EventSink sink_;
  LaunchFilter filter_;
  GraphNodes graph_nodes_;
  ActivityStream activity_;
  const RangeChoice range_choice_;
  Counters counters_;
  Windows windows_;
  ReportOutput output_;
  RecordingOutput recording_;
  Background background_;
  SnapshotPace snapshots_;  // the worker's alone

  // One thread at a time, from reading CUPTI's buffers until their records are added; the mutex is
  // held for the flag alone.
  Mutex records_mutex_;
  Condition records_read_;
  bool reading_records_ GABLE_GUARDED_BY(records_mutex_) = false;
  std::atomic<std::uint64_t> records_{0};  // that were read so far
  std::atomic<bool> finished_{false};
  std::atomic<bool> ended_{false};     // finish() has written what there is
  std::atomic<bool> complete_{false};  // the queue is, and its report was written
  std::atomic<bool> saw_context_{false};
  std::atomic<std::uint32_t> unload_epoch_{1};
  std::atomic<FunctionId> functions_seen_{1};
  std::atomic<bool> collective_{false};  // a kernel that may wait for other ranks was launched

  Mutex plan_mutex_;  // guards the plan; CUPTI is never called while it is held
  Condition plan_made_;
  bool plan_done_ GABLE_GUARDED_BY(plan_mutex_) = false;
  bool devices_known_ GABLE_GUARDED_BY(plan_mutex_) = false;
  MetricPlan plan_ GABLE_GUARDED_BY(plan_mutex_);
};

}  // namespace gable
