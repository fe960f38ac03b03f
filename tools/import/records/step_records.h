// SPDX-License-Identifier: Apache-2.0
// What a reader's calls add to an import: records of neighbouring steps, and the time in calls
// that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/calls/recorded_calls.h"
#include "tools/calls/step_ranges.h"
#include "tools/import/records/imported.h"
#include "tools/import/records/range_nest.h"

namespace gable {

// Where GPU work ran, and which call it is of.
struct WorkOrigin {
  std::uint64_t correlation = 0, graph_node = 0;
  std::uint64_t stream = 0;
  std::uint32_t context = 0;
};

// The part of a run that one record is made of: the starts of three steps, then the end of the
// last.
struct RecordWindow {
  std::vector<std::uint64_t> starts;
  [[nodiscard]] bool holds(std::uint64_t when) const {
    return when >= starts.front() && when < starts.back();
  }
};

// None where there are fewer than three steps. `sequences`: of each step the sum of work_hash() of
// its kernels: those of several streams start in any order, and what counts is which there are.
[[nodiscard]] std::vector<RecordWindow> record_windows(const std::vector<std::uint64_t>& sequences,
                                                       const std::vector<ImportedStep>& steps);
[[nodiscard]] std::uint64_t work_hash(const ImportedKernel& kernel);

// One record of neighbouring steps, made of their calls and the work that came of them.
class StepRecordMaker {
 public:
  // `steps`: all but the operations.
  StepRecordMaker(Imported& imported, TracedSteps steps);
  // Whether work is of one of the calls. Only such is to be added, in its order in the file.
  [[nodiscard]] bool wants(std::uint64_t correlation) const {
    return called_.contains(correlation);
  }
  void add(const ImportedKernel& kernel, const WorkOrigin& origin);
  void add(const ImportedCopy& copy, const WorkOrigin& origin);
  void finish();

 private:
  // Function or kind, shape, layer, device and bytes: what is alike does the same work.
  using Key = std::tuple<std::uint32_t, std::uint32_t, LayerId, std::int32_t, std::uint64_t>;
  TracedOperation& operation(const WorkOrigin& origin, std::uint64_t start_ns, std::uint64_t end_ns,
                             std::int32_t device);
  std::uint32_t work(const Key& key, const RecordedWork& work);

  Imported& imported_;
  TracedSteps steps_;
  bool too_many_;
  std::unordered_set<std::uint64_t> called_;
  std::map<Key, std::uint32_t> keys_;
  std::unordered_map<FunctionId, bool> collective_;
};

// What is said of work that was launched before the recording began, which is the end of a step
// that the file does not have. `one`, `many`: "kernel", "kernels".
[[nodiscard]] std::string early_note(std::uint64_t count, const std::string& one,
                                     const std::string& many, bool steps);

// Numbers differ from step to step.
[[nodiscard]] std::string name_without_digits(std::string_view name);

// The end of the sentence that a file has no range of the name that was asked for: those that come
// most often, by their names without digits.
[[nodiscard]] std::string ranges_to_take(const std::map<std::string, std::uint64_t>& counts);

// The steps of ranges that the user named. Throws WrongUse where there is none, and says which
// ranges there are: `outer` tells how often each name is that of a range with at most one around
// it.
[[nodiscard]] std::vector<ImportedStep> steps_of_ranges(
    const StepRanges& ranges, const std::function<std::map<std::string, std::uint64_t>()>& outer,
    const std::string& file, const std::string& regex);
// As steps_of_ranges() asks for it.
[[nodiscard]] std::map<std::string, std::uint64_t> outer_names(const RangeNest& nest);
// The step at that time; 0: none. `steps` are in their order.
[[nodiscard]] std::uint32_t step_at(const std::vector<ImportedStep>& steps, std::uint64_t when_ns);

// The time in synchronising calls, by the layer that was open on their thread. Of a call within
// another the outer one counts. `nest` is nested.
void add_waits(std::vector<TracedCall> waits, const RangeNest& nest,
               const std::function<std::uint32_t(std::uint64_t)>& step_at, Imported& imported);

}  // namespace gable
