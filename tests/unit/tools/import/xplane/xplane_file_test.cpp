// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xplane/xplane_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/tools/import/xplane/xplane_encoder.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using Texts = std::vector<std::string>;

// What stats and events are called, in every plane.
enum Id : std::int64_t {
  correlation = 1,
  step_num,
  graph,
  step_label,
  hlo_op,
  details,
  copy_details,
  device_name,
  vendor,
  cores,
  major,
  minor,
  clock_rate,
  memory_size,
  bandwidth,
  gemm = 101,
  relu,
  h2d,
  epoch,
};

std::string names() {
  return stat_name(correlation, "correlation_id") + stat_name(step_num, "step_num") +
         stat_name(graph, "cuda_graph_exec_id") + stat_name(step_label, "step_name") +
         stat_name(hlo_op, "hlo_op") + stat_name(details, "kernel_details") +
         stat_name(copy_details, "memcpy_details") + stat_name(device_name, "gpu_device_name") +
         stat_name(vendor, "device_vendor") + stat_name(cores, "core_count") +
         stat_name(major, "compute_cap_major") + stat_name(minor, "compute_cap_minor") +
         stat_name(clock_rate, "clock_rate") + stat_name(memory_size, "memory_size") +
         stat_name(bandwidth, "memory_bandwidth") + event_name(gemm, "gemm") +
         event_name(relu, "relu", data(5, text_stat(hlo_op, "shared"))) +
         event_name(h2d, "MemcpyH2D") + event_name(epoch, "epoch 7");
}
std::string gpu(const std::string& rest, std::string_view name = "/device:GPU:0") {
  return a_plane(name, rest + names());
}
std::string host(const std::string& rest, std::string_view name = "/host:CPU") {
  return a_plane(name, rest + names());
}
std::string call(std::int64_t start_ns, std::int64_t number) {
  return event(gemm, start_ns * 1000, 1000, data(4, whole_stat(correlation, number)));
}
std::string step(std::int64_t start_ns, std::int64_t end_ns) {
  return event(epoch, start_ns * 1000, (end_ns - start_ns) * 1000,
               data(4, whole_stat(step_num, 0)));
}
std::string launched(std::int64_t start_ns, std::int64_t number) {
  return event(gemm, start_ns * 1000, 2000, data(4, whole_stat(correlation, number)));
}

