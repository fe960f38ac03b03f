// SPDX-License-Identifier: Apache-2.0
// Where the GPU work of a trace was launched: in which range and step, and by which call. Found
// through the call with the work's number, else through the operator with it.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/import/kineto/kineto_calls.h"
#include "tools/import/kineto/traced_work.h"
#include "tools/import/records/imported.h"
#include "tools/import/records/range_nest.h"

namespace gable {

class LaunchPlaces {
 public:
  static constexpr std::uint32_t kNone = RangeNest::kNone;
  struct Place {
    std::uint32_t range = kNone, step = 0;
    std::uint32_t call = kNone;  // index among the calls
    bool known = false, left_out = false;
  };

  // `nest`: of the trace's ranges. `steps`: the trace's, sorted by the time finish() is called.
  LaunchPlaces(const RangeNest& nest, const std::vector<ImportedStep>& steps)
      : nest_(nest), steps_(steps) {}

  // A call of the runtime or the driver; `numbered`: it has a correlation, not an external id
  // alone.
  void add_call(const TracedCall& call, std::uint32_t process, bool numbered);
  // Adds an operator whose number its GPU work may share.
  void add_operator(std::uint64_t external, std::uint32_t thread, std::uint64_t start_ns);
  // Shifts the times of all that was added and of the work looked up later.
  void move(std::uint64_t by_ns);
  // Called after the last addition, when the ranges are nested.
  void finish();

  [[nodiscard]] const std::vector<TracedCall>& calls() const { return calls_.all(); }
  // The number of the call that launched the work.
  [[nodiscard]] std::uint64_t number_of(const TracedWork& work) const {
    return external_is_call_ ? work.external : work.correlation;
  }
  // The places of the works, in their order.
  [[nodiscard]] std::vector<Place> of(TracedWorks& works);
  // Called after the last of(), to free memory.
  void forget_operators() { decltype(externals_)().swap(externals_); }
  // After of() for all: marks what was launched before the recording began, which is the end of a
  // step that is not in the file. A file without steps keeps it. How many these are.
  std::uint64_t leave_out_early(TracedWorks& works, std::vector<Place>& places) const;

 private:
  void number_calls();
  [[nodiscard]] bool is_of_operator(const TracedCall& call) const;
  Place place_of(const TracedWork& work);

  const RangeNest& nest_;
  const std::vector<ImportedStep>& steps_;
  KinetoCalls calls_;
  std::vector<std::pair<TracedCall, std::uint32_t>> unnumbered_;  // have an external id alone
  bool external_is_call_ = false;                                 // and it is the call's own
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> externals_;  // thread, start
  std::uint64_t moved_by_ = 0;
};

// take(work, place) for all that is not left out.
template <typename Take>
void each_kept(TracedWorks& works, const std::vector<LaunchPlaces::Place>& places, Take take) {
  std::size_t i = 0;
  for (auto* each = works.first(); each != nullptr; each = works.next())
    if (const LaunchPlaces::Place& place = places[i++]; !place.left_out) take(*each, place);
}

}  // namespace gable
