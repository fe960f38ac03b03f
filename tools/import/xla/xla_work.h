// SPDX-License-Identifier: Apache-2.0
// GPU work of JAX and TensorFlow, as their profilers' traces and XPlane files tell it alike:
// kernels and copies with their layers, and the steps that they are in.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/calls/step_ranges.h"
#include "tools/import/records/imported.h"
#include "tools/import/xla/xla_texts.h"
#include "tools/streams/sorted_records.h"

namespace gable {

// From `start_ns` to `end_ns`, which may lie before the zero of the file.
struct XlaTimes {
  std::int64_t start_ns = 0, end_ns = 0;
};

// What a sentence says of a file.
struct XlaFile {
  std::string name;
  const char* kind = "";  // "a trace"
  bool other_device = false;
  std::string why, holds;  // where it has no GPU lane: more about that
};

class XlaWork {
 public:
  explicit XlaWork(Imported& imported) : imported_(imported), asked_(imported.step_range) {}

  // In a lane of a GPU that is a stream or overhead. `process`: as number() gave it.
  void gpu_work(XlaLane lane, std::int32_t device, std::uint32_t process, std::string_view name,
                const XlaTexts& texts, const XlaTimes& times);
  // In the lane of steps of a GPU.
  void step(std::int32_t device, std::string_view name, const XlaTimes& times);
  // In a lane of the host. A call has a correlation.
  void host_event(std::uint32_t process, std::uint32_t thread, std::string_view name,
                  const XlaTexts& texts, const XlaTimes& times);
  // Names of host events matter.
  [[nodiscard]] bool asks_names() const { return asked_.asked(); }
  // A number for the name of a process or thread.
  [[nodiscard]] std::uint32_t number(const std::string& name);

  // After the last event: steps of the kernels and copies. Throws WrongUse where there are none.
  void finish(const XlaFile& file);
  // On which kernels ran, in their order.
  [[nodiscard]] std::vector<std::int32_t> devices() const;

 private:
  // A kernel or copy, set aside until all calls and steps are known.
  struct Placed {
    XlaTimes times;
    std::uint64_t correlation = 0;  // 0: unknown
    std::uint64_t bytes = 0;        // of a copy
    std::uint32_t process = 0;
    std::uint32_t function = 0, shape = 0;  // of a kernel
    LayerId layer = 0;
    std::int32_t device = 0;
    bool kernel = true, sized = false;  // sized: its bytes are known
    CopyKind kind = CopyKind::other;
    HostMemory host = HostMemory::unknown;
  };
  struct Range {
    std::uint32_t thread = 0;
    XlaTimes times;
  };
  struct Call {
    std::uint32_t process = 0;
    std::uint64_t correlation = 0;
    std::int64_t start_ns = 0;
  };
  struct LaneStep {
    std::string name;
    XlaTimes times;
    std::uint32_t step = 0;  // of the report
  };

  [[nodiscard]] LayerId layer_of(const XlaTexts& texts);
  void take_kernel(std::string_view name, const XlaTexts& texts, Placed& work);
  void take_copy(std::string_view name, const XlaTexts& texts, Placed& work);
  void give(const Placed& work);
  void move_times();
  void find_steps(const XlaFile& file);
  void steps_of_ranges(const std::vector<Range>& ranges);
  void steps_of_lanes();
  [[nodiscard]] std::uint32_t step_at(std::int64_t when) const;
  [[nodiscard]] XlaTimes moved(const XlaTimes& times) const;
  [[nodiscard]] std::uint32_t step_of(const Placed& work) const;
  [[nodiscard]] const Call* call_of(const Placed& work) const;

  Imported& imported_;
  StepRanges asked_;                                          // by --step-range
  std::unordered_map<std::string, std::uint32_t> numbers_;    // of processes and threads
  std::unordered_map<std::string, LayerId> layers_;           // by their names
  std::map<std::int32_t, std::vector<LaneStep>> lane_steps_;  // by device
  std::vector<Range> numbered_, named_;
  std::map<std::string, std::uint64_t> ranges_there_;
  std::vector<Call> calls_;
  SortedRecords<Placed, AsTheyCome> works_;
  std::set<std::int32_t> devices_;  // on which kernels ran
  std::int64_t earliest_ns_ = 1;
  std::uint64_t moved_by_ = 0;
  std::vector<XlaTimes> steps_;  // in their order
  bool by_calls_ = false;        // steps are the host's
  std::uint64_t whole_graphs_ = 0;
};

}  // namespace gable