class XplaneFile : public testing::Test {
 protected:
  // Empty, or how it is refused.
  std::string read(const std::string& file) {
    try {
      read_xplane_file([&] { return std::make_unique<TextSource>(file, "dir/a.pb"); }, imported);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  }
  // "layer: name start-end on device, step".
  Texts kernels(const std::string& file) {
    EXPECT_EQ(read(file), "");
    Texts all;
    for (const auto* each = imported.kernels.first(); each != nullptr;
         each = imported.kernels.next())
      all.push_back(imported.layers.shown(each->layer) + ": " +
                    imported.functions.name(each->function) + ' ' + std::to_string(each->start_ns) +
                    '-' + std::to_string(each->end_ns) + " on " + std::to_string(each->device) +
                    ", " + std::to_string(each->step));
    return all;
  }
  Texts steps() const {
    Texts all;
    for (const ImportedStep& each : imported.steps)
      all.push_back(std::to_string(each.start_ns) + '-' + std::to_string(each.end_ns));
    return all;
  }
  Imported imported;
};

TEST_F(XplaneFile, TimesAreRoundedAndAddedToTheLines) {
  const auto at = [](std::int64_t offset_ps, std::int64_t duration_ps) {
    return event(gemm, offset_ps, duration_ps);
  };
  EXPECT_EQ(
      kernels(number(1, 7) + a_plane("Task Environment", a_line("x", "")) +
              gpu(number(3, 7) + a_line("Stream #1",
                                        at(0, 499) + at(499, 500) + at(500, 1499) + at(1500, 2000) +
                                            at(-499, 0) + at(-500, 0) + at(-1500, 7000),
                                        1000))),
      (Texts{"(no layer): gemm 998-1005 on 0, 0", "(no layer): gemm 999-999 on 0, 0",
             "(no layer): gemm 1000-1000 on 0, 0", "(no layer): gemm 1000-1001 on 0, 0",
             "(no layer): gemm 1000-1000 on 0, 0", "(no layer): gemm 1001-1002 on 0, 0",
             "(no layer): gemm 1002-1004 on 0, 0"}));
  EXPECT_TRUE(imported.notes.empty());
  EXPECT_TRUE(imported.devices.empty());
  EXPECT_EQ(imported.times_from, Texts{"JAX's or TensorFlow's profiler (a.pb)"});
}

TEST_F(XplaneFile, TimesOutOfRangeAreRefused) {
  for (const std::string& lane : {a_line("Stream #1", event(gemm, 0, -1)),
                                  a_line("Stream #1", event(gemm, 1000, 0), INT64_MAX),
                                  a_line("Stream #1", event(gemm, 0, 1000), INT64_MAX)})
    EXPECT_NE(read(gpu(lane)).find("out of range"), std::string::npos);
  EXPECT_EQ(read(gpu(a_line("Stream #1", event(gemm, 0, 0), INT64_MAX))), "");
}

TEST_F(XplaneFile, EventsHaveTheirTextsAndThoseOfTheirName) {
  EXPECT_EQ(kernels(gpu(a_line("Stream #1", event(relu, 1000, 1000) +
                                                event(relu, 2000, 1000,
                                                      data(4, text_stat(hlo_op, "own")) +
                                                          data(4, text_stat(99, "x"))) +
                                                event(gemm, 3000, 1000) + event(99, 4000, 1000)))),
            (Texts{"shared: relu 1-2 on 0, 0", "own: relu 2-3 on 0, 0",
                   "(no layer): gemm 3-4 on 0, 0", "(no layer): (unnamed) 4-5 on 0, 0"}));
}

TEST_F(XplaneFile, OnlyLanesOfStreamsCount) {
  const std::string shown = data(11, "Stream #7");
  EXPECT_EQ(
      kernels(gpu(
          a_line("XLA Ops", event(gemm, 1000, 1000)) +
          a_line("7", shown + event(gemm, 2000, 1000) + data(11, "x") + number(1, 4)) +
          a_line("Stream #8", data(11, "Ops") + event(gemm, 3000, 1000)) +
          a_line("Stream #9", data(4, number(1, gemm) + number(5, 3)) + event(gemm, 4000, 1000)))),
      (Texts{"(no layer): gemm 2-3 on 0, 0", "(no layer): gemm 4-5 on 0, 0"}));
  for (const std::string& behind : {data(2, "Stream #2"), number(3, 4)})
    EXPECT_NE(read(gpu(a_line("Stream #1", event(gemm, 1000, 1000) + behind))).find("behind its"),
              std::string::npos);
  EXPECT_EQ(read(gpu(a_line("Stream #1", event(gemm, 1000, 1000) + number(2, 4) + data(3, "x")))),
            "");
}

TEST_F(XplaneFile, CopiesAndWholeGraphsAreNoKernels) {
  EXPECT_EQ(
      kernels(gpu(a_line("Stream #1",
                         event(gemm, 1000, 1000) +
                             event(h2d, 5000, 1000, data(4, text_stat(copy_details, "size:64"))) +
                             event(relu, 7000, 1000, data(4, whole_stat(graph, 7)))))),
      Texts{"(no layer): gemm 1-2 on 0, 0"});
  ASSERT_EQ(imported.copies.size(), 1u);
  EXPECT_EQ(imported.copies.first()->record.bytes, 64u);
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_TRUE(imported.notes[0].starts_with("1 ")) << imported.notes[0];
}

TEST_F(XplaneFile, WorkIsInTheStepOfItsCall) {
  EXPECT_EQ(
      kernels(gpu(a_line("Stream #1", launched(500, 5) + launched(600, 6) + launched(700, 9))) +
              host(a_line("python", step(10, 100) + step(110, 200), 0, 1) +
                   a_line("worker", call(20, 5) + call(120, 6) + call(300, 9), 0, 2))),
      (Texts{"(no layer): gemm 700-702 on 0, 0", "(no layer): gemm 500-502 on 0, 1",
             "(no layer): gemm 600-602 on 0, 2"}));
  EXPECT_EQ(steps(), (Texts{"10-100", "110-200"}));
}

TEST_F(XplaneFile, LinesOfTheHostAreThreads) {
  // The first thread begins its next step while the second's lasts.
  (void)kernels(
      gpu(a_line("Stream #1", launched(500, 5))) +
      host(a_line("a", step(10, 20) + step(25, 30), 0, 1) + a_line("a", step(15, 40), 0, 2)));
  EXPECT_EQ(steps(), (Texts{"10-25", "25-40"}));
}

TEST_F(XplaneFile, ProcessesNumberTheirCallsByThemselves) {
  EXPECT_EQ(kernels(gpu(a_line("Stream #1", launched(500, 5))) +
                    gpu(a_line("Stream #1", launched(500, 5)), "/device:GPU:1 [47]") +
                    host(a_line("a", step(10, 20) + step(30, 40) + call(15, 5))) +
                    host(a_line("a", call(35, 5)), "/host:CPU [47]")),
            (Texts{"(no layer): gemm 500-502 on 0, 1", "(no layer): gemm 500-502 on 1, 2"}));
}

TEST_F(XplaneFile, ACorrelationIsANumberFrom0) {
  // Without one the time on the GPU decides.
  EXPECT_EQ(kernels(gpu(a_line("Stream #1",
                               launched(15, -5) + event(gemm, 35000, 1000,
                                                        data(4, text_stat(correlation, "5"))))) +
                    host(a_line("a", step(10, 20) + step(30, 40) + call(16, 5) + call(500, -5)))),
            (Texts{"(no layer): gemm 15-17 on 0, 1", "(no layer): gemm 35-36 on 0, 2"}));
}

TEST_F(XplaneFile, OldProfilersHaveALaneOfSteps) {
  const auto labelled = [](std::int64_t start, const std::string& label) {
    return event(epoch, start * 1000, 50000, data(4, text_stat(step_label, label)));
  };
  EXPECT_EQ(
      kernels(gpu(a_line("Steps",
                         labelled(100, "1") + labelled(200, "2") + event(epoch, 300000, 50000)) +
                  a_line("Stream #1", launched(110, 0) + launched(210, 0) + launched(310, 0))) +
              gpu(a_line("Steps", labelled(400, "2") + event(epoch, 500000, 50000)) +
                      a_line("Stream #1", launched(410, 0) + launched(510, 0)),
                  "/device:GPU:1")),
      (Texts{"(no layer): gemm 110-112 on 0, 1", "(no layer): gemm 210-212 on 0, 2",
             "(no layer): gemm 410-412 on 1, 2", "(no layer): gemm 310-312 on 0, 3",
             "(no layer): gemm 510-512 on 1, 3"}));
  EXPECT_EQ(steps(), (Texts{"100-150", "200-450", "300-550"}));
}

TEST_F(XplaneFile, RangesOfTheHostAreStepsWhereTheyAreAskedFor) {
  imported.step_range = "^epoch";
  EXPECT_EQ(kernels(gpu(a_line("Stream #1", launched(500, 5))) +
                    host(a_line("a", event(epoch, 10000, 10000) + event(epoch, 30000, 10000) +
                                         event(relu, 0, 90000) + call(35, 5)))),
            Texts{"(no layer): gemm 500-502 on 0, 2"});
  EXPECT_EQ(steps(), (Texts{"10-20", "30-40"}));
}

TEST_F(XplaneFile, GpusThatKernelsRanOnAreTold) {
  const std::string stream = a_line("Stream #1", event(gemm, 1000, 1000));
  const auto stat = [](std::int64_t id, std::int64_t value) {
    return data(6, whole_stat(id, value));
  };
  EXPECT_EQ(read(gpu(stream + data(6, text_stat(device_name, "H100")) + stat(cores, 132) +
                     stat(major, 9) + stat(minor, 3) + stat(clock_rate, 1980000) +
                     stat(memory_size, 85029158912) + stat(bandwidth, 3352320000000)) +
                 gpu(a_line("Stream #1", "") + stat(cores, 4), "/device:GPU:1") +
                 gpu(stream, "/device:GPU:2") +
                 gpu(stream + data(6, text_stat(vendor, "AMD")), "/device:GPU:3") +
                 gpu(stream + data(6, text_stat(vendor, "AMD")) +
                         data(6, text_stat(device_name, std::string(257, 'M'))),
                     "/device:GPU:4") +
                 gpu(stream + data(6, text_stat(vendor, "AMD")) +
                         data(6, text_stat(device_name, "AMD MI300")),
                     "/device:GPU:5") +
                 gpu(stream + data(6, text_stat(vendor, "Nvidia")), "/device:GPU:6")),
            "");
  ASSERT_EQ(imported.devices.size(), 5u);
  const DeviceInfo& first = imported.devices.at(0);
  EXPECT_EQ(first.name, "H100");
  EXPECT_EQ(first.sm_count, 132);
  EXPECT_EQ(first.compute_major, 9);
  EXPECT_EQ(first.compute_minor, 3);
  EXPECT_EQ(first.sm_clock_max_hz, 1'980'000'000u);
  EXPECT_EQ(first.memory_bytes, 85'029'158'912u);
  EXPECT_EQ(imported.devices.at(3).name, "AMD GPU");
  EXPECT_EQ(imported.devices.at(4).name, "AMD " + std::string(256, 'M'));
  EXPECT_EQ(imported.devices.at(5).name, "AMD MI300");
  EXPECT_EQ(imported.devices.at(6).name, "");
  EXPECT_EQ(imported.devices.at(6).id, 6);
  ASSERT_EQ(imported.stated.size(), 1u);
  EXPECT_EQ(imported.stated[0].device, 0);
  EXPECT_EQ(imported.stated[0].kind, CeilingKind::memory);
  EXPECT_EQ(imported.stated[0].name, "dram");
  EXPECT_EQ(imported.stated[0].value, 3352320000000.0);
}

TEST_F(XplaneFile, NumbersOfAGpuOutOfRangeAreUnknown) {
  const auto device = [](std::int64_t shift) {
    Imported fresh;
    const std::string file =
        gpu(a_line("Stream #1", event(gemm, 1000, 1000)) +
            data(6, whole_stat(cores, (1 << 20) + shift)) +
            data(6, whole_stat(major, 1000 + shift)) + data(6, whole_stat(minor, 1000 + shift)) +
            data(6, whole_stat(clock_rate, 100'000'000 + shift)) +
            data(6, whole_stat(memory_size, (std::int64_t{1} << 50) + shift)));
    read_xplane_file([&] { return std::make_unique<TextSource>(file, "a"); }, fresh);
    return fresh.devices.at(0);
  };
  EXPECT_EQ(device(0).sm_count, 1 << 20);
  EXPECT_EQ(device(0).compute_major, 1000);
  EXPECT_EQ(device(0).compute_minor, 1000);
  EXPECT_EQ(device(0).sm_clock_max_hz, 100'000'000'000u);
  EXPECT_EQ(device(0).memory_bytes, std::uint64_t{1} << 50);
  EXPECT_EQ(device(1).sm_count, 0);
  EXPECT_EQ(device(1).compute_major, 0);
  EXPECT_EQ(device(1).compute_minor, 0);
  EXPECT_EQ(device(1).sm_clock_max_hz, 0u);
  EXPECT_EQ(device(1).memory_bytes, 0u);
  EXPECT_EQ(device(-2'000'000).sm_count, 0);
  EXPECT_EQ(device(-2'000'000).compute_major, 0);
}

TEST_F(XplaneFile, DroppedRecordsAreTold) {
  (void)kernels(data(3, "12 events dropped because a;") +
                gpu(a_line("Stream #1", event(gemm, 1000, 1000))));
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_NE(imported.notes[0].find(" 12 records"), std::string::npos);
}

TEST_F(XplaneFile, WithoutGpuWorkItIsRefused) {
  const std::string refused =
      read(a_plane("/host:x", a_line("a", "")) + a_plane("b", a_line("a", "")));
  EXPECT_TRUE(refused.starts_with("dir/a.pb is an XPlane file")) << refused;
  EXPECT_NE(refused.find("; it has /host:x (1 lane), b (1 lane)."), std::string::npos) << refused;
  EXPECT_EQ(refused.find("another kind"), std::string::npos);
  EXPECT_NE(read(a_plane("/device:TPU:0", "")).find("another kind of device."), std::string::npos);
  EXPECT_EQ(read(a_plane("/device:TPU:0", "") + a_plane("/device:GPU:0", "")).find("another kind"),
            std::string::npos);
  EXPECT_NE(read(data(2, "No GPU detected")).find("found no GPU"), std::string::npos);
}

}  // namespace
}  // namespace gable
