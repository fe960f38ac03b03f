// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/step_records.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analysis/events/collective.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

std::uint64_t hash_of(const ImportedKernel& kernel) {
  std::uint64_t hash = kernel.function;
  for (const std::uint64_t part : {std::uint64_t{kernel.shape}, std::uint64_t{kernel.layer},
                                   static_cast<std::uint64_t>(kernel.device)}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

// Keys of operations that do the same work.
class Works {
 public:
  explicit Works(const Imported& imported) : imported_(imported) {}

  std::uint32_t of(const ImportedKernel& kernel) {
    const Key key{kernel.function, kernel.shape, kernel.layer, kernel.device, 0};
    return intern(key, {launch_key(imported_, kernel), true});
  }
  std::uint32_t of(const ImportedCopy& copy) {
    RecordedWork work;
    work.key.layer = copy.layer;
    work.key.device = copy.record.device;
    work.kernel = false;
    const auto kind = ~static_cast<std::uint32_t>(copy.record.kind);
    return intern({kind, 0, copy.layer, copy.record.device, copy.record.bytes.value_or(0)}, work);
  }
  std::vector<RecordedWork> all;

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, LayerId, std::int32_t, std::uint64_t>;
  std::uint32_t intern(const Key& key, const RecordedWork& work) {
    const auto [known, fresh] = keys_.try_emplace(key, static_cast<std::uint32_t>(all.size()));
    if (fresh) all.push_back(work);
    return known->second;
  }
  const Imported& imported_;
  std::map<Key, std::uint32_t> keys_;
};

// Numbers differ from step to step.
std::string without_digits(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && (text.empty() || text.back() != '#')) text += '#';
  }
  return text;
}

// The outer ranges of a file, those that come most often first.
std::string ranges_there(const RangeNest& nest) {
  constexpr std::size_t kShown = 6;
  std::map<std::string, std::uint64_t> counts;
  for (const RangeNest::Range& range : nest.ranges()) {
    const bool outer =
        range.parent == RangeNest::kNone || nest.ranges()[range.parent].parent == RangeNest::kNone;
    if (outer && range.is_layer) ++counts[without_digits(nest.text(range.name))];
  }
  if (counts.empty()) return ", and none at all: record ranges too.";
  std::vector<std::pair<std::uint64_t, std::string>> names;
  names.reserve(counts.size());
  for (const auto& [name, count] : counts) names.emplace_back(count, name);
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += (i > 0 ? ", " : "") + quoted_piece(names[i].second);
  if (names.size() > kShown) text += " and others";
  return ": take one of its ranges, such as " + text + ".";
}

}  // namespace

std::vector<RecordWindow> StepRecords::windows(const std::vector<ImportedStep>& steps) const {
  // Kernels of several streams start in any order: what counts is which there are.
  std::vector<std::uint64_t> sequences(steps.size());
  for (std::size_t i = first_kernel_; i < imported_.kernels.size(); ++i) {
    const ImportedKernel& kernel = imported_.kernels[i];
    if (kernel.step > 0) sequences[kernel.step - 1] += hash_of(kernel);
  }
  std::vector<RecordWindow> windows;
  for (const std::size_t first : record_places(sequences)) {
    RecordWindow& window = windows.emplace_back();
    for (std::size_t i = first; i < first + 3; ++i) window.starts.push_back(steps[i].start_ns);
    window.starts.push_back(first + 3 < steps.size() ? steps[first + 3].start_ns
                                                     : steps[first + 2].end_ns);
  }
  return windows;
}

void StepRecords::add(TracedSteps steps,
                      const std::function<WorkOrigin(bool, std::size_t)>& origin) {
  if (steps.calls.size() > kMostTracedCalls) {
    imported_.notes.push_back("What the step waits for is not known: three steps have more than " +
                              std::to_string(kMostTracedCalls) + " calls.");
    return;
  }
  std::unordered_map<std::uint64_t, bool> called;
  for (const TracedCall& call : steps.calls)
    if (call.correlation != 0) called.emplace(call.correlation, true);
  Works works(imported_);
  std::unordered_map<FunctionId, bool> collective;
  const auto take = [&](const WorkOrigin& from, const auto& work, std::uint64_t start,
                        std::uint64_t end, std::int32_t device) -> TracedOperation* {
    if (!called.contains(from.correlation)) return nullptr;
    TracedOperation& made = steps.operations.emplace_back();
    made.start_ns = start;
    made.end_ns = end;
    made.graph_node = from.graph_node;
    made.correlation = from.correlation;
    made.stream = from.stream;
    made.context = from.context;
    made.device = device;
    made.key = works.of(work);
    return &made;
  };
  for (std::size_t i = first_kernel_; i < imported_.kernels.size(); ++i) {
    const ImportedKernel& kernel = imported_.kernels[i];
    TracedOperation* made = take(origin(true, i - first_kernel_), kernel, kernel.start_ns,
                                 kernel.end_ns, kernel.device);
    if (made == nullptr) continue;
    const auto [known, fresh] = collective.try_emplace(kernel.function, false);
    if (fresh) known->second = is_collective(imported_.functions.name(kernel.function));
    made->kind = known->second ? OperationKind::collective : OperationKind::kernel;
  }
  for (std::size_t i = first_copy_; i < imported_.copies.size(); ++i) {
    const ImportedCopy& copy = imported_.copies[i];
    TracedOperation* made = take(origin(false, i - first_copy_), copy, copy.record.start_ns,
                                 copy.record.end_ns, copy.record.device);
    if (made == nullptr) continue;
    made->kind = copy.record.kind == CopyKind::memset ? OperationKind::memset : OperationKind::copy;
    made->way = copy_way(copy.record.kind);
    made->pageable = copy.record.host == HostMemory::pageable;
  }
  steps.work = std::move(works.all);
  imported_.step_records.push_back(make_step_record(std::move(steps)));
}

std::string early_note(std::uint64_t count, const std::string& one, const std::string& many,
                       bool steps) {
  const bool single = count == 1;
  return std::to_string(count) + " " + (single ? one + " was" : many + " were") +
         " launched before the recording began, and " +
         (steps ? std::string(single ? "is" : "are") + " left out of the steps."
                : std::string(single ? "counts" : "count") + " here, as the file has no steps.");
}

std::vector<ImportedStep> steps_of_ranges(const StepRanges& ranges, const RangeNest& nest,
                                          const std::string& file, const std::string& regex) {
  std::vector<ImportedStep> steps;
  for (const StepRanges::Step& step : ranges.steps()) steps.push_back({step.start_ns, step.end_ns});
  if (steps.empty())
    throw WrongUse(file + " has no range that --step-range " + quoted_piece(regex) + " names" +
                   ranges_there(nest));
  return steps;
}

void add_waits(std::vector<TracedCall> waits, const RangeNest& nest,
               const std::function<std::uint32_t(std::uint64_t)>& step_at, Imported& imported) {
  std::sort(waits.begin(), waits.end(), [](const TracedCall& a, const TracedCall& b) {
    return std::tie(a.thread, a.start_ns, b.duration_ns) <
           std::tie(b.thread, b.start_ns, a.duration_ns);
  });
  const TracedCall* outer = nullptr;
  for (const TracedCall& wait : waits) {
    const bool within =
        outer != nullptr && outer->thread == wait.thread && wait.start_ns < outer->end_ns();
    if (within) continue;
    outer = &wait;
    const LayerId layer = nest.layer(nest.at(wait.thread, wait.start_ns));
    imported.spans[{step_at(wait.start_ns), layer}].wait_ns += wait.duration_ns;
  }
}

}  // namespace gable
