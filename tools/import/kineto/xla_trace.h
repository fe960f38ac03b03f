// SPDX-License-Identifier: Apache-2.0
// Traces of JAX's and TensorFlow's profiler: events have no category. What they are is told by the
// names of their processes (devices) and threads (lanes), which come first.
#pragma once

#include <string>
#include <unordered_map>

#include "tools/import/kineto/trace_event.h"
#include "tools/import/records/imported.h"
#include "tools/import/xla/xla_work.h"

namespace gable {

class XlaTrace {
 public:
  explicit XlaTrace(Imported& imported) : imported_(imported), work_(imported) {}

  // The name of a process or a thread.
  void name(const TraceEvent& event);
  // An event without a category.
  void take(const TraceEvent& event);
  // It has processes as these profilers name them.
  [[nodiscard]] bool found() const { return found_; }
  // After the last event: layers and steps of the kernels and copies. Throws WrongUse where there
  // are none. `file`: its name.
  void finish(const std::string& file);

 private:
  struct Place {
    XlaPlace named;
    std::uint32_t process = 0;
  };

  Imported& imported_;
  XlaWork work_;
  std::unordered_map<std::string, Place> places_;   // by process
  std::unordered_map<std::string, XlaLane> lanes_;  // by process and thread
  std::uint64_t events_ = 0;
  bool found_ = false, gpu_ = false, other_device_ = false;
};

}  // namespace gable
