// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/step_records.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "analysis/events/collective.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

// The outer ranges of a file, those that come most often first.
std::string ranges_there(const std::map<std::string, std::uint64_t>& outer) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [name, count] : outer) counts[name_without_digits(name)] += count;
  return ranges_to_take(counts);
}

}  // namespace

std::uint64_t work_hash(const ImportedKernel& kernel) {
  std::uint64_t hash = kernel.function;
  for (const std::uint64_t part : {std::uint64_t{kernel.shape}, std::uint64_t{kernel.layer},
                                   static_cast<std::uint64_t>(kernel.device)}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

std::vector<RecordWindow> record_windows(const std::vector<std::uint64_t>& sequences,
                                         const std::vector<ImportedStep>& steps) {
  std::vector<RecordWindow> windows;
  for (const std::size_t first : record_places(sequences)) {
    RecordWindow& window = windows.emplace_back();
    for (std::size_t i = first; i < first + 3; ++i) window.starts.push_back(steps[i].start_ns);
    window.starts.push_back(first + 3 < steps.size() ? steps[first + 3].start_ns
                                                     : steps[first + 2].end_ns);
  }
  return windows;
}

StepRecordMaker::StepRecordMaker(Imported& imported, TracedSteps steps)
    : imported_(imported),
      steps_(std::move(steps)),
      too_many_(steps_.calls.size() > kMostTracedCalls) {
  if (too_many_) return;
  for (const TracedCall& call : steps_.calls)
    if (call.correlation != 0) called_.insert(call.correlation);
}

void StepRecordMaker::add(const ImportedKernel& kernel, const WorkOrigin& origin) {
  TracedOperation& made = operation(origin, kernel.start_ns, kernel.end_ns, kernel.device);
  made.key = work({kernel.function, kernel.shape, kernel.layer, kernel.device, 0},
                  {launch_key(imported_, kernel), true});
  const auto [known, fresh] = collective_.try_emplace(kernel.function, false);
  if (fresh) known->second = is_collective(imported_.functions.name(kernel.function));
  made.kind = known->second ? OperationKind::collective : OperationKind::kernel;
}

void StepRecordMaker::add(const ImportedCopy& copy, const WorkOrigin& origin) {
  const CopyRecord& record = copy.record;
  TracedOperation& made = operation(origin, record.start_ns, record.end_ns, record.device);
  RecordedWork done;
  done.key.layer = copy.layer;
  done.key.device = record.device;
  done.kernel = false;
  const auto kind = ~static_cast<std::uint32_t>(record.kind);
  made.key = work({kind, 0, copy.layer, record.device, record.bytes.value_or(0)}, done);
  made.kind = record.kind == CopyKind::memset ? OperationKind::memset : OperationKind::copy;
  made.way = copy_way(record.kind);
  made.pageable = record.host == HostMemory::pageable;
}

TracedOperation& StepRecordMaker::operation(const WorkOrigin& origin, std::uint64_t start_ns,
                                            std::uint64_t end_ns, std::int32_t device) {
  TracedOperation& made = steps_.operations.emplace_back();
  made.start_ns = start_ns;
  made.end_ns = end_ns;
  made.graph_node = origin.graph_node;
  made.correlation = origin.correlation;
  made.stream = origin.stream;
  made.context = origin.context;
  made.device = device;
  return made;
}

std::uint32_t StepRecordMaker::work(const Key& key, const RecordedWork& work) {
  const auto [known, fresh] =
      keys_.try_emplace(key, static_cast<std::uint32_t>(steps_.work.size()));
  if (fresh) steps_.work.push_back(work);
  return known->second;
}

void StepRecordMaker::finish() {
  if (too_many_) {
    imported_.notes.push_back("What the step waits for is unknown: three steps have more than " +
                              std::to_string(kMostTracedCalls) + " calls.");
    return;
  }
  imported_.step_records.push_back(make_step_record(std::move(steps_)));
}

std::string early_note(std::uint64_t count, const std::string& one, const std::string& many,
                       bool steps) {
  const bool single = count == 1;
  return std::to_string(count) + " " + (single ? one + " was" : many + " were") +
         " launched before the recording began, and " +
         (steps ? std::string(single ? "is" : "are") + " left out of the steps."
                : std::string(single ? "counts" : "count") + " here, as the file has no steps.");
}

std::string name_without_digits(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) text += c;
    if (digit && (text.empty() || text.back() != '#')) text += '#';
  }
  return text;
}

std::string ranges_to_take(const std::map<std::string, std::uint64_t>& counts) {
  constexpr std::size_t kShown = 6;
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

std::vector<ImportedStep> steps_of_ranges(
    const StepRanges& ranges, const std::function<std::map<std::string, std::uint64_t>()>& outer,
    const std::string& file, const std::string& regex) {
  std::vector<ImportedStep> steps;
  for (const StepRanges::Step& step : ranges.steps()) steps.push_back({step.start_ns, step.end_ns});
  if (steps.empty())
    throw WrongUse(file + " has no range that --step-range " + quoted_piece(regex) + " names" +
                   ranges_there(outer()));
  return steps;
}

std::map<std::string, std::uint64_t> outer_names(const RangeNest& nest) {
  std::map<std::string, std::uint64_t> counts;
  for (const RangeNest::Range& range : nest.ranges()) {
    const bool outer =
        range.parent == RangeNest::kNone || nest.ranges()[range.parent].parent == RangeNest::kNone;
    if (outer && range.is_layer) ++counts[nest.text(range.name)];
  }
  return counts;
}

std::uint32_t step_at(const std::vector<ImportedStep>& steps, std::uint64_t when_ns) {
  const auto behind = std::upper_bound(
      steps.begin(), steps.end(), when_ns,
      [](std::uint64_t time, const ImportedStep& step) { return time < step.start_ns; });
  if (behind == steps.begin() || std::prev(behind)->end_ns <= when_ns) return 0;
  return static_cast<std::uint32_t>(behind - steps.begin());
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
    imported.spans.add({step_at(wait.start_ns), layer, 0, 0, wait.duration_ns});
  }
}

}  // namespace gable
