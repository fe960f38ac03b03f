// SPDX-License-Identifier: Apache-2.0
// User ranges around launches: of two threads, with instrumented counters, with times, and as many
// as fit. In callbacks: user_callbacks.cpp.
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

constexpr int kLaunches = 20;

bool user_window(Profiler& profiler, const PassPlan& pass) {
  return profiler.enable() && profiler.configure(pass, CUPTI_UserRange, CUPTI_UserReplay, 64) &&
         profiler.start();
}

// Two threads take turns: each pushes, launches on a stream of its own, and pops.
void user_threads() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  if (!user_window(profiler, hw_pass()))
    return answer(false, "The window could not be started.", {});
  std::mutex mutex;
  std::condition_variable changed;
  int next = 0;
  const auto launches = [&](int first) {
    GABLE_CU(cuCtxSetCurrent, work.context());
    const CUstream stream = Work::stream();
    for (int i = first; i < 2 * kLaunches; i += 2) {
      std::unique_lock<std::mutex> hold(mutex);
      changed.wait(hold, [&] { return next == i; });
      profiler.push(std::to_string(i).c_str());
      work.numbered(i, stream);
      profiler.pop();
      next = i + 1;
      changed.notify_all();
    }
  };
  std::thread second([&] { launches(1); });
  launches(0);
  second.join();
  work.gpu.wait();
  const bool done = profiler.stop() && profiler.decode();
  const auto ranges = done ? profiler.read() : std::vector<Profiler::Range>{};
  const std::size_t right = right_by_name(ranges, profiler.values(ranges, kCtas));
  answer(done && right == std::size_t{2} * kLaunches,
         std::to_string(right) + " of " + std::to_string(2 * kLaunches) +
             " launches of two threads in turn are counted in their own ranges",
         {{"launches", 2 * kLaunches},
          {"window_done", done},
          {"ranges", ranges.size()},
          {"right", right},
          {"dropped", profiler.dropped()}});
}

// A second thread pushes while the first one's range is open: which call refuses, and what is
// counted where nothing does?
void user_threads_open() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  if (!user_window(profiler, hw_pass()))
    return answer(false, "The window could not be started.", {});
  const CUstream other = Work::stream();
  const bool first = profiler.push("0");
  bool pushed = false, popped = false;
  std::thread second([&] {
    GABLE_CU(cuCtxSetCurrent, work.context());
    pushed = profiler.push("1");
    work.numbered(1, other);
    if (pushed) popped = profiler.pop();
  });
  second.join();
  work.numbered(0);
  const bool closed = profiler.pop();
  work.gpu.wait();
  const bool done = profiler.stop() && profiler.decode();
  const auto ranges = done ? profiler.read() : std::vector<Profiler::Range>{};
  const auto ctas = profiler.values(ranges, kCtas);
  Json counted = Json::object();
  for (std::size_t i = 0; i < ranges.size(); ++i) counted[ranges[i].name] = ctas[i];
  if (counted.empty()) counted["none"] = 0;
  const bool one = ranges.size() == 1 && ctas[0] == Work::grid_of(0) + Work::grid_of(1);
  answer(done && (!pushed || one),
         std::string("a push of a second thread beside an open range is ") +
             (pushed ? "taken" : "refused") + "; " + std::to_string(ranges.size()) +
             " ranges came back",
         {{"first_pushed", first},
          {"second_pushed", pushed},
          {"second_popped", popped},
          {"first_popped", closed},
          {"window_done", done},
          {"ranges", ranges.size()},
          {"thread_blocks", counted},
          {"thread_blocks_of_launches", Work::grid_of(0) + Work::grid_of(1)}});
}

// Instrumented counters in user ranges, against automatic ones.
void sass_user() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  std::vector<Profiler::Range> automatic;
  const bool first = profiler.enable() && window(
                                              profiler, flops_pass(), 64,
                                              [&] {
                                                for (int i = 0; i < kLaunches; ++i)
                                                  work.numbered(i);
                                              },
                                              automatic);
  const auto of_automatic = profiler.values(automatic, kFfma);
  bool done = first && profiler.configure(flops_pass(), CUPTI_UserRange, CUPTI_UserReplay, 64) &&
              profiler.start();
  for (int i = 0; done && i < kLaunches; ++i) {
    profiler.push(std::to_string(i).c_str());
    work.numbered(i);
    profiler.pop();
  }
  work.gpu.wait();
  done = done && profiler.stop() && profiler.decode();
  const auto ranges = done ? profiler.read() : std::vector<Profiler::Range>{};
  const auto of_user = profiler.values(ranges, kFfma);
  std::size_t known = 0, same = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const int number = std::atoi(ranges[i].name.c_str());
    const double expected = static_cast<double>(Work::grid_of(number)) * kBlock * kTurns;
    known += of_user[i] == expected ? 1 : 0;
    const auto at = static_cast<std::size_t>(number);
    same += at < of_automatic.size() && of_user[i] == of_automatic[at] ? 1 : 0;
  }
  answer(done && known == kLaunches && same == kLaunches,
         "FFMA of " + std::to_string(known) + " of " + std::to_string(kLaunches) +
             " launches right in user ranges, " + std::to_string(same) +
             " the same as in automatic ones",
         {{"launches", kLaunches},
          {"automatic_done", first},
          {"user_done", done},
          {"ranges", ranges.size()},
          {"right", known},
          {"same_as_automatic", same}});
}

struct Length {
  const char* name;
  unsigned grid;
  double us;
};

