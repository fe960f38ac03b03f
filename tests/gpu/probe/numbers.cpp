// SPDX-License-Identifier: Apache-2.0
// Times and counts against what is known. The stage `truth` goes further, through the product.
#include <cmath>
#include <map>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

constexpr int kTimes = 11;

// A duration three ways: counted, recorded, and between two events.
void times() {
  Work work;
  const CUfunction spin = work.gpu.kernel(kKernels, "probe_spin");
  struct Length {
    const char* name;
    unsigned grid;  // tells them apart where nothing runs
    double us;
  };
  constexpr Length kLengths[] = {{"2us", 1, 2}, {"50us", 2, 50}, {"5ms", 3, 5000}};
  const double clock_khz = work.gpu.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  const auto launch = [&](const Length& length) {
    work.gpu.launch(spin, {length.grid, 1}, work.out, work.out,
                    static_cast<unsigned long long>(length.us * clock_khz / 1000));
  };
  std::map<std::string, Json> rows;
  for (const Length& length : kLengths) {
    std::vector<double> ns;
    ns.reserve(kTimes);
    for (int i = 0; i < kTimes; ++i) ns.push_back(work.gpu.event_ns([&] { launch(length); }));
    rows[length.name]["events_ns"] = gpu::median(ns);
  }
  activity_on();
  for (const Length& length : kLengths) {
    (void)flushed_records();
    for (int i = 0; i < kTimes; ++i) launch(length);
    work.gpu.wait();
    rows[length.name]["activity_ns"] = gpu::median(flushed_records().durations_ns);
  }
  activity_off();
  start_engine();
  Profiler profiler(work.context());
  bool done = profiler.enable(), agrees = done;
  for (const Length& length : kLengths) {
    std::vector<Profiler::Range> ranges;
    done = done && window(
                       profiler, hw_pass(), 64,
                       [&] {
                         for (int i = 0; i < kTimes; ++i) launch(length);
                       },
                       ranges);
    Json& row = rows[length.name];
    const double counted = gpu::median(profiler.values(ranges, kTime));
    const double cycles = gpu::median(profiler.values(ranges, "sm__cycles_elapsed.avg"));
    row["counted_ns"] = counted;
    row["sm_clock_mhz"] = cycles / counted * 1000;
    const double activity = row["activity_ns"].get<double>();
    // A range begins and ends half a microsecond beside its kernel.
    if (length.us >= 50) agrees = agrees && std::abs(counted - activity) < 0.01 * activity + 1000;
  }
  Json fields = {{"window_done", done}};
  std::string says = "counted / recorded:";
  for (const Length& length : kLengths) {
    const Json& row = rows[length.name];
    fields[length.name] = row;
    char text[48];
    std::snprintf(text, sizeof text, " %s %.4f", length.name,
                  row["counted_ns"].get<double>() / row["activity_ns"].get<double>());
    says += text;
  }
  answer(done && agrees, says, fields);
}

double value_of(Profiler& profiler, const PassPlan& pass, const std::function<void()>& launch,
                const std::string& metric) {
  std::vector<Profiler::Range> ranges;
  if (!window(profiler, pass, 16, launch, ranges)) return std::nan("");
  const auto values = profiler.values(ranges, metric);
  return values.empty() ? std::nan("") : values.back();
}

std::string metric_like(const PassPlan& pass, const std::string& begin, const std::string& part) {
  for (const std::string& metric : pass.metrics) {
    if (metric.rfind(begin, 0) == 0 && metric.find(part) != std::string::npos) return metric;
  }
  return "";
}

// Counts of instructions, and the DRAM traffic of the third of three copies.
void counts() {
  Work work;
  const CUfunction half = work.gpu.kernel(kKernels, "probe_hfma2");
  const CUfunction copy = work.gpu.kernel(kKernels, "probe_copy");
  const std::size_t bytes = std::size_t{1} << 30;
  const CUdeviceptr from = work.large(bytes), to = work.large(bytes);
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable()) return answer(false, "The profiler could not be enabled.", {});
  const double ffma = value_of(
      profiler, flops_pass(), [&] { work.fma(); }, kFfma);
  const auto halves = [&] { work.gpu.launch(half, {kGrid, kBlock}, work.out, work.out, kTurns); };
  const double hfma = value_of(profiler, flops_pass(), halves, kHfma);
  const double moves = value_of(
      profiler, flops_pass(), [&] { work.fma(); }, kHfma);
  const auto third = [&] {
    for (int i = 0; i < 3; ++i)
      work.gpu.launch(copy, {2048, 512}, to, from, static_cast<unsigned long long>(bytes / 16));
  };
  const std::string reads = metric_like(hw_pass(), "dram__sectors", "read");
  const std::string writes = metric_like(hw_pass(), "dram__sectors", "write");
  Json fields;
  if (reads.empty() || writes.empty())
    fields["unknown"] = {{"dram_read", "this chip counts no DRAM traffic"},
                         {"dram_written", "this chip counts no DRAM traffic"}};
  const double read = 32 * value_of(profiler, hw_pass(), third, reads);
  const double written = 32 * value_of(profiler, hw_pass(), third, writes);
  const double size = static_cast<double>(bytes);
  const bool near = std::abs(read / size - 1) < 0.02 && std::abs(written / size - 1) < 0.02;
  char text[160];
  std::snprintf(text, sizeof text,
                "counted / known: FFMA %.6f, HFMA2 %.6f; third copy of 1 GiB read %.4f, written "
                "%.4f",
                ffma / Work::ffma(), hfma / Work::ffma(), read / size, written / size);
  fields.update({{"ffma", ffma},
                 {"ffma_known", Work::ffma()},
                 {"hfma", hfma},
                 {"hfma_known", Work::ffma()},
                 {"hfma_in_fp32_kernel_a_thread", moves / kGrid / kBlock},
                 {"dram_read", read},
                 {"dram_written", written},
                 {"dram_known", size}});
  // HFMA2 moves a constant now and then: a few a thread.
  answer(ffma == Work::ffma() && hfma >= Work::ffma() && hfma <= Work::ffma() * 1.008 && near, text,
         fields);
}

}  // namespace

void add_numbers(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"counts", counts}, {"times", times}});
}

}  // namespace gable::probe
