// SPDX-License-Identifier: Apache-2.0
// Dispatches CUPTI's callbacks to the code for each kind of call. Everything here runs within the
// program's own driver calls; no exception leaves.
#pragma once

#include "collector/cupti/launch_calls.h"
#include "collector/session/collection.h"
#include "collector/session/flusher.h"
#include "collector/session/graph_path.h"
#include "collector/session/launch_path.h"
#include "collector/session/wait_path.h"

namespace gable {

class Callbacks {
 public:
  Callbacks(Collection& collection, MetricPlanner& planner, ReportOutput& output, Flusher& flusher);

  // The callback for CUPTI; `self` is this object.
  static void CUPTIAPI entry(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* data);
  [[nodiscard]] const LaunchPath& launches() const { return launches_; }
  [[nodiscard]] StepCalls& calls() { return calls_; }

 private:
  void on_driver(CUpti_CallbackId id, const CUpti_CallbackData& data);
  void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data);
  // Where the kernels of a module that is loaded are written.
  void tell_places(const CUpti_ModuleResourceData& module);
  void after_queue(CallKind kind, const CUpti_CallbackData& data);
  void enter_other(CallKind kind, const CUpti_CallbackData& data);
  void exit_other(CallKind kind, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void enter_copy(ThreadState& thread, const CUpti_CallbackData& data);
  void follow_capture(CallKind kind, const CUpti_CallbackData& data);

  Collection& c_;
  MetricPlanner& planner_;
  Flusher& flusher_;
  WaitPath waits_;
  StepCalls calls_;
  LaunchPath launches_;
  GraphPath graphs_;
};

}  // namespace gable
