// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/range_join.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "analysis/events/quantities.h"

namespace gable {
namespace {

// The launch a range belongs to: its name is the launch's place in the window, given by us (user)
// or by CUPTI (automatic). Ranges may come back in another order than the launches.
std::optional<std::size_t> index_of(const std::string& name) {
  std::size_t index = 0;
  const auto* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, index);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return index;
}

std::optional<std::size_t> checksum_column(const std::vector<std::string>& metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (const auto* role = role_of(metrics[i]); role != nullptr && role->quantity == Quantity::ctas)
      return i;
  return std::nullopt;
}

bool is_sum(const std::string& metric) { return metric.ends_with(".sum"); }

// What the ranges of one launch say together; empty where one is missing. A graph's kernels are
// ranges of their own where CUPTI replays them: of other metrics than sums nothing is known then.
std::vector<double> values_of(const std::vector<const std::vector<double>*>& found,
                              std::size_t first, std::size_t parts,
                              const std::vector<std::string>& metrics) {
  if (std::find(found.begin() + static_cast<std::ptrdiff_t>(first),
                found.begin() + static_cast<std::ptrdiff_t>(first + parts),
                nullptr) != found.begin() + static_cast<std::ptrdiff_t>(first + parts))
    return {};
  std::vector<double> values = *found[first];
  for (std::size_t i = 0; i < values.size() && parts > 1; ++i) {
    if (!is_sum(metrics[i])) values[i] = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t part = 1; part < parts; ++part) values[i] += (*found[first + part])[i];
  }
  return values;
}

// Whether CUPTI replayed the single kernels only. On an H200 it makes no range of a graph's kernels
// then; where it makes some, their number tells.
bool has_no_graphs(const JoinRequest& request, const RangeReading& reading) {
  if (request.mode != RangeMode::replay || reading.dropped > 0) return false;
  const auto kernels =
      std::count_if(request.launches.begin(), request.launches.end(),
                    [](const RangedLaunch& each) { return each.launched && !each.graph; });
  return reading.ranges.size() == static_cast<std::size_t>(kernels);
}

std::uint64_t sum_of_blocks(const std::vector<RangedLaunch>& launches) {
  std::uint64_t sum = 0;
  for (const auto& launch : launches) sum += launch.blocks;
  return sum;
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

// Why a window is thrown away, most telling first; empty when it is kept.
std::string verdict(const CounterResult& result, const JoinRequest& request,
                    const JoinChecks& checks) {
  if (result.uncountable > 0)
    return "A CUDA graph ran in it for which CUPTI makes an unknown number of ranges.";
  if (checks.unranged && result.unranged > 0 && request.launches.size() >= request.max_ranges)
    return "The window had more launches than the " + std::to_string(request.max_ranges) +
           " that there was room for.";
  if (checks.unranged && result.unranged > 0)
    return "A launch overlapped another one of the same context and could not be counted alone.";
  if (checks.dropped && result.dropped > 0)
    return counted(result.dropped, "range was", "ranges were") + " dropped by CUPTI.";
  if (checks.missing && result.missing > 0)
    return counted(result.missing, "launch", "launches") + " came back without counters.";
  if (checks.thread_blocks && result.mismatched > 0)
    return counted(result.mismatched, "launch", "launches") +
           " came back with a count of thread blocks that does not match the grid.";
  return {};
}

}  // namespace

void join_ranges(const JoinRequest& request, const RangeReading& reading, CounterResult& result,
                 const JoinChecks& checks) {
  result.dropped = reading.dropped;
  result.metrics = request.metrics.size();
  // CUPTI counts what ran; in automatic mode a launch that failed is no range, in user mode it is
  // an empty one.
  std::vector<const RangedLaunch*> expected;
  expected.reserve(request.launches.size());
  const bool no_graphs = has_no_graphs(request, reading);
  if (no_graphs) result.left_out = std::exchange(result.uncountable, 0);
  std::size_t ranges = 0;
  for (const auto& launch : request.launches) {
    if (!are_pushed(request.mode) && !launch.launched) continue;
    if (launch.graph && no_graphs) {
      ++result.left_out;
      continue;
    }
    expected.push_back(&launch);
    ranges += launch.parts;
  }
  std::vector<const std::vector<double>*> found(ranges, nullptr);
  std::size_t position = 0;
  for (const auto& range : reading.ranges) {
    const auto index = checks.names ? index_of(range.name) : std::optional(position++);
    if (!index || *index >= found.size() || found[*index] != nullptr)
      ++result.dropped;
    else
      found[*index] = &range.values;
  }
  const auto checksum = checksum_column(request.metrics);
  const bool layers = request.mode == RangeMode::layer;
  const auto all_blocks =
      request.several_streams ? static_cast<double>(sum_of_blocks(request.launches)) : 0;
  std::size_t first = 0;
  for (const RangedLaunch* launch : expected) {
    const std::size_t at = std::exchange(first, first + launch->parts);
    if (!launch->launched) continue;
    const auto values = values_of(found, at, launch->parts, request.metrics);
    if (values.empty()) {
      ++result.missing;
      continue;
    }
    // The blocks of a graph are not always known.
    const auto blocks = static_cast<double>(layers ? launch->blocks : launch->key.grid.count());
    // Written so that NaN is a mismatch too. Where streams overlap, a range may have more.
    const auto fits = [&](double counted_blocks) {
      return counted_blocks == blocks || (counted_blocks > blocks && counted_blocks <= all_blocks);
    };
    if (checksum && blocks != 0 && !fits(values[*checksum])) ++result.mismatched;
    result.keys.push_back(launch->key);
    result.ordinals.push_back(launch->ordinal);
    result.launches.push_back(launch->launches);
    result.newest.push_back(layers ? launch->newest : launch->key.function);
    result.values.insert(result.values.end(), values.begin(), values.end());
  }
  result.reason = verdict(result, request, checks);
  result.keep = result.reason.empty();
}

CountersOutcome outcome_of(std::vector<CounterResult> contexts) {
  CountersOutcome outcome;
  outcome.contexts = std::move(contexts);
  for (const auto& result : outcome.contexts) {
    // A range that CUPTI dropped is also one that a launch misses.
    outcome.lost_ranges += std::max(result.dropped, result.missing);
    outcome.too_small = outcome.too_small || result.dropped > 0 || result.unranged > 0;
    outcome.graphs_left_out += result.left_out;
    outcome.mismatched = outcome.mismatched || result.mismatched > 0;
    const bool apart = result.unranged == 0 && result.uncountable == 0;
    if (apart && (result.mismatched > 0 || result.missing > 0 || result.dropped > 0))
      outcome.misfit = true;
    if (result.code != 0 && outcome.failed.empty()) {
      outcome.failed = result.reason;
      outcome.failed_code = result.code;
    }
    if (!result.keep && outcome.keep) {
      outcome.keep = false;
      outcome.reason = result.reason;
    }
  }
  if (outcome.contexts.empty()) {
    outcome.keep = false;
    outcome.reason = "No context collected counters in it.";
  }
  return outcome;
}

}  // namespace gable
