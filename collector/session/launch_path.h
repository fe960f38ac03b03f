// SPDX-License-Identifier: Apache-2.0
// A launch on its way, from the driver call's ENTER to its EXIT: what is launched in which layer,
// which window it belongs to, its counter range, and the event that is made of it.
//
// Everything here runs within the program's own driver calls, on the thread that launches.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "collector/cupti/launch_calls.h"
#include "collector/layers/thread_state.h"
#include "collector/session/collection.h"
#include "collector/session/metric_planner.h"
#include "collector/session/report_output.h"
#include "collector/session/step_calls.h"
#include "collector/session/wait_path.h"

namespace gable {

class LaunchPath {
 public:
  LaunchPath(Collection& collection, MetricPlanner& planner, ReportOutput& output, WaitPath& waits,
             StepCalls& calls)
      : c_(collection), planner_(planner), output_(output), waits_(waits), calls_(calls) {}

  // ENTER of one kernel's launch.
  void enter(CUpti_CallbackId id, const CUpti_CallbackData& data);
  // EXIT of the launch of a kernel or a graph.
  void exit(CUpti_CallbackId id, const CUpti_CallbackData& data);

  // --- what launches of kernels and of graphs have in common
  // Handles the borders that the launch causes and returns the window it belongs to; nothing if
  // measuring ended at this launch, which then belongs to no step. From here to exit() nothing in
  // CUPTI is started or stopped.
  [[nodiscard]] std::optional<Windows::Entered> enter_window(
      ThreadState& thread, const Counters::Place& place, const LaunchKey& key,
      std::uint32_t correlation, std::uint32_t kernels = 1, bool graph = false) {
    auto& hot = c_.rt.hot;
    planner_.saw_gpu();
    output_.saw_launch();
    c_.windows.at_launch(thread, key, kernels);
    // Launches in the step where measuring ended are ignored.
    if (c_.windows.steps_known() && !hot.watching.load(std::memory_order_relaxed))
      return std::nullopt;
    if (hot.counters.load(std::memory_order_relaxed) && may_wait_for_ranks())
      c_.windows.before_collective();
    if (graph) c_.windows.before_graph();
    return c_.windows.enter(thread, place, correlation);
  }
  // The context of a call and its GPU, without the stream.
  [[nodiscard]] Counters::Place place_of(ThreadState& thread, const CUpti_CallbackData& data) {
    const auto& known = thread.context;
    if (known.context != data.context || known.uid != data.contextUid) look_up_device(thread, data);
    return {data.context, data.contextUid, known.device};
  }
  // One more than the number of functions launched so far.
  [[nodiscard]] FunctionId functions_seen() const {
    return functions_seen_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool can_follow_graphs() const {
    return c_.api.cuptiGetGraphNodeId != nullptr && c_.api.cuptiGetGraphId != nullptr &&
           c_.api.cuptiGetGraphExecId != nullptr;
  }

 private:
  void look_up_device(ThreadState& thread, const CUpti_CallbackData& data);
  [[nodiscard]] FunctionId function_of(ThreadState& thread, const void* handle, const char* symbol);
  bool decode(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data,
              LaunchEvent& launch, Counters::Place& place);
  [[nodiscard]] bool may_wait_for_ranks() const {
    return collective_.load(std::memory_order_relaxed) || c_.windows.communicator_seen();
  }
  void tell_message(ThreadState& thread, const Event& launch, const char* symbol);
  void enter_captured(ThreadState& thread, const LaunchEvent& launch);
  void exit_captured(ThreadState& thread, const CUpti_CallbackData& data, bool launched);
  void exit_ranged(ThreadState& thread, const CUpti_CallbackData& data, bool launched);

  Collection& c_;
  MetricPlanner& planner_;
  ReportOutput& output_;
  WaitPath& waits_;
  StepCalls& calls_;
  std::atomic<FunctionId> functions_seen_{1};
  std::atomic<bool> collective_{false};  // a kernel that may wait for other ranks was launched
};

}  // namespace gable