// The counted duration in user ranges, against automatic ones and records.
void durations() {
  Work work;
  const CUfunction spin = work.gpu.kernel(kKernels, "probe_spin");
  constexpr Length kLengths[] = {{"2us", 1, 2}, {"50us", 2, 50}, {"5ms", 3, 5000}};
  constexpr int kTimes = 11;
  const double clock_khz = work.gpu.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  const auto launch = [&](const Length& length) {
    work.gpu.launch(spin, {length.grid, 1}, work.out, work.out,
                    static_cast<unsigned long long>(length.us * clock_khz / 1000));
  };
  std::map<std::string, Json> rows;
  activity_on();
  for (const Length& length : kLengths) {
    (void)flushed_records();
    for (int i = 0; i < kTimes; ++i) launch(length);
    work.gpu.wait();
    rows[length.name]["recorded_ns"] = gpu::median(flushed_records().durations_ns);
  }
  activity_off();
  start_engine();
  Profiler profiler(work.context());
  bool done = profiler.enable(), bound = done;
  Json fields;
  std::string says = "user / recorded, automatic / recorded:";
  for (const Length& length : kLengths) {
    Json& row = rows[length.name];
    for (const bool user : {false, true}) {
      done = done &&
             profiler.configure(hw_pass(), user ? CUPTI_UserRange : CUPTI_AutoRange,
                                CUPTI_UserReplay, 64) &&
             profiler.start();
      for (int i = 0; done && i < kTimes; ++i) {
        if (user) profiler.push(std::to_string(i).c_str());
        launch(length);
        if (user) profiler.pop();
      }
      work.gpu.wait();
      done = done && profiler.stop() && profiler.decode();
      const auto ranges = done ? profiler.read() : std::vector<Profiler::Range>{};
      row[user ? "user_ns" : "automatic_ns"] = gpu::median(profiler.values(ranges, kTime));
    }
    const double recorded = row["recorded_ns"].get<double>();
    const double user = row["user_ns"].get<double>() / recorded;
    bound = bound && user > 0.99;
    char text[64];
    std::snprintf(text, sizeof text, " %s %.3f %.3f", length.name, user,
                  row["automatic_ns"].get<double>() / recorded);
    says += text;
    fields[length.name] = row;
  }
  fields["window_done"] = done;
  answer(done && bound, says, fields);
}

std::string megabytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

// Whether so many ranges fit a window, what they take, and which call refuses.
void ranges_of(std::size_t room) {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  Json fields = {{"room", room}};
  bool all = true;
  std::string says = std::to_string(room) + " ranges:";
  for (const bool instrumented : {false, true}) {
    const PassPlan& pass = instrumented ? flops_pass() : hw_pass();
    const std::size_t free_before = work.gpu.free_memory(), failed = failures().size();
    auto began = std::chrono::steady_clock::now();
    const bool configured = profiler.configure(pass, CUPTI_UserRange, CUPTI_UserReplay, room);
    const double configure_us = us_since(began);
    began = std::chrono::steady_clock::now();
    const bool started = configured && profiler.start();
    const double start_us = us_since(began);
    // Said at once: what follows may take long.
    observe("started", {{"room", room},
                        {"instrumented", instrumented},
                        {"configured", configured},
                        {"started", started},
                        {"image_bytes", profiler.image_bytes()}});
    // Filled to the last on a GPU.
    const int launches = started ? turns(static_cast<int>(room), 64) : 0;
    for (int i = 0; i < launches; ++i) {
      profiler.push(std::to_string(i).c_str());
      work.numbered(i);
      profiler.pop();
    }
    work.gpu.wait();
    const std::size_t free_after = work.gpu.free_memory();
    began = std::chrono::steady_clock::now();
    const bool done = started && profiler.stop() && profiler.decode();
    const double decode_us = us_since(began);
    const auto first = done ? profiler.read(kLaunches) : std::vector<Profiler::Range>{};
    const std::size_t count = done ? profiler.count() : 0;
    const std::size_t right =
        instrumented ? first.size() : right_by_name(first, profiler.values(first, kCtas));
    const bool fits = done && static_cast<int>(count) == launches && right == kLaunches &&
                      profiler.dropped() == 0 && failures().size() == failed;
    all = all && fits;
    const std::string refused = failures().size() > failed ? failures()[failed] : "no call";
    const std::string name = instrumented ? "flops" : "hw";
    const std::size_t taken = free_before > free_after ? free_before - free_after : 0;
    fields[name] = {{"fits", fits},
                    {"refused", refused},
                    {"launches", launches},
                    {"ranges", count},
                    {"dropped", profiler.dropped()},
                    {"image_bytes", profiler.image_bytes()},
                    {"gpu_memory_taken_bytes", taken},
                    {"configure_us", configure_us},
                    {"start_us", start_us},
                    {"stop_and_decode_us", decode_us}};
    says += " " + name + (fits ? " fit" : " refused by " + refused) + ", image " +
            megabytes(profiler.image_bytes()) + ", GPU " + megabytes(taken) + ";";
    observe("room", fields);
    if (!done) break;  // what is open now may keep what follows from starting
  }
  says.pop_back();
  answer(all, says, fields);
}

void ranges_256() { ranges_of(256); }
void ranges_1024() { ranges_of(1024); }
void ranges_4096() { ranges_of(4096); }
void ranges_16384() { ranges_of(16384); }
void ranges_65536() { ranges_of(65536); }

}  // namespace

void add_user_ranges(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"user_threads", user_threads},
                           {"user_threads_open", user_threads_open},
                           {"sass_user", sass_user},
                           {"durations", durations},
                           {"ranges_256", ranges_256},
                           {"ranges_1024", ranges_1024},
                           {"ranges_4096", ranges_4096},
                           {"ranges_16384", ranges_16384},
                           {"ranges_65536", ranges_65536}});
}

}  // namespace gable::probe
