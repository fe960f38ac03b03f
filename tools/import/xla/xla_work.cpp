// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xla/xla_work.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>

#include "analysis/events/xla_scope.h"
#include "tools/base/wrong_use.h"
#include "tools/import/records/step_records.h"

namespace gable {
namespace {

constexpr std::size_t kLongestName = 4096, kMostNamesShown = 1000;

// What else stands in a stream's lane, and is no kernel.
bool is_no_work(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "MemoryAlloc", "MemoryFree", "MemoryResidency", "Overhead", "UnifiedMemory"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::uint32_t XlaWork::number(const std::string& name) {
  return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

void XlaWork::gpu_work(XlaLane lane, std::int32_t device, std::uint32_t process,
                       std::string_view name, const XlaTexts& texts, const XlaTimes& times) {
  const bool described = !texts.kernel.empty() || !texts.copy.empty();
  if (!described && texts.whole_graph) {
    ++whole_graphs_;
    return;
  }
  if (!described && (lane == XlaLane::overhead || is_no_work(name))) return;
  Placed work;
  work.times = times;
  work.correlation = texts.correlation.value_or(0);
  work.process = process;
  work.device = device;
  work.layer = layer_of(texts);
  work.kernel = !is_xla_copy(name, texts);
  if (work.kernel)
    take_kernel(name, texts, work);
  else
    take_copy(name, texts, work);
  earliest_ns_ = std::min(earliest_ns_, times.start_ns);
  works_.add(work);
}

void XlaWork::take_kernel(std::string_view name, const XlaTexts& texts, Placed& work) {
  work.function = imported_.functions.intern(name.empty() ? "(unnamed)" : std::string(name));
  LaunchShape shape;
  const auto grid = xla_size(xla_detail(texts.kernel, "grid"));
  const auto block = xla_size(xla_detail(texts.kernel, "block"));
  if (grid && block) {
    shape.grid = *grid;
    shape.block = *block;
  }
  work.shape = imported_.shapes.intern(shape);
  const auto registers = xla_number(xla_detail(texts.kernel, "regs"), 255);
  const auto fixed = xla_number(xla_detail(texts.kernel, "static_shared"), INT32_MAX / 2);
  const auto dynamic = xla_number(xla_detail(texts.kernel, "dynamic_shared"), INT32_MAX / 2);
  if (registers && fixed && dynamic)
    imported_.resources.tell(
        work.function, work.shape,
        {static_cast<std::uint32_t>(*registers), static_cast<std::uint32_t>(*fixed + *dynamic)});
  devices_.insert(work.device);
}

void XlaWork::take_copy(std::string_view name, const XlaTexts& texts, Placed& work) {
  work.kind = xla_copy_kind(name);
  std::string_view bytes = xla_detail(texts.copy, "size");
  if (bytes.empty()) bytes = xla_detail(texts.copy, "num_bytes");
  const auto size = xla_number(bytes, INT64_MAX);
  work.sized = size.has_value();
  work.bytes = size.value_or(0);
  work.host = xla_host_memory(texts.copy, work.kind);
}

LayerId XlaWork::layer_of(const XlaTexts& texts) {
  const std::string_view scope = xla_scope(texts);
  std::string key = texts.hlo_module + '\n' + std::string(scope) + '\n' + texts.hlo_op;
  const auto [known, fresh] = layers_.try_emplace(std::move(key), 0);
  if (!fresh) return known->second;
  const Direction direction = xla_direction(scope);
  LayerId layer = 0;
  const auto add = [&](std::string_view name, Direction way) {
    if (!name.empty()) layer = imported_.layers.child(layer, name, way);
  };
  add(texts.hlo_module, Direction::none);
  for (const std::string_view part : xla_scope_parts(scope)) add(part, direction);
  add(texts.hlo_op, direction);
  known->second = layer;
  return layer;
}

void XlaWork::step(std::int32_t device, std::string_view name, const XlaTimes& times) {
  lane_steps_[device].push_back({std::string(name.substr(0, kLongestName)), times});
}

void XlaWork::host_event(std::uint32_t process, std::uint32_t thread, std::string_view name,
                         const XlaTexts& texts, const XlaTimes& times) {
  if (texts.correlation && *texts.correlation != 0)
    calls_.push_back({process, *texts.correlation, times.start_ns});
  if (texts.numbered_step) numbered_.push_back({thread, times});
  if (!asked_.asked()) return;
  if (asked_.step_name(name)) named_.push_back({thread, times});
  // Of calls and of Python's own functions no one makes steps.
  const bool shown = !texts.correlation && !name.starts_with('$') && !name.empty();
  if (!shown) return;
  std::string text = name_without_digits(name.substr(0, kLongestName));
  if (ranges_there_.size() < kMostNamesShown || ranges_there_.contains(text))
    ++ranges_there_[std::move(text)];
}

// So that no time is below 0, or is 0, which stands for an unknown one elsewhere. Kernels and
// copies are moved when they are read.
void XlaWork::move_times() {
  const auto each = [this](const auto& take) {
    for (std::vector<Range>* ranges : {&numbered_, &named_})
      for (Range& range : *ranges) take(range.times);
    for (auto& [device, steps] : lane_steps_)
      for (LaneStep& step : steps) take(step.times);
  };
  each([this](const XlaTimes& times) { earliest_ns_ = std::min(earliest_ns_, times.start_ns); });
  for (const Call& call : calls_) earliest_ns_ = std::min(earliest_ns_, call.start_ns);
  if (earliest_ns_ > 0) return;
  moved_by_ = 1 - static_cast<std::uint64_t>(earliest_ns_);
  each([this](XlaTimes& times) { times = moved(times); });
  for (Call& call : calls_) call.start_ns = moved({call.start_ns, 0}).start_ns;
}

XlaTimes XlaWork::moved(const XlaTimes& times) const {
  const auto move = [this](std::int64_t time) {
    const std::uint64_t sum = static_cast<std::uint64_t>(time) + moved_by_;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(sum, INT64_MAX));
  };
  return {move(times.start_ns), move(times.end_ns)};
}

void XlaWork::find_steps(const XlaFile& file) {
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return std::tie(a.process, a.correlation, a.start_ns) <
           std::tie(b.process, b.correlation, b.start_ns);
  });
  if (asked_.asked()) {
    steps_of_ranges(named_);
    if (steps_.empty())
      throw WrongUse(file.name + " has no range that --step-range " +
                     quoted_piece(imported_.step_range) + " names" + ranges_to_take(ranges_there_));
  } else {
    steps_of_ranges(numbered_);
  }
  if (steps_.empty()) steps_of_lanes();
}

void XlaWork::steps_of_ranges(const std::vector<Range>& ranges) {
  StepRanges joined("");
  for (const Range& range : ranges)
    joined.add(range.thread, static_cast<std::uint64_t>(range.times.start_ns),
               static_cast<std::uint64_t>(range.times.end_ns));
  for (const StepRanges::Step& step : joined.steps())
    steps_.push_back(
        {static_cast<std::int64_t>(step.start_ns), static_cast<std::int64_t>(step.end_ns)});
  by_calls_ = !steps_.empty();
}

// Each GPU has a lane of its own: steps of one name are one.
void XlaWork::steps_of_lanes() {
  std::map<std::pair<std::string, std::size_t>, XlaTimes> joined;
  std::map<std::int32_t, std::vector<std::size_t>> places;
  for (auto& [device, lane] : lane_steps_) {
    std::sort(lane.begin(), lane.end(), [](const LaneStep& a, const LaneStep& b) {
      return std::tie(a.times.start_ns, a.times.end_ns) <
             std::tie(b.times.start_ns, b.times.end_ns);
    });
    std::map<std::string, std::size_t> seen;
    for (const LaneStep& step : lane) {
      const std::size_t place = seen[step.name]++;
      places[device].push_back(place);
      const auto [known, fresh] = joined.try_emplace({step.name, place}, step.times);
      if (fresh) continue;
      known->second.start_ns = std::min(known->second.start_ns, step.times.start_ns);
      known->second.end_ns = std::max(known->second.end_ns, step.times.end_ns);
    }
  }
  std::vector<std::pair<XlaTimes, std::pair<std::string, std::size_t>>> sorted;
  sorted.reserve(joined.size());
  for (const auto& [name, times] : joined) sorted.emplace_back(times, name);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.start_ns, a.first.end_ns, a.second) <
           std::tie(b.first.start_ns, b.first.end_ns, b.second);
  });
  std::map<std::pair<std::string, std::size_t>, std::uint32_t> numbers;
  for (const auto& [times, name] : sorted) {
    steps_.push_back(times);
    numbers[name] = static_cast<std::uint32_t>(steps_.size());
  }
  for (auto& [device, lane] : lane_steps_)
    for (std::size_t i = 0; i < lane.size(); ++i)
      lane[i].step = numbers[{lane[i].name, places[device][i]}];
}

