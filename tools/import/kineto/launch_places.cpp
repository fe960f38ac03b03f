// SPDX-License-Identifier: Apache-2.0
#include "tools/import/kineto/launch_places.h"

#include <algorithm>

#include "tools/import/records/step_records.h"

namespace gable {

void LaunchPlaces::add_call(const TracedCall& call, std::uint32_t process, bool numbered) {
  if (numbered)
    calls_.add(call, process);
  else
    unnumbered_.emplace_back(call, process);
}

void LaunchPlaces::add_operator(std::uint64_t external, std::uint32_t thread,
                                std::uint64_t start_ns) {
  externals_.emplace_back(external, thread, start_ns);
}

void LaunchPlaces::move(std::uint64_t by_ns) {
  moved_by_ = by_ns;
  for (TracedCall& call : calls_.all()) call.start_ns += by_ns;
  for (auto& [call, process] : unnumbered_) call.start_ns += by_ns;
  for (auto& [id, thread, start] : externals_) start += by_ns;
}

void LaunchPlaces::finish() {
  std::sort(externals_.begin(), externals_.end());
  number_calls();
  calls_.sort();
}

// AMD's older profiler has no "correlation". Its "External id" is that of the call, where others'
// is that of the operator around it.
void LaunchPlaces::number_calls() {
  if (calls_.all().empty()) {
    std::size_t launches = 0, of_operators = 0;
    for (const auto& [call, process] : unnumbered_) {
      if (call.what != CallName::launch) continue;
      ++launches;
      of_operators += is_of_operator(call) ? 1 : 0;
    }
    external_is_call_ = 2 * of_operators < launches;
  }
  if (external_is_call_)
    for (const auto& [call, process] : unnumbered_) calls_.add(call, process);
  decltype(unnumbered_)().swap(unnumbered_);
}

// Its number is that of an operator around it.
bool LaunchPlaces::is_of_operator(const TracedCall& call) const {
  const auto& ranges = nest_.ranges();
  for (std::uint32_t at = nest_.at(call.thread, call.start_ns); at != kNone; at = ranges[at].parent)
    if (std::binary_search(externals_.begin(), externals_.end(),
                           std::tuple(call.correlation, call.thread, ranges[at].start_ns)))
      return true;
  return false;
}

std::vector<LaunchPlaces::Place> LaunchPlaces::of(TracedWorks& works) {
  std::vector<Place> places;
  for (auto* each = works.first(); each != nullptr; each = works.next())
    places.push_back(place_of(*each));
  return places;
}

LaunchPlaces::Place LaunchPlaces::place_of(const TracedWork& work) {
  const std::uint64_t number = number_of(work);
  if (const TracedCall* call = calls_.find(number, work.start_ns + moved_by_)) {
    calls_.used(work.device, *call);
    return {nest_.at(call->thread, call->start_ns), step_at(steps_, call->start_ns),
            static_cast<std::uint32_t>(call - calls_.all().data()), true};
  }
  const auto external = std::lower_bound(
      externals_.begin(), externals_.end(),
      std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>(work.external, 0, 0));
  if (!external_is_call_ && work.external != 0 && external != externals_.end() &&
      std::get<0>(*external) == work.external) {
    const auto& [id, thread, start] = *external;
    return {nest_.at(thread, start), step_at(steps_, start), kNone, true};
  }
  // A call that is missing was made between those with the numbers around its own.
  if (const auto around = calls_.around(number)) {
    const std::uint32_t step = step_at(steps_, around->first->start_ns);
    if (step == step_at(steps_, around->second->start_ns)) return {kNone, step};
  }
  return {kNone, step_at(steps_, work.start_ns + moved_by_)};
}

std::uint64_t LaunchPlaces::leave_out_early(TracedWorks& works, std::vector<Place>& places) const {
  std::uint64_t early = 0;
  std::size_t i = 0;
  for (auto* each = works.first(); each != nullptr; each = works.next()) {
    Place& place = places[i++];
    if (place.known || !calls_.before(number_of(*each), each->device)) continue;
    ++early;
    place.left_out = !steps_.empty();
  }
  return early;
}

}  // namespace gable
