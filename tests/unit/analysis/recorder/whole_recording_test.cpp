// SPDX-License-Identifier: Apache-2.0
// Small runs, and the whole recordings of them: which launches and copies there were, and when.
#include <gtest/gtest.h>

#include "tests/unit/analysis/recorder/recorded_run.h"

namespace gable::tests {
namespace {

class WholeRecording : public RecordedRun {};

TEST_F(WholeRecording, HeaderAndDevices) {
  DeviceInfo device = a100();
  device.links.pcie = {4, 8};
  device.links.pcie_max = {5, 16};
  device.links.nvlinks = 12;
  device.links.nvlink_version = 3;
  profile.add_device(device);
  DeviceInfo second = a100();
  second.id = 1;
  second.compute_minor = 6;
  second.links.pcie = second.links.pcie_max = {3, 16};
  profile.add_device(second);
  run.set_thread(this, true);
  run.set_metrics(kHw1, kHwMetrics);
  const LaunchKey one = key(0, "one");
  const double values[] = {1, 2, 3};
  launch(1, one, 1);
  run.add(kHw1, 1, CounterSample{one, values});
  const RecordingText made = recording_text(run, profile.state(), {"playback", "A \"run\".", true});
  const std::string device_text =
      R"("name":"NVIDIA A100-SXM4-40GB","chip":"GA100",)"
      R"("compute_capability":[8,X],"sm_count":108,"sm_clock_max_hz":1410000000,)"
      R"("memory_clock_max_hz":1215000000,"memory_bus_bits":5120,"memory_bytes":42505273344,)"
      R"("l2_bytes":41943040)";
  std::string zero = device_text, six = device_text;
  zero[zero.find(",X]") + 1] = '0';
  six[six.find(",X]") + 1] = '6';
  EXPECT_EQ(made.text.substr(0, made.text.find("{\"kernel\"")),
            R"({"gable_recording":1,"origin":"playback","note":"A \"run\".","metrics":[)"
            R"("dram__sectors_read.sum","dram__sectors_write.sum","gpu__time_duration.sum"]})"
            "\n"
            R"({"device":0,)" +
                zero +
                R"(,"pcie":[4,8],"pcie_max":[5,16],"nvlink":[12,3]})"
                "\n"
                R"({"device":1,)" +
                six +
                R"(,"pcie":[3,16]})"
                "\n");
}

// Times are said so that each kernel begins as late after the window's begin as it did.
TEST_F(WholeRecording, ATimedStep) {
  run.set_thread(this, true);
  LaunchKey first = key(layer({"net", "a"}), "first", 2);
  first.dynamic_shared = 512;
  first.cluster = {2, 1, 1};
  const LaunchKey second = key(layer({"net", "b"}, Direction::backward), "second", 3);
  timed(1, first, 1, 1'005'000, 1'006'000);
  timed(1, second, 1, 1'007'000, 1'010'000);
  timed(1, first, 1, 1'010'500, 1'012'000, 1, 8);
  ended(1, kTime, 1'001'000, 1'020'000);
  EXPECT_EQ(lines(), R"(
{"kernel":"k0","name":"first","grid":[2,1,1],"block":[128,1,1],"cluster":[2,1,1],"dynamic_shared":512,"registers":40,"static_shared":1024,"time_ns":1250}
{"kernel":"k1","name":"second","grid":[3,1,1],"block":[128,1,1],"registers":40,"static_shared":1536,"time_ns":3000}
{"op":"push","name":"net"}
{"op":"push","name":"a"}
{"op":"launch","kernel":"k0","host_ns":4000,"time_ns":1000}
{"op":"pop"}
{"op":"pop"}
{"op":"push","name":"net","direction":"backward"}
{"op":"push","name":"b"}
{"op":"launch","kernel":"k1","time_ns":3000}
{"op":"pop"}
{"op":"pop"}
{"op":"push","name":"net"}
{"op":"push","name":"a"}
{"op":"launch","kernel":"k0","stream":1,"host_ns":3500,"time_ns":1500}
{"op":"idle","ns":9500}
{"op":"pop"}
{"op":"pop"}
)");
}

// The GPU runs behind the program: what it did after the window's end is moved into the window, so
// that the last kernel begins when the window ends.
TEST_F(WholeRecording, KernelsThatBeginAfterTheirWindow) {
  run.set_thread(this, true);
  const LaunchKey late = key(0, "late");
  timed(1, late, 1, 1'004'000, 1'005'000);
  timed(1, late, 1, 1'009'000, 1'010'001);
  ended(1, kTime, 1'000'000, 1'006'000);
  EXPECT_EQ(lines(), R"(
{"kernel":"k0","name":"late","grid":[1,1,1],"block":[128,1,1],"registers":40,"static_shared":1536,"time_ns":1001}
{"op":"launch","kernel":"k0","host_ns":1000,"time_ns":1000}
{"op":"launch","kernel":"k0","host_ns":5000,"time_ns":1001}
)");
}

// Work that waits on its stream was launched before the stream was free.
TEST_F(WholeRecording, ACallIsEarlyWhereALaterOneBeginsBefore) {
  run.set_thread(this, true);
  const LaunchKey each = key(0, "each");
  timed(1, each, 1, 1'001'000, 1'020'000, 1, 7);
  timed(1, each, 1, 1'020'000, 1'030'000, 1, 7);  // waits for the one before it
  timed(1, each, 1, 1'004'000, 1'005'000, 1, 8);
  timed(1, each, 1, 1'030'000, 1'031'000, 1, 7);
  ended(1, kTime, 1'000'000, 1'032'000);
  EXPECT_EQ(lines(), R"(
{"kernel":"k0","name":"each","grid":[1,1,1],"block":[128,1,1],"registers":40,"static_shared":1536,"time_ns":7750}
{"op":"launch","kernel":"k0","host_ns":1000,"time_ns":19000}
{"op":"launch","kernel":"k0","host_ns":3000,"time_ns":10000}
{"op":"launch","kernel":"k0","stream":1,"host_ns":0,"time_ns":1000}
{"op":"launch","kernel":"k0","host_ns":26000,"time_ns":1000}
{"op":"idle","ns":2000}
)");
}

TEST_F(WholeRecording, EqualStepsArePlayedAndUnmeasuredOnesWait) {
  run.set_thread(this, true);
  const LaunchKey a = key(layer({"net"}), "a"), b = key(0, "b");
  for (std::uint32_t step = 1; step <= 5; ++step) {
    launch(step, a);
    run.set_thread(&step, false);
    if (step != 3) launch(step, a, kNoWindow, true);
    launch(step, b);
    run.set_thread(this, true);
  }
  EXPECT_EQ(lines(true, {"2 kinds of launches were never timed; they take 1000 ns here."}),
            R"(
{"kernel":"k0","name":"a","grid":[1,1,1],"block":[128,1,1]}
{"kernel":"k1","name":"b","grid":[1,1,1],"block":[128,1,1]}
{"op":"sync"}
{"op":"gable_step"}
{"sequence":"s1"}
{"op":"push","name":"net"}
{"op":"launch","kernel":"k0"}
{"op":"launch","kernel":"k0","thread":1}
{"op":"pop"}
{"op":"launch","kernel":"k1","thread":1}
{"op":"sync"}
{"op":"gable_step"}
{"end_sequence":"s1"}
{"op":"play","sequence":"s1","times":2}
{"op":"push","name":"net"}
{"op":"launch","kernel":"k0"}
{"op":"pop"}
{"op":"launch","kernel":"k1","thread":1}
{"op":"sync"}
{"op":"gable_step"}
{"op":"play","sequence":"s1","times":2}
)");
}

// What came before the first border ends with one border, a last step that was cut off with none.
TEST_F(WholeRecording, Borders) {
  run.set_thread(this, true);
  const LaunchKey a = key(0, "a");
  timed(1, a, 1, 5000, 6000);
  timed(1, a, 1, 8000, 9000);
  launch(2, a);
  run.restart();
  timed(3, a, 2, 10000, 11000);
  timed(4, a, 3, 20000, 21500);
  timed(5, a, 4, 30000, 31000);
  ended(2, kTime, 9000, 15000);
  ended(3, kTime, 19000, 25000);
  ended(4, kTime, 29000, 35000, false);
  EXPECT_EQ(run.last_before_steps(), 2u);
  EXPECT_EQ(lines(true), R"(
{"kernel":"k0","name":"a","grid":[1,1,1],"block":[128,1,1],"registers":40,"static_shared":1536,"time_ns":1100}
{"op":"launch","kernel":"k0","host_ns":0,"time_ns":1000}
{"op":"launch","kernel":"k0","host_ns":3000,"time_ns":1000}
{"op":"launch","kernel":"k0"}
{"op":"sync"}
{"op":"gable_step"}
{"op":"launch","kernel":"k0","host_ns":1000,"time_ns":1000}
{"op":"idle","ns":5000}
{"op":"gable_step"}
{"op":"launch","kernel":"k0","host_ns":1000,"time_ns":1500}
{"op":"idle","ns":5000}
{"op":"gable_step"}
{"op":"launch","kernel":"k0","host_ns":1000,"time_ns":1000}
{"op":"idle","ns":5000}
)");
  EXPECT_EQ(lines(false).find("gable_step"), std::string::npos);
}

TEST_F(WholeRecording, Copies) {
  run.set_thread(this, true);
  timed(1, key(layer({"net"}), "a"), 1, 1'001'000, 1'002'000);
  CopyRecord copy;
  copy.start_ns = 1'003'000;
  copy.end_ns = 1'003'500;
  copy.bytes = 4096;
  copy.kind = CopyKind::host_to_device;
  copy.host = HostMemory::pageable;
  copied(0, 1, copy, layer({"net", "in"}));
  copy.host = HostMemory::pinned;
  copied(0, 1, copy);
  copy.kind = CopyKind::device_to_host;
  copy.host = HostMemory::unknown;
  copied(0, 1, copy);
  copy.kind = CopyKind::device_to_device;  // without a host's side
  copied(0, 1, copy);
  copy.kind = CopyKind::memset;
  copy.bytes.reset();
  copied(0, 1, copy);
  copy.kind = CopyKind::peer;
  copied(0, 1, copy);
  copy.kind = CopyKind::memset;
  copy.end_ns = 1'002'999;  // before it began
  copied(0, 1, copy);
  copy.end_ns = 1'003'500;
  copy.correlation = 999;  // its call was not seen
  run.add(copy);
  copy.node = 5;  // a graph made it
  run.add(copy);
  copy.node = 0;
  copy.start_ns = 1'010'000;  // in no window
  run.add(copy);
  ended(1, kTime, 1'000'000, 1'010'000);
  EXPECT_EQ(run.stray_copies(), 1u);
  EXPECT_EQ(lines(false, {"3 copies are left out: their calls or records were not seen, or "
                          "recordings have no such kind."}),
            R"(
{"kernel":"k0","name":"a","grid":[1,1,1],"block":[128,1,1],"registers":40,"static_shared":1536,"time_ns":1000}
{"op":"push","name":"net"}
{"op":"launch","kernel":"k0","host_ns":1000,"time_ns":1000}
{"op":"push","name":"in"}
{"op":"copy","kind":"h2d","bytes":4096,"host":"pageable","time_ns":500}
{"op":"pop"}
{"op":"pop"}
{"op":"copy","kind":"h2d","bytes":4096,"host_ns":0,"time_ns":500}
{"op":"copy","kind":"d2h","bytes":4096,"host":"unknown","host_ns":0,"time_ns":500}
{"op":"copy","kind":"d2d","bytes":4096,"host_ns":0,"time_ns":500}
{"op":"copy","kind":"memset","bytes":0,"host_ns":0,"time_ns":500}
{"op":"idle","ns":7000}
)");
}

TEST_F(WholeRecording, OtherDevicesContextsAndStreams) {
  run.set_thread(this, true);
  LaunchKey zero = key(0, "zero"), one = key(0, "one");
  one.device = 1;
  timed(1, zero, 1, 1'002'000, 1'003'000, 5, 30);
  timed(1, one, 1, 1'004'000, 1'005'000, 6, 40);
  timed(1, one, 1, 1'006'000, 1'007'000, 6, 41);
  timed(1, zero, 1, 1'008'000, 1'009'000, 9, 50);
  CopyRecord copy;
  copy.start_ns = 1'010'000;
  copy.end_ns = 1'011'000;
  copy.bytes = 8;
  copy.kind = CopyKind::memset;
  copy.device = 1;
  copied(0, 1, copy);
  launch(2, one);
  ended(1, kTime, 1'000'000, 1'012'000);
  EXPECT_EQ(lines(), R"(
{"kernel":"k0","name":"zero","grid":[1,1,1],"block":[128,1,1],"registers":40,"static_shared":1536,"time_ns":1000}
{"kernel":"k1","name":"one","grid":[1,1,1],"block":[128,1,1],"registers":40,"static_shared":1536,"time_ns":1000}
{"op":"context","context":1,"device":1}
{"op":"context","context":2,"device":0}
{"op":"launch","kernel":"k0","time_ns":1000}
{"op":"launch","kernel":"k1","context":1,"time_ns":1000}
{"op":"launch","kernel":"k1","stream":1,"context":1,"time_ns":1000}
{"op":"launch","kernel":"k0","context":2,"time_ns":1000}
{"op":"copy","kind":"memset","bytes":8,"context":1,"time_ns":1000}
{"op":"idle","ns":2000}
{"op":"launch","kernel":"k1","stream":1,"context":1}
{"op":"sync","context":1}
)");
}

TEST_F(WholeRecording, OfNothing) {
  profile.add_device(a100());
  const RecordingText made = recording_text(run, profile.state(), {"recorded", "A run.", true});
  EXPECT_EQ(made.text, "");
  EXPECT_EQ(made.why_not, "nothing was launched while the program was followed");
}

}  // namespace
}  // namespace gable::tests
