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

// One window of user ranges named after their launches.
bool user_window(Profiler& profiler, const Work& work, const PassPlan& pass, std::size_t room,
                 std::vector<Profiler::Range>& read, Json& cost) {
  read.clear();
  auto began = std::chrono::steady_clock::now();
  const auto took = [&](const char* call) {
    cost[call] = us_since(began);
    began = std::chrono::steady_clock::now();
  };
  bool done = profiler.configure(pass, CUPTI_UserRange, CUPTI_UserReplay, room);
  took("configure_us");
  done = done && profiler.start();
  took("start_us");
  for (int i = 0; done && i < kLaunches; ++i) {
    done = profiler.push(std::to_string(i).c_str());
    work.numbered(i);
    done = profiler.pop() && done;
  }
  work.gpu.wait();
  took("launches_us");
  done = profiler.stop() && profiler.decode() && done;
  took("stop_us");
  if (done) read = profiler.read();
  return done;
}

std::size_t right_ffma(const std::vector<Profiler::Range>& ranges,
                       const std::vector<double>& values) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const int number = std::atoi(ranges[i].name.c_str());
    right += values[i] == static_cast<double>(Work::grid_of(number)) * kBlock * kTurns ? 1 : 0;
  }
  return right;
}

// Whether one object takes other metrics, and other kinds of ranges, after its first ones; and
// whether an object of its own for each configuration does, whatever came before.
void second_config() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  profiler.keep_object();
  std::vector<Profiler::Range> ranges;
  const bool one = window(
      profiler, hw_pass(), 64, [&] { work.fma(kLaunches); }, ranges);
  const bool same = window(
      profiler, flops_pass(), 64, [&] { work.fma(kLaunches); }, ranges);
  const std::size_t right_same = same ? equal(profiler.values(ranges, kFfma), Work::ffma()) : 0;
  Json cost;
  const bool pushed = user_window(profiler, work, hw_pass(), 64, ranges, cost);
  Json fields = {{"first_window", one},
                 {"same_object", same},
                 {"right", right_same},
                 {"user_ranges_after_automatic", pushed},
                 {"target_nesting_level", profiler.target_level()}};
  std::size_t windows = 0, right_windows = 0;
  const auto fresh = [&](const char* name, const PassPlan& pass, bool flops, std::size_t room) {
    Json row;
    auto began = std::chrono::steady_clock::now();
    bool done = profiler.disable();
    row["disable_us"] = us_since(began);
    began = std::chrono::steady_clock::now();
    done = profiler.enable() && done;
    row["enable_us"] = us_since(began);
    done = user_window(profiler, work, pass, room, ranges, row) && done;
    const std::size_t right = !done   ? 0
                              : flops ? right_ffma(ranges, profiler.values(ranges, kFfma))
                                      : right_by_name(ranges, profiler.values(ranges, kCtas));
    row["right"] = right;
    row["gpu_free_mb"] = static_cast<double>(work.gpu.free_memory()) / 1e6;
    ++windows;
    right_windows += right == kLaunches ? 1 : 0;
    fields[name] = row;
  };
  fresh("fresh_flops", flops_pass(), true, 64);
  fresh("fresh_hw", hw_pass(), false, 64);
  fresh("fresh_flops_again", flops_pass(), true, 64);
  fresh("fresh_hw_512", hw_pass(), false, 512);
  fresh("fresh_flops_512", flops_pass(), true, 512);
  profiler.disable();
  activity_on();
  const std::size_t records = records_of_launches(work);
  activity_off();
  (void)profiler.enable();
  fresh("flops_after_records", flops_pass(), true, 64);
  fresh("hw_after_records", hw_pass(), false, 64);
  fields["records"] = records;
  fields["fresh_windows"] = windows;
  fields["fresh_windows_right"] = right_windows;
  answer(one && right_windows == windows && records == kLaunches,
         "one object's second configuration counts " + std::to_string(right_same) + " of " +
             std::to_string(kLaunches) + " launches; with an object for each, " +
             std::to_string(right_windows) + " of " + std::to_string(windows) +
             " windows count all, the last two of them after records were on",
         fields);
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
  answer(done && first == kRoom,
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
