// SPDX-License-Identifier: Apache-2.0
// What windows cost: a launch, a decoded range, kernel replay, and what stays behind.
#include <algorithm>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

double us_per_launch(const Work& work, int launches, Profiler* user = nullptr) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) {
    if (user != nullptr) user->push(std::to_string(i).c_str());
    work.fma();
    if (user != nullptr) user->pop();
  }
  work.gpu.wait();
  return us_since(began) / launches;
}

double us_in_window(const Work& work, Profiler& profiler, const PassPlan& pass,
                    CUpti_ProfilerRange range, int launches) {
  if (!profiler.configure(pass, range, CUPTI_UserReplay, static_cast<std::size_t>(launches)) ||
      !profiler.start())
    return -1;
  const double us = us_per_launch(work, launches, range == CUPTI_UserRange ? &profiler : nullptr);
  (void)(profiler.stop() && profiler.decode());
  return us;
}

void launch_cost() {
  const Work work;
  const int launches = turns(500, 20);
  (void)us_per_launch(work, launches);
  const double plain = us_per_launch(work, launches);
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  // The first window of each kind pays for the configuration.
  const auto measured = [&](const PassPlan& pass, CUpti_ProfilerRange range) {
    (void)us_in_window(work, profiler, pass, range, launches);
    return us_in_window(work, profiler, pass, range, launches);
  };
  const double auto_hw = measured(hw_pass(), CUPTI_AutoRange);
  const double user_hw = measured(hw_pass(), CUPTI_UserRange);
  const double auto_flops = measured(flops_pass(), CUPTI_AutoRange);
  const double user_flops = measured(flops_pass(), CUPTI_UserRange);
  answer(user_hw <= auto_hw && user_flops <= auto_flops,
         "us a launch: plain " + rounded(plain) + ", hw in automatic ranges " + rounded(auto_hw) +
             ", in user ranges " + rounded(user_hw) + ", flops " + rounded(auto_flops) + " and " +
             rounded(user_flops),
         {{"launches", launches},
          {"plain_us", plain},
          {"auto_hw_us", auto_hw},
          {"user_hw_us", user_hw},
          {"auto_flops_us", auto_flops},
          {"user_flops_us", user_flops}});
}

Json decoded(const Work& work, Profiler& profiler, const PassPlan& pass, int launches) {
  auto began = std::chrono::steady_clock::now();
  const bool configured = profiler.configure(pass, CUPTI_AutoRange, CUPTI_UserReplay,
                                             static_cast<std::size_t>(launches));
  const double configure_us = us_since(began);
  began = std::chrono::steady_clock::now();
  const bool started = configured && profiler.start();
  const double start_us = us_since(began);
  if (started) work.fma(launches);
  work.gpu.wait();
  began = std::chrono::steady_clock::now();
  (void)profiler.stop();
  const double stop_us = us_since(began);
  began = std::chrono::steady_clock::now();
  (void)profiler.decode();
  const double decode_us = us_since(began);
  began = std::chrono::steady_clock::now();
  const std::size_t ranges = profiler.read().size();
  const double read_us = us_since(began);
  return {{"ranges", ranges},
          {"configure_us", configure_us},
          {"start_us", start_us},
          {"stop_us", stop_us},
          {"decode_us_a_range", decode_us / launches},
          {"evaluate_us_a_range", read_us / launches},
          {"image_bytes_a_range", profiler.image_bytes() / static_cast<std::size_t>(launches)}};
}

void decode_cost() {
  const Work work;
  const int launches = turns(1000, 100);
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  const std::size_t free_before = work.gpu.free_memory();
  const Json hw = decoded(work, profiler, hw_pass(), launches);
  const Json flops = decoded(work, profiler, flops_pass(), launches);
  const std::size_t free_after = work.gpu.free_memory();
  const auto all = static_cast<std::size_t>(launches);
  answer(hw["ranges"] == all && flops["ranges"] == all,
         "a range takes " + rounded(hw["decode_us_a_range"].get<double>()) + " us to decode and " +
             rounded(hw["evaluate_us_a_range"].get<double>()) + " us to evaluate in hw, " +
             rounded(flops["decode_us_a_range"].get<double>()) + " and " +
             rounded(flops["evaluate_us_a_range"].get<double>()) + " us in flops",
         {{"launches", launches},
          {"hw", hw},
          {"flops", flops},
          {"gpu_memory_taken_bytes", free_before > free_after ? free_before - free_after : 0}});
}