std::uint32_t XlaWork::step_at(std::int64_t when) const {
  const auto behind = std::upper_bound(
      steps_.begin(), steps_.end(), when,
      [](std::int64_t time, const XlaTimes& step) { return time < step.start_ns; });
  if (behind == steps_.begin() || std::prev(behind)->end_ns <= when) return 0;
  return static_cast<std::uint32_t>(behind - steps_.begin());
}

const XlaWork::Call* XlaWork::call_of(const Placed& work) const {
  const auto found = std::lower_bound(calls_.begin(), calls_.end(), work,
                                      [](const Call& call, const Placed& wanted) {
                                        return std::tie(call.process, call.correlation) <
                                               std::tie(wanted.process, wanted.correlation);
                                      });
  const bool there = found != calls_.end() && found->process == work.process &&
                     found->correlation == work.correlation;
  return there && work.correlation != 0 ? &*found : nullptr;
}

std::uint32_t XlaWork::step_of(const Placed& work) const {
  if (by_calls_) {
    if (const Call* call = call_of(work)) return step_at(call->start_ns);
    // Launched before the recording began: below all calls of its process.
    const auto first = std::lower_bound(
        calls_.begin(), calls_.end(), work.process,
        [](const Call& call, std::uint32_t process) { return call.process < process; });
    const bool early = work.correlation != 0 && first != calls_.end() &&
                       first->process == work.process && work.correlation < first->correlation;
    return early ? 0 : step_at(work.times.start_ns);
  }
  const auto lane = lane_steps_.find(work.device);
  if (lane == lane_steps_.end()) return step_at(work.times.start_ns);
  const auto behind = std::upper_bound(
      lane->second.begin(), lane->second.end(), work.times.start_ns,
      [](std::int64_t time, const LaneStep& step) { return time < step.times.start_ns; });
  if (behind == lane->second.begin() || std::prev(behind)->times.end_ns <= work.times.start_ns)
    return 0;
  return std::prev(behind)->step;
}

