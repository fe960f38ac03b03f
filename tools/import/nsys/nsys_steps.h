// SPDX-License-Identifier: Apache-2.0
// Records of neighbouring steps from an export of nsys: GPU work is set aside until it is known
// which steps are looked at, and only their calls are read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/calls/nsys_waits.h"
#include "tools/import/nsys/nsys_records.h"
#include "tools/import/records/imported.h"
#include "tools/import/records/step_records.h"

namespace gable {

class NsysSteps {
 public:
  NsysSteps(Imported& imported, const NsysSources& sources)
      : imported_(imported), sources_(sources) {}

  // In the order of their places.
  void add_node(std::uint32_t place, std::uint64_t id) { nodes_.add({place, id}); }
  // In any order; a kernel's step may be 0: it is in none.
  void add(const NsysOperation& operation, const ImportedKernel& kernel);
  void add(const NsysOperation& operation, const ImportedCopy& copy);

  // `read_calls`: the calls of that part of the run, and what is known of their waits and streams.
  void record(const std::vector<ImportedStep>& steps,
              const std::function<TracedSteps(const RecordWindow&)>& read_calls);

 private:
  void add(const NsysOperation& operation, std::uint64_t start_ns, std::uint64_t end_ns,
           LayerId layer);
  void add_to(StepRecordMaker& maker, std::vector<NsysPlaced> wanted);

  Imported& imported_;
  const NsysSources& sources_;
  SortedRecords<NsysPlaced, AsTheyCome> placed_;
  SortedRecords<NsysNode, AsTheyCome> nodes_;
  std::vector<std::uint64_t> sequences_;  // by step
};

// A number that no call of another process has.
[[nodiscard]] inline std::uint64_t nsys_key(std::uint32_t process, std::uint64_t correlation) {
  return (std::uint64_t{process} << 32) | correlation;
}
// And the copy that an operation is, without its place.
[[nodiscard]] CopyRecord nsys_copy(const NsysOperation& operation, const NsysSource& source);

}  // namespace gable
