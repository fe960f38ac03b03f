// SPDX-License-Identifier: Apache-2.0
// Performs a recording as an ordinary program would: real threads, real NVTX headers, the CUDA
// driver API.
#pragma once

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analysis/recording/recording.h"

namespace gable::playback {

// Ends the program where a call that a recording needs fails.
void check(CUresult result, const RecordedOp& op, const char* call);

// How the program shall end, when an operation says so.
struct Ending {
  bool wanted = false;
  int code = 0;
};

// What the operations do; one object for all threads, of which one at a time performs.
class Performer {
 public:
  explicit Performer(const Recording& recording) : recording_(recording) {}
  void perform(const RecordedOp& op);
  void finish();  // the recording has no exit: waits for the GPU, as a program that reads its
                  // results does
  [[nodiscard]] const Ending& ending() const { return ending_; }

 private:
  struct PlayedContext {
    CUcontext handle = nullptr;
    std::map<std::uint32_t, CUstream> streams;
    CUmodule module = nullptr;
    std::map<std::uint32_t, CUfunction> functions;  // by kernel index
  };

  PlayedContext& enter_context(const RecordedOp& op);  // makes it current on this thread
  CUstream stream(PlayedContext& context, std::uint32_t number);
  CUevent event(const RecordedOp& op);
  nvtxDomainHandle_t domain(const std::string& name);
  void initialize();
  void push(const RecordedOp& op);
  void pop(const RecordedOp& op);
  void launch(const RecordedOp& op);
  void graph_launch(const RecordedOp& op);
  void copy(const RecordedOp& op);
  void capture_end(const RecordedOp& op);
  void step();
  void end(const RecordedOp& op);

  const Recording& recording_;
  bool initialized_ = false;
  std::map<std::uint32_t, PlayedContext> contexts_;
  std::map<std::string, nvtxDomainHandle_t> domains_;
  std::map<std::int64_t, std::pair<nvtxDomainHandle_t, nvtxRangeId_t>> started_;
  std::map<std::int64_t, CUevent> events_;
  std::map<std::int64_t, CUgraphExec> graphs_;
  std::map<std::uint64_t, CUgraphExec> line_graphs_;
  Ending ending_;
};

}  // namespace gable::playback
