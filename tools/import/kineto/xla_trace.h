// SPDX-License-Identifier: Apache-2.0
// Traces of JAX's and TensorFlow's profiler: events have no category. What they are is told by the
// names of their processes (devices) and threads (lanes), which come first.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "tools/import/kineto/trace_event.h"
#include "tools/import/records/imported.h"

namespace gable {

class XlaTrace {
 public:
  explicit XlaTrace(Imported& imported) : imported_(imported) {}

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
  enum class Lane : std::uint8_t { other, stream, steps };
  [[nodiscard]] LayerId layer_of(const TraceEvent& event);
  void take_kernel(const TraceEvent& event, std::int32_t device);
  void take_copy(const TraceEvent& event, std::int32_t device);

  Imported& imported_;
  std::unordered_map<std::string, std::int32_t> devices_;  // by process
  std::unordered_map<std::string, Lane> lanes_;            // by process and thread
  std::unordered_map<std::string, LayerId> layers_;        // by their names
  std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> steps_;  // by device
  // Their times are the trace's, and wrap below its zero.
  std::vector<ImportedKernel> kernels_;
  std::vector<ImportedCopy> copies_;
  std::uint64_t events_ = 0;
  bool found_ = false, other_device_ = false;
};

}  // namespace gable
