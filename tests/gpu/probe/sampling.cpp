// SPDX-License-Identifier: Apache-2.0
// PM sampling, which Gable does not use yet: what a later phase of it would stand on.
#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "tests/gpu/probe/experiments.h"
#include "tests/gpu/probe/sampler.h"

namespace gable::probe {
namespace {

constexpr std::size_t kGib = std::size_t{1} << 30;

std::string fixed(double value, const char* format = "%.3f") {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// DRAM sectors of the plan, and thread blocks where a pass has room for them.
std::vector<std::string> wanted() {
  std::vector<std::string> metrics;
  for (const std::string& metric : hw_pass().metrics) {
    if (metric.rfind("dram__sectors", 0) == 0) metrics.push_back(metric);
  }
  if (metrics.empty()) throw Skipped("This chip counts no DRAM traffic.");
  metrics.push_back(kCtas);
  return metrics;
}

double sum_of(const Sampler& sampler, const Samples& samples, const std::string& begin,
              double weight) {
  double sum = 0;
  for (std::size_t i = 0; i < samples.sums.size(); ++i)
    sum += sampler.metrics()[i].rfind(begin, 0) == 0 ? weight * samples.sums[i] : 0;
  return sum;
}

double bytes_of(const Sampler& sampler, const Samples& samples) {
  return sum_of(sampler, samples, "dram__sectors", 32);
}

// Copies of 1 GiB on a GPU of its own, and a sampler that is on.
struct Copies {
  static constexpr int kTimes = 20;
  Sampler sampler;  // first: without PM sampling nothing else is needed
  Work work;
  CUfunction copy;
  CUdeviceptr from, to;

  Copies()
      : copy(work.gpu.kernel(kKernels, "probe_copy")),
        from(work.large(kGib)),
        to(work.large(kGib)) {}
  void one(CUstream stream = nullptr) const {
    work.gpu.launch(copy, {2048, 512, stream}, to, from,
                    static_cast<unsigned long long>(kGib / 16));
  }
  void run(int times = kTimes) const {
    for (int i = 0; i < times; ++i) one();
    work.gpu.wait();
  }
  static double known(int times = kTimes) { return 2.0 * times * static_cast<double>(kGib); }
  static Json off() { return {{"enabled", false}}; }
};

// The work under sampling; nothing when a call failed.
std::optional<Samples> sampled(Sampler& sampler, const SamplerSettings& settings,
                               const std::function<void()>& work) {
  if (!sampler.start(settings)) return std::nullopt;
  work();
  Samples samples;
  if (!sampler.stop() || !sampler.decode(samples)) return std::nullopt;
  return samples;
}

Json row_of(const Samples& samples, double share) {
  return {{"samples", samples.count},
          {"not_numbers", samples.unknown},
          {"overflow", samples.overflow},
          {"image_filled_up", samples.full},
          {"shortest_ns", samples.shortest_ns},
          {"longest_ns", samples.longest_ns},
          {"bytes_share", share}};
}

// Beside activity, and whether a range profiler can be enabled in between.
void sampling() {
  Copies copies;
  start_engine();
  activity_on();
  if (!copies.sampler.enable(wanted()))
    return answer(false, "Sampling could not be enabled.", Copies::off());
  Json fields = {{"available_bytes", copies.sampler.available_bytes()}};
  bool done = true;
  std::string says = "sampled / copied:";
  for (const std::uint64_t interval : {100000U, 20000U, 5000U}) {
    const auto samples = sampled(copies.sampler, {interval}, [&] { copies.run(); });
    done = done && samples;
    if (!samples) continue;
    const double share = bytes_of(copies.sampler, *samples) / Copies::known();
    fields[std::to_string(interval) + "_ns"] = row_of(*samples, share);
    says += " " + fixed(share) + " at " + std::to_string(interval / 1000) + " us";
  }
  Profiler profiler(copies.work.context());
  const bool beside = profiler.enable();
  if (beside) profiler.disable();
  const std::size_t records = flushed_records().kernels;
  fields["records"] = records;
  fields["range_profiler_beside"] = beside;
  answer(done && records == std::size_t{3} * Copies::kTimes,
         says + "; " + std::to_string(records) + " records beside", fields);
}

// The shortest interval at which every sample comes. By the system's clock where the GPU's time is
// refused, which it is before Ada.
void sampling_interval() {
  Copies copies;
  start_engine();
  if (!copies.sampler.enable(wanted()))
    return answer(false, "Sampling could not be enabled.", Copies::off());
  Json fields;
  std::uint64_t shortest = 0;
  bool by_clock = false, whole = true;
  for (const std::uint64_t interval :
       {1000000U, 100000U, 50000U, 20000U, 10000U, 5000U, 2000U, 1000U}) {
    SamplerSettings settings{interval, by_clock};
    auto samples = sampled(copies.sampler, settings, [&] { copies.run(); });
    if (!samples && !by_clock && shortest == 0) {
      settings.by_clock = by_clock = true;
      samples = sampled(copies.sampler, settings, [&] { copies.run(); });
    }
    Json row = {{"came", samples.has_value()}};
    if (samples) {
      const auto span = static_cast<double>(samples->last_ns - samples->first_ns);
      const double mean = samples->count == 0 ? 0 : span / static_cast<double>(samples->count);
      row = row_of(*samples, bytes_of(copies.sampler, *samples) / Copies::known());
      row["mean_ns"] = mean;
      whole = whole && !samples->overflow && samples->unknown == 0 &&
              std::abs(row["bytes_share"].get<double>() - 1) < 0.05;
      if (whole) shortest = interval;
    }
    whole = whole && samples;
    fields["at_" + std::to_string(interval)] = row;
    observe("interval", {{"interval", interval}, {"by_clock", settings.by_clock}, {"row", row}});
  }
  fields["by_clock"] = by_clock;
  fields["shortest"] = shortest;
  answer(shortest > 0 && shortest <= 100000,
         "every sample comes down to " + std::to_string(shortest) +
             (by_clock ? " cycles of the system's clock" : " ns"),
         fields);
}

// A hardware buffer that is too small: what says so, and does a new start work?
void sampling_overflow() {
  Copies copies;
  start_engine();
  if (!copies.sampler.enable(wanted()))
    return answer(false, "Sampling could not be enabled.", Copies::off());
  Json fields;
  bool told_of = true, recovered = true;
  std::string says;
  for (const bool latest : {false, true}) {
    const std::size_t before = failures().size();
    SamplerSettings small{5000, false, std::size_t{256} << 10, latest};
    const auto samples = sampled(copies.sampler, small, [&] { copies.run(200); });
    const std::string said = failures().size() > before ? failures()[before] : "no call fails";
    const bool again =
        sampled(copies.sampler, {100000}, [&] { copies.run(); }).value_or(Samples{}).count > 0;
    const bool overflow = samples && samples->overflow;
    const std::string name = latest ? "keep_latest" : "keep_oldest";
    fields[name] = {
        {"said", said},
        {"overflow", overflow},
        {"samples", samples ? samples->count : 0},
        {"bytes_share", samples ? bytes_of(copies.sampler, *samples) / Copies::known(200) : 0},
        {"works_again", again}};
    told_of = told_of && (overflow || failures().size() > before);
    recovered = recovered && again;
    says += (latest ? "; latest kept: " : "oldest kept: ") + said +
            (overflow ? ", overflow" : ", no overflow") +
            (again ? ", works again" : ", does not work again");
  }
  answer(told_of && recovered, says, fields);
}

// Do records change under sampling, and do all of them come?
void sampling_activity() {
  Copies copies;
  constexpr int kLaunches = 200;
  start_engine();
  activity_on();
  const auto recorded = [&] {
    (void)flushed_records();
    copies.work.fma(kLaunches);
    copies.work.gpu.wait();
    return flushed_records();
  };
  (void)recorded();
  const Records plain = recorded();
  Records during;
  if (!copies.sampler.enable(wanted()))
    return answer(false, "Sampling could not be enabled.", Copies::off());
  activity_on();
  const auto samples = sampled(copies.sampler, {20000}, [&] { during = recorded(); });
  const double ratio = gpu::median(during.durations_ns) / gpu::median(plain.durations_ns);
  const double ctas = samples ? sum_of(copies.sampler, *samples, kCtas, 1) : 0;
  const double blocks = static_cast<double>(kGrid) * kLaunches;
  answer(samples && during.kernels == kLaunches && during.zero_times == 0 &&
             std::abs(ratio - 1) < 0.05,
         std::to_string(during.kernels) + " of " + std::to_string(kLaunches) +
             " records beside sampling, their times x " + fixed(ratio) +
             ", sampled thread blocks / launched " + fixed(ctas / blocks, "%.4f"),
         {{"window_done", samples.has_value()},
          {"records_plain", plain.kernels},
          {"records", during.kernels},
          {"zero_times", during.zero_times},
          {"time_ratio", ratio},
          {"thread_blocks_share", ctas / blocks}});
}

// Copies in a graph.
void sampling_graph() {
  Copies copies;
  const CUstream stream = Work::stream();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  GABLE_CU(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  for (int i = 0; i < 5; ++i) copies.one(stream);
  GABLE_CU(cuStreamEndCapture, stream, &graph);
  GABLE_CU(cuGraphInstantiate, &exec, graph, 0);
  start_engine();
  activity_on();
  if (!copies.sampler.enable(wanted()))
    return answer(false, "Sampling could not be enabled.", Copies::off());
  (void)flushed_records();
  const auto samples = sampled(copies.sampler, {100000}, [&] {
    for (int i = 0; i < 4; ++i) GABLE_CU(cuGraphLaunch, exec, stream);
    GABLE_CU(cuStreamSynchronize, stream);
  });
  const std::size_t records = flushed_records().kernels;
  const double share = samples ? bytes_of(copies.sampler, *samples) / Copies::known() : 0;
  answer(samples && records == 20 && std::abs(share - 1) < 0.05,
         "of 20 copies in graphs: sampled / copied " + fixed(share) + ", " +
             std::to_string(records) + " records",
         {{"window_done", samples.has_value()}, {"records", records}, {"bytes_share", share}});
}

// The bytes of samples against those of ranges, of the same launches in two windows.
void sampling_bytes() {
  Copies copies;
  start_engine();
  double ranged = 0;
  {
    Profiler profiler(copies.work.context());
    std::vector<Profiler::Range> ranges;
    if (!profiler.enable() || !window(
                                  profiler, hw_pass(), 64, [&] { copies.run(); }, ranges))
      return answer(false, "The window could not be taken.", Copies::off());
    for (const std::string& metric : hw_pass().metrics) {
      if (metric.rfind("dram__sectors", 0) != 0) continue;
      for (const double value : profiler.values(ranges, metric)) ranged += 32 * value;
    }
    profiler.disable();
  }
  if (!copies.sampler.enable(wanted()))
    return answer(false, "Sampling could not be enabled.", Copies::off());
  const auto samples = sampled(copies.sampler, {100000}, [&] { copies.run(); });
  const double bytes = samples ? bytes_of(copies.sampler, *samples) : 0;
  answer(samples && std::abs(bytes / ranged - 1) < 0.02,
         "sampled / ranged " + fixed(bytes / ranged, "%.4f") + ", ranged / copied " +
             fixed(ranged / Copies::known(), "%.4f"),
         {{"window_done", samples.has_value()},
          {"sampled_bytes", bytes},
          {"ranged_bytes", ranged},
          {"known_bytes", Copies::known()}});
}

// Cycles of a known number take as long as the SM clock says: does sampling lock it?
void sampling_clock() {
  Copies copies;
  const CUfunction spin = copies.work.gpu.kernel(kKernels, "probe_spin");
  constexpr unsigned long long kCycles = 20000000;
  const auto mhz = [&] {
    copies.run(50);  // as warm as work makes it
    const double ns = copies.work.gpu.event_ns([&] {
      copies.work.gpu.launch(spin, {1, 1}, copies.work.out, copies.work.out, kCycles);
    });
    return static_cast<double>(kCycles) / ns * 1000;
  };
  (void)mhz();
  const double before = mhz();
  start_engine();
  if (!copies.sampler.enable(wanted()))
    return answer(false, "Sampling could not be enabled.", Copies::off());
  const double enabled = mhz();
  double during = 0;
  const auto samples = sampled(copies.sampler, {100000}, [&] { during = mhz(); });
  copies.sampler.disable();
  const double after = mhz();
  answer(samples && std::abs(during / before - 1) < 0.02 && std::abs(after / before - 1) < 0.02,
         "SM clock in MHz: before " + fixed(before, "%.0f") + ", enabled " +
             fixed(enabled, "%.0f") + ", sampling " + fixed(during, "%.0f") + ", after " +
             fixed(after, "%.0f"),
         {{"window_done", samples.has_value()},
          {"before_mhz", before},
          {"enabled_mhz", enabled},
          {"sampling_mhz", during},
          {"after_mhz", after}});
}

// What 200 steps take with a thread that decodes every 10 ms, against plain ones.
void sampling_cost() {
  Copies copies;
  constexpr int kSteps = 200;
  const auto steps = [&] {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kSteps; ++i) {
      copies.work.fma(100);
      copies.one();
      copies.work.gpu.wait();
    }
    return us_since(began) / kSteps;
  };
  (void)steps();
  const double plain = steps();
  start_engine();
  if (!copies.sampler.enable(wanted()) || !copies.sampler.start({100000}))
    return answer(false, "Sampling could not be started.", Copies::off());
  Samples samples;
  std::atomic<bool> done = false;
  std::size_t decodes = 0;
  double busy_us = 0;
  bool good = true;
  std::thread decoder([&] {
    while (!done && good) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const auto began = std::chrono::steady_clock::now();
      good = copies.sampler.decode(samples);
      busy_us += us_since(began);
      ++decodes;
    }
  });
  const double with = steps();
  done = true;
  decoder.join();
  good = copies.sampler.stop() && copies.sampler.decode(samples) && good;
  copies.sampler.disable();
  const double after = steps();
  const double share = bytes_of(copies.sampler, samples) / Copies::known(kSteps);
  answer(good && with / plain < 1.02,
         "a step of " + fixed(plain, "%.0f") + " us takes " +
             fixed(100 * (with / plain - 1), "%.2f") + " % more under sampling, " +
             fixed(100 * (after / plain - 1), "%.2f") + " % more after it; decoding takes " +
             fixed(100 * busy_us / (with * kSteps), "%.1f") + " % of a core; sampled / copied " +
             fixed(share),
         {{"steps", kSteps},
          {"plain_us", plain},
          {"sampled_us", with},
          {"after_us", after},
          {"decodes", decodes},
          {"decode_us", busy_us},
          {"samples", samples.count},
          {"bytes_share", share}});
}

}  // namespace

void add_sampling(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"sampling", sampling},
                           {"sampling_interval", sampling_interval},
                           {"sampling_overflow", sampling_overflow},
                           {"sampling_activity", sampling_activity},
                           {"sampling_graph", sampling_graph},
                           {"sampling_bytes", sampling_bytes},
                           {"sampling_clock", sampling_clock},
                           {"sampling_cost", sampling_cost}});
}

}  // namespace gable::probe