void XlaWork::finish(const XlaFile& file) {
  if (devices_.empty())
    throw WrongUse(file.name + " is " + file.kind +
                   " of JAX's or TensorFlow's profiler with no GPU lane: " +
                   (!file.why.empty()   ? file.why
                    : file.other_device ? "it is of another kind of device"
                                        : "nothing ran on a GPU while it was recorded, or only the "
                                          "host was traced") +
                   file.holds + ".");
  move_times();
  find_steps(file);
  if (!steps_.empty() && !imported_.steps.empty())
    throw WrongUse(file.name +
                   " has steps of its own, and so has a file before it: import each by itself.");
  for (const XlaTimes& step : steps_)
    imported_.steps.push_back(
        {static_cast<std::uint64_t>(step.start_ns), static_cast<std::uint64_t>(step.end_ns)});
  for (const Placed* each = works_.first(); each != nullptr; each = works_.next()) {
    Placed work = *each;
    work.times = moved(work.times);
    give(work);
  }
  works_.clear();
  if (whole_graphs_ > 0)
    imported_.notes.push_back(
        std::to_string(whole_graphs_) +
        (whole_graphs_ == 1
             ? " launch of a CUDA graph was recorded as a whole: what ran in it is missing."
             : " launches of CUDA graphs were recorded as wholes: what ran in them is missing."));
  imported_.times_from.push_back("JAX's or TensorFlow's profiler (" +
                                 std::filesystem::path(file.name).filename().string() + ")");
}

void XlaWork::give(const Placed& work) {
  const auto start = static_cast<std::uint64_t>(work.times.start_ns);
  const auto end = static_cast<std::uint64_t>(work.times.end_ns);
  if (work.kernel) {
    ImportedKernel kernel;
    kernel.start_ns = start;
    kernel.end_ns = end;
    kernel.function = work.function;
    kernel.shape = work.shape;
    kernel.layer = work.layer;
    kernel.device = work.device;
    kernel.step = step_of(work);
    imported_.kernels.add(kernel);
  } else {
    ImportedCopy copy;
    copy.record.start_ns = start;
    copy.record.end_ns = end;
    copy.record.device = work.device;
    copy.record.kind = work.kind;
    copy.record.host = work.host;
    if (work.sized) copy.record.bytes = work.bytes;
    copy.layer = work.layer;
    copy.placed = true;
    copy.step = step_of(work);
    copy.place = imported_.copies.size();
    imported_.copies.add(copy);
  }
}

std::vector<std::int32_t> XlaWork::devices() const { return {devices_.begin(), devices_.end()}; }

}  // namespace gable