// Whether kernel replay of one pass saves and restores memory: copies within `bytes`.
void replay(std::size_t gib) {
  Work work;
  const std::size_t bytes = gib << 30;
  if (work.gpu.free_memory() < bytes + (std::size_t{1} << 30))
    throw Skipped("The GPU has less than " + std::to_string(gib + 1) + " GiB free.");
  const CUfunction copy = work.gpu.kernel(kKernels, "probe_copy");
  const CUdeviceptr from = work.large(bytes / 2), to = work.large(bytes / 2);
  const auto run = [&] {
    work.gpu.launch(copy, {2048, 512}, to, from, static_cast<unsigned long long>(bytes / 2 / 16));
    work.gpu.wait();
  };
  run();
  auto began = std::chrono::steady_clock::now();
  run();
  const double plain = us_since(began);
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  const auto measured = [&](const PassPlan& pass, CUpti_ProfilerReplayMode mode) {
    std::vector<double> times;
    std::vector<Profiler::Range> ranges;
    const bool done = window(
        profiler, pass, 8,
        [&] {
          for (int i = 0; i < 3; ++i) {
            const auto start = std::chrono::steady_clock::now();
            run();
            times.push_back(us_since(start));
          }
        },
        ranges, mode);
    return done ? times.back() : -1;  // the first pays for the configuration
  };
  const double user = measured(hw_pass(), CUPTI_UserReplay);
  const double kernel = measured(hw_pass(), CUPTI_KernelReplay);
  const double both = measured(two_passes(), CUPTI_KernelReplay);
  answer(user > 0 && kernel > 0 && kernel <= 1.5 * user + 1000,
         std::to_string(gib) + " GiB, us a launch: plain " + rounded(plain) + ", user replay " +
             rounded(user) + ", kernel replay of one pass " + rounded(kernel) + ", of two " +
             rounded(both),
         {{"gib", gib},
          {"plain_us", plain},
          {"user_replay_us", user},
          {"kernel_replay_us", kernel},
          {"kernel_replay_two_passes_us", both}});
}

void replay_1_gib() { replay(1); }
void replay_16_gib() { replay(16); }

// What stays when everything is off again.
void linger() {
  Work work;
  const CUfunction spin = work.gpu.kernel(kKernels, "probe_spin");
  const int launches = turns(2000, 20);
  const auto measured = [&] {
    std::vector<double> host;
    for (int turn = 0; turn < 9; ++turn) {
      work.gpu.wait();
      const auto began = std::chrono::steady_clock::now();
      for (int i = 0; i < launches; ++i) work.gpu.launch(spin, {1, 1}, work.out, work.out, 1ULL);
      host.push_back(us_since(began) / launches);
      work.gpu.wait();
    }
    const double gpu_ns = work.gpu.event_ns([&] { work.fma(launches); }) / launches;
    return std::make_pair(gpu::median(host), gpu_ns / 1000);
  };
  (void)measured();
  const auto plain = measured();
  start_engine();
  Profiler profiler(work.context());
  std::vector<Profiler::Range> ranges;
  const auto count = [&](const PassPlan& pass) {
    return window(
        profiler, pass, 64, [&] { work.fma(20); }, ranges);
  };
  bool done = profiler.enable() && count(hw_pass());
  const auto stopped = measured();
  done = done && count(flops_pass());
  done = profiler.disable() && done;
  const auto disabled = measured();
  activity_on();
  work.fma(20);
  work.gpu.wait();
  const std::size_t records = flushed_records().kernels;
  activity_off();
  const auto after = measured();
  const double host_share = after.first / plain.first - 1,
               gpu_share = after.second / plain.second - 1;
  answer(done && host_share < 0.05 && gpu_share < 0.005,
         "after the queue a launch takes " + rounded(100 * host_share) + " % more on the host, " +
             rounded(100 * gpu_share) + " % more on the GPU",
         {{"window_done", done},
          {"records", records},
          {"plain_host_us", plain.first},
          {"plain_gpu_us", plain.second},
          {"window_stopped_host_us", stopped.first},
          {"window_stopped_gpu_us", stopped.second},
          {"profiler_disabled_host_us", disabled.first},
          {"profiler_disabled_gpu_us", disabled.second},
          {"all_off_host_us", after.first},
          {"all_off_gpu_us", after.second}});
}

}  // namespace

void add_costs(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"launch_cost", launch_cost},
                           {"decode_cost", decode_cost},
                           {"linger", linger},
                           {"replay_1_gib", replay_1_gib},
                           {"replay_16_gib", replay_16_gib}});
}

}  // namespace gable::probe
