// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/step_waits.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace gable {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

bool stands_still(const std::vector<RecordedCall>& calls, std::uint32_t before,
                  std::uint32_t after) {
  // What was before the first step, or comes after the last, is not known.
  if (before == kNone || after == kNone) return true;
  return calls[after].enter_ns >= calls[before].exit_ns + kShortestWait;
}

}  // namespace

std::vector<Handoff> find_handoffs(const std::vector<RecordedCall>& calls) {
  const auto count = static_cast<std::uint32_t>(calls.size());
  std::vector<std::uint32_t> before(count, kNone), after(count, kNone);  // of the same thread
  std::unordered_map<std::uint32_t, std::uint32_t> last;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto [known, added] = last.try_emplace(calls[i].thread, i);
    if (added) continue;
    before[i] = known->second;
    after[known->second] = i;
    known->second = i;
  }
  std::vector<Handoff> handoffs;
  for (std::uint32_t to = 1; to < count; ++to) {
    const std::uint32_t from = to - 1;
    if (calls[from].thread == calls[to].thread || calls[from].exit_ns > calls[to].enter_ns)
      continue;
    if (stands_still(calls, before[to], to) && stands_still(calls, from, after[from]))
      handoffs.push_back({from, to});
  }
  return handoffs;
}

FullQueues find_full_queues(const RecordedSteps& steps) {
  std::unordered_map<std::uint32_t, std::uint64_t> starts;  // by correlation, of the first node
  for (const RecordedOperation& operation : steps.operations) {
    const auto [known, added] = starts.try_emplace(operation.correlation, operation.start_ns);
    if (!added) known->second = std::min(known->second, operation.start_ns);
  }
  FullQueues full;
  if (steps.borders.size() < 3) return full;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint64_t>> streams;
  std::uint64_t unknown_ns = 0;
  const std::uint32_t first = steps.borders[1], end = steps.borders[2];
  for (std::uint32_t i = 0; i < steps.calls.size(); ++i) {
    const RecordedCall& call = steps.calls[i];
    const auto start = starts.find(call.correlation);
    if (start == starts.end()) continue;
    auto& earlier = streams[{call.context, call.stream}];  // starts, in the order of the stream
    if (call.exit_ns >= call.enter_ns + kShortestWait) {
      const auto waiting =
          earlier.end() - std::upper_bound(earlier.begin(), earlier.end(), call.enter_ns);
      if (static_cast<std::size_t>(waiting) >= kFullQueue)
        full.found.push_back({call.enter_ns, call.exit_ns, call.correlation});
      else if (waiting > 0 && waiting == earlier.end() - earlier.begin() && i >= first && i < end)
        unknown_ns += call.exit_ns - call.enter_ns;
    }
    earlier.push_back(start->second);
  }
  if (first < end) {
    const std::uint64_t length = steps.calls[end - 1].exit_ns - steps.calls[first].enter_ns;
    full.unknown = unknown_ns > length / 10;
  }
  return full;
}

}  // namespace gable
