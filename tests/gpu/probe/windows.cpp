// SPDX-License-Identifier: Apache-2.0
// Counters and activity in turn, one object and many configurations.
#include <unistd.h>

#include <fstream>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

constexpr int kLaunches = 20;

std::size_t records_of_launches(const Work& work) {
  (void)flushed_records();
  work.fma(kLaunches);
  work.gpu.wait();
  return flushed_records().kernels;
}

// Kernel activity is on while counters are taken.
void activity_beside(const PassPlan& (*pass_of)(), const char* metric, double value) {
  const Work work;
  const PassPlan& pass = pass_of();
  activity_on();
  const std::size_t before = records_of_launches(work);
  start_engine();
  const std::size_t after_engine = records_of_launches(work);
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  const std::size_t after_enable = records_of_launches(work);
  activity_on();
  std::vector<Profiler::Range> ranges;
  const bool done = window(
      profiler, pass, 64, [&] { work.fma(kLaunches); }, ranges);
  const Records during = flushed_records();
  const std::size_t right = equal(profiler.values(ranges, metric), value);
  profiler.disable();
  const std::size_t after_disable = records_of_launches(work);
  activity_on();
  const std::size_t again = records_of_launches(work);
  answer(again == kLaunches,
         "with activity on " + std::to_string(right) + " of " + std::to_string(kLaunches) +
             " launches are counted rightly and " + std::to_string(during.kernels) +
             " have a record; after the engine's start " + std::to_string(after_engine) +
             ", enabled anew at the end " + std::to_string(again),
         {{"window_done", done},
          {"launches", kLaunches},
          {"ranges", ranges.size()},
          {"right", right},
          {"records_before", before},
          {"records_after_engine_start", after_engine},
          {"records_after_enable", after_enable},
          {"records_beside_counters", during.kernels},
          {"zero_times", during.zero_times},
          {"records_after_disable", after_disable},
          {"records_enabled_anew", again}});
}

void activity_hw() { activity_beside(hw_pass, kCtas, kGrid); }
void activity_flops() { activity_beside(flops_pass, kFfma, Work::ffma()); }

std::size_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

// hw, flops, time, over and over.
void toggle() {
  const Work work;
  const int rounds = turns(100, 6);
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  std::size_t wrong = 0, lost = 0, begin_kib = 0;
  std::vector<double> hw_us, flops_us, time_us;
  for (int i = 0; i < rounds; ++i) {
    std::vector<Profiler::Range> ranges;
    auto began = std::chrono::steady_clock::now();
    const bool hw = window(
        profiler, hw_pass(), 64, [&] { work.fma(kLaunches); }, ranges);
    wrong += kLaunches - (hw ? equal(profiler.values(ranges, kCtas), kGrid) : 0);
    hw_us.push_back(us_since(began));
    began = std::chrono::steady_clock::now();
    const bool flops = window(
        profiler, flops_pass(), 64, [&] { work.fma(kLaunches); }, ranges);
    wrong += kLaunches - (flops ? equal(profiler.values(ranges, kFfma), Work::ffma()) : 0);
    flops_us.push_back(us_since(began));
    began = std::chrono::steady_clock::now();
    activity_on();
    const std::size_t records = records_of_launches(work);
    lost += records < kLaunches ? kLaunches - records : 0;
    activity_off();
    time_us.push_back(us_since(began));
    if (i == 4) begin_kib = resident_kib();
  }
  const std::size_t end_kib = resident_kib();
  profiler.disable();
  answer(wrong == 0 && lost == 0,
         std::to_string(rounds) + " rounds of hw, flops and time: " + std::to_string(wrong) +
             " launches counted wrongly, " + std::to_string(lost) + " without a record",
         {{"rounds", rounds},
          {"launches_a_window", kLaunches},
          {"wrong", wrong},
          {"lost_records", lost},
          {"hw_window_us", gpu::median(hw_us)},
          {"flops_window_us", gpu::median(flops_us)},
          {"time_window_us", gpu::median(time_us)},
          {"memory_growth_kib", end_kib > begin_kib ? end_kib - begin_kib : 0}});
}

// The order that Gable keeps: counters, profiler off, activity, everything off.
void queue() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  std::vector<Profiler::Range> hw, flops;
  bool good = profiler.enable();
  good = good && window(
                     profiler, hw_pass(), 64, [&] { work.fma(kLaunches); }, hw);
  const std::size_t right_hw = equal(profiler.values(hw, kCtas), kGrid);
  good = good && window(
                     profiler, flops_pass(), 64, [&] { work.fma(kLaunches); }, flops);
  const std::size_t right_flops = equal(profiler.values(flops, kFfma), Work::ffma());
  good = profiler.disable() && good;
  activity_on();
  const std::size_t records = records_of_launches(work);
  activity_off();
  const bool agrees =
      good && right_hw == kLaunches && right_flops == kLaunches && records == kLaunches;
  answer(agrees,
         "of " + std::to_string(kLaunches) + " launches each: " + std::to_string(right_hw) +
             " right in hw, " + std::to_string(right_flops) + " in flops, " +
             std::to_string(records) + " records in time",
         {{"launches", kLaunches},
          {"right_hw", right_hw},
          {"right_flops", right_flops},
          {"records", records}});
}

void second_config() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  std::vector<Profiler::Range> first, second;
  const bool one = window(
      profiler, hw_pass(), 64, [&] { work.fma(kLaunches); }, first);
  const bool same = window(
      profiler, flops_pass(), 64, [&] { work.fma(kLaunches); }, second);
  std::size_t right = same ? equal(profiler.values(second, kFfma), Work::ffma()) : 0;
  bool fresh = false;
  if (!same) {
    profiler.disable();
    fresh =
        profiler.enable() && window(
                                 profiler, flops_pass(), 64, [&] { work.fma(kLaunches); }, second);
    right = fresh ? equal(profiler.values(second, kFfma), Work::ffma()) : 0;
  }
  answer(same && right == kLaunches,
         same ? "the same object takes a second configuration"
              : std::string("the same object refuses a second configuration; a fresh one ") +
                    (fresh ? "takes it" : "does too"),
         {{"first_window", one},
          {"same_object", same},
          {"needed_a_fresh_object", !same && fresh},
          {"right", right},
          {"target_nesting_level", profiler.target_level()}});
}

// More launches than there is room for.
void overflow() {
  const Work work;
  constexpr std::size_t kRoom = 16;
  constexpr int kMore = 40;
  start_engine();
  Profiler profiler(work.context());
  std::vector<Profiler::Range> ranges;
  const bool done = profiler.enable() && window(
                                             profiler, hw_pass(), kRoom,
                                             [&] {
                                               for (int i = 0; i < kMore; ++i) work.numbered(i);
                                             },
                                             ranges);
  const std::size_t first = in_order(profiler.values(ranges, kCtas));
  answer(done && profiler.dropped() == kMore - kRoom && first == kRoom,
         std::to_string(kMore) + " launches with room for " + std::to_string(kRoom) + ": " +
             std::to_string(ranges.size()) + " ranges, " + std::to_string(profiler.dropped()) +
             " said to be dropped",
         {{"launches", kMore},
          {"room", kRoom},
          {"window_done", done},
          {"ranges", ranges.size()},
          {"dropped", profiler.dropped()},
          {"of_the_first_launches", first}});
}

}  // namespace

void add_windows(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"queue", queue},
                           {"second_config", second_config},
                           {"overflow", overflow},
                           {"toggle", toggle},
                           {"activity_hw", activity_hw},
                           {"activity_flops", activity_flops}});
}

}  // namespace gable::probe
