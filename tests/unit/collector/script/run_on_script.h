// SPDX-License-Identifier: Apache-2.0
// A run as Session puts it together, on a CUPTI of test functions: the test says which driver calls
// the program makes, and looks at the report. No GPU, no playback, no thread of Gable's. One at a
// time.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "collector/session/callbacks.h"
#include "collector/session/collection.h"
#include "collector/session/ending.h"
#include "collector/session/metric_planner.h"
#include "collector/session/records.h"
#include "collector/session/reports.h"
#include "tests/unit/collector/script/scripted_cupti.h"

namespace gable {

class RunOnScript {
 public:
  // `options` as after `gable profile`. Kernels have two hardware counters and one of FLOPs.
  explicit RunOnScript(const std::string& options);
  ~RunOnScript();
  RunOnScript(const RunOnScript&) = delete;
  RunOnScript& operator=(const RunOnScript&) = delete;

  // --- what the program does
  void launch(const std::string& kernel, std::uint32_t blocks = 1);
  // The same in two halves: what happens in between happens within the driver's call.
  void enter_launch(const std::string& kernel, std::uint32_t blocks = 1);
  void exit_launch(CUresult result = CUDA_SUCCESS);
  // A whole step of such launches, ended by gable_step().
  void step(const std::vector<std::string>& kernels);
  void steps(int count, const std::vector<std::string>& kernels) {
    for (int i = 0; i < count; ++i) step(kernels);
  }
  void call(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* parameters = nullptr);
  void resource(CUpti_CallbackIdResource id, const void* descriptor);
  void push(const std::string& range);
  void pop();

  // --- what comes of it
  // With the records that CUPTI holds, as at the program's end.
  [[nodiscard]] Report report();
  // Of one kernel by its symbol; a row without a name where there is none.
  [[nodiscard]] KernelRow kernel(const std::string& symbol);
  [[nodiscard]] std::string layer_of(const KernelRow& row);
  [[nodiscard]] bool said(const std::string& part);  // of a sentence
  // Of the step that is open.
  [[nodiscard]] std::uint64_t launches_in_step() {
    return c.sink.summary(rt.hot.step.load()).launches;
  }
  // The records that CUPTI holds never come.
  void forget_records() { pending_.clear(); }
  [[nodiscard]] bool over() const { return over_; }

 private:
  const std::string report_path_;

 public:
  std::uint64_t clock_ns = 1'000'000;  // of CUPTI; goes on by a microsecond with every look
  std::uint64_t kernel_ns = 500;

  ScriptedCupti cupti;
  Runtime rt;
  MetricPlan plan;
  Collection c;
  Subscription subscription;
  Records records;
  Reports reports;
  MetricPlanner planner;
  Flusher& flusher;  // its thread never ends
  Callbacks callbacks;
  Ending ending;

 private:
  friend struct RunCalls;
  [[nodiscard]] CuptiApi api();
  [[nodiscard]] Windows::Hooks hooks();
  void hand_out_records();

  struct Record {
    std::uint32_t correlation;
    std::uint64_t start_ns, end_ns;
    std::string name;
  };
  std::vector<Record> pending_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  bool recording_ = false;
  bool over_ = false;
  std::uint32_t correlation_ = 0;
  // Of the launch that is under way.
  CUpti_CallbackData launch_{};
  cuLaunchKernel_params parameters_{};
  std::vector<std::string> names_;  // kernels, each with its place for a handle
};

}  // namespace gable
