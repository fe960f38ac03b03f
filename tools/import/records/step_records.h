// SPDX-License-Identifier: Apache-2.0
// What a reader's calls add to an import: records of neighbouring steps, and the time in calls
// that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
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

class StepRecords {
 public:
  // Kernels and copies from these places on are the reader's, and know their layers and steps.
  StepRecords(Imported& imported, std::size_t first_kernel, std::size_t first_copy)
      : imported_(imported), first_kernel_(first_kernel), first_copy_(first_copy) {}

  // None where there are fewer than three steps.
  [[nodiscard]] std::vector<RecordWindow> windows(const std::vector<ImportedStep>& steps) const;

  // `steps`: all but the operations, which are those of its calls. `origin`: of a kernel (true) or
  // copy (false) by its place after the reader's first.
  void add(TracedSteps steps, const std::function<WorkOrigin(bool, std::size_t)>& origin);

 private:
  Imported& imported_;
  std::size_t first_kernel_, first_copy_;
};

// What is said of work that was launched before the recording began, which is the end of a step
// that the file does not have. `one`, `many`: "kernel", "kernels".
[[nodiscard]] std::string early_note(std::uint64_t count, const std::string& one,
                                     const std::string& many, bool steps);

// The steps of ranges that the user named. Throws WrongUse where there is none, and says which
// ranges there are.
[[nodiscard]] std::vector<ImportedStep> steps_of_ranges(const StepRanges& ranges,
                                                        const RangeNest& nest,
                                                        const std::string& file,
                                                        const std::string& regex);

// The time in synchronising calls, by the layer that was open on their thread. Of a call within
// another the outer one counts. `nest` is nested.
void add_waits(std::vector<TracedCall> waits, const RangeNest& nest,
               const std::function<std::uint32_t(std::uint64_t)>& step_at, Imported& imported);

}  // namespace gable
