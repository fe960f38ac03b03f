// SPDX-License-Identifier: Apache-2.0
// Recordings of runs: what they leave out when they grow too large, and that they say so.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/recorder/recording_text.h"
#include "analysis/recording/recording.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

constexpr std::uint64_t kBegin = 1'000'000;

class RecordingTextTest : public ProfileTest {
 protected:
  // `steps` of which each second is timed, of `launches` kernels with other counters every time.
  // `fresh`: each step launches others.
  void run(RunRecorder& run, std::uint32_t steps, std::uint32_t launches, bool fresh = false) {
    profile.add_device(a100());
    run.set_metrics(kHw1, kHwMetrics);
    run.set_thread(this, true);
    std::uint32_t correlation = 1;
    for (std::uint32_t step = 1; step <= steps; ++step) {
      const bool timed = step % 2 == 0;
      const Phase phase = timed ? kTime : kHw1;
      for (std::uint32_t i = 0; i < launches; ++i, ++correlation) {
        LaunchEvent launch;
        launch.key = key(layer({"net", "layer" + std::to_string(i % 7)}), "kernel",
                         fresh ? correlation : i + 1);
        launch.window = step;
        launch.correlation = correlation;
        run.add(step, launch);
        if (!timed) {
          const double values[] = {1.0 * correlation, 2, 3};
          run.add(phase, step, CounterSample{launch.key, values});
          continue;
        }
        KernelRecord record;
        record.correlation = correlation;
        record.start_ns = kBegin + std::uint64_t{correlation} * 10000;
        record.end_ns = record.start_ns + 1000 + correlation;
        run.add(record);
      }
      WindowEnd end;
      end.window = step;
      end.phase = phase;
      run.end_window(end);
    }
  }

  RecordingText text(const RunRecorder& run) {
    return recording_text(run, profile.state(), {"recorded", "A test.", true});
  }

  static std::size_t launches_of(const Recording& recording) {
    std::size_t count = 0;
    const auto of = [](const std::vector<RecordedOp>& ops) {
      return static_cast<std::size_t>(std::count_if(
          ops.begin(), ops.end(), [](const auto& op) { return op.kind == OpKind::launch; }));
    };
    for (const auto& op : recording.ops) {
      if (op.kind == OpKind::launch) ++count;
      if (op.kind == OpKind::play) count += op.amount * of(recording.sequences[op.index].ops);
    }
    return count;
  }
};

TEST_F(RecordingTextTest, HasEveryLaunchWithItsOwnValues) {
  RunRecorder recorder;
  run(recorder, 4, 20);
  const auto result = text(recorder);
  EXPECT_EQ(result.left_out, std::vector<std::string>{});
  const auto read = parse_recording(result.text, "r");
  ASSERT_NE(read.recording, nullptr) << read.error;
  EXPECT_EQ(launches_of(*read.recording), 80u);
  EXPECT_EQ(read.recording->kernels.size(), 20u);
  std::vector<double> reads;
  for (const auto& op : read.recording->ops)
    if (op.counters != nullptr) reads.push_back(op.counters->at("dram__sectors_read.sum"));
  ASSERT_EQ(reads.size(), 40u);
  EXPECT_EQ(reads.front(), 1);
  EXPECT_EQ(reads.back(), 60);
  EXPECT_EQ(read.recording->kernels.front().counters.at("dram__sectors_read.sum"), (1 + 41) / 2.0);
}

TEST_F(RecordingTextTest, StaysUnderItsLimitAndSaysWhatItLeftOut) {
  RunRecorder whole;
  run(whole, 6, 40);
  const auto full = text(whole).text.size();
  std::size_t before = full;
  for (const auto part : {90, 60, 40}) {
    RecorderLimits limits;
    limits.max_bytes = full * static_cast<std::size_t>(part) / 100;
    RunRecorder recorder(limits);
    run(recorder, 6, 40);
    const auto result = text(recorder);
    ASSERT_TRUE(result.why_not.empty()) << part << ": " << result.why_not;
    EXPECT_LE(result.text.size(), limits.max_bytes);
    EXPECT_LE(result.text.size(), before);
    ASSERT_FALSE(result.left_out.empty()) << part;
    const auto read = parse_recording(result.text, "r");
    ASSERT_NE(read.recording, nullptr) << read.error;
    for (const auto& sentence : result.left_out)
      EXPECT_NE(read.recording->note.find(sentence), std::string::npos) << sentence;
    before = result.text.size();
  }
}

TEST_F(RecordingTextTest, LeavesOutTheLastStretchesWhereNothingElseHelps) {
  RunRecorder whole;
  run(whole, 6, 40, true);
  RecorderLimits limits;
  limits.max_bytes = text(whole).text.size() / 2;
  RunRecorder recorder(limits);
  run(recorder, 6, 40, true);
  const auto result = text(recorder);
  const auto read = parse_recording(result.text, "r");
  ASSERT_NE(read.recording, nullptr) << read.error;
  const auto kept = launches_of(*read.recording);
  ASSERT_LT(kept, 240u);
  EXPECT_EQ(result.left_out.back(), "The last " + std::to_string(6 - kept / 40) +
                                        " of 6 stretches of launches are left out.");
  EXPECT_EQ(read.recording->kernels.size(), kept);  // of the others nothing is defined
}

TEST_F(RecordingTextTest, NothingFits) {
  RecorderLimits limits;
  limits.max_bytes = 500;
  RunRecorder recorder(limits);
  run(recorder, 2, 40);
  const auto result = text(recorder);
  EXPECT_EQ(result.text, "");
  EXPECT_EQ(result.why_not, "one stretch of launches alone takes more than 500 bytes");
}

TEST_F(RecordingTextTest, LaunchesBeyondTheLimitAreCounted) {
  RecorderLimits limits;
  limits.max_calls = 50;
  RunRecorder recorder(limits);
  run(recorder, 4, 20);
  const auto result = text(recorder);
  ASSERT_EQ(result.left_out.size(), 1u);
  EXPECT_EQ(result.left_out.front(), "30 launches and copies found no room and are left out.");
  const auto read = parse_recording(result.text, "r");
  ASSERT_NE(read.recording, nullptr) << read.error;
  EXPECT_EQ(launches_of(*read.recording), 50u);
}

TEST_F(RecordingTextTest, KindsBeyondTheLimitAreCounted) {
  RecorderLimits limits;
  limits.max_kinds = 5;
  RunRecorder recorder(limits);
  run(recorder, 2, 20);
  EXPECT_EQ(text(recorder).left_out.front(),
            "30 launches of further kinds found no room and are left out.");
}

TEST_F(RecordingTextTest, NoDeviceIsMadeUp) {
  RunRecorder recorder;
  run(recorder, 2, 2);
  Profile other(layers, functions);
  EXPECT_EQ(recording_text(recorder, other.state(), {"recorded", "", true}).why_not,
            "the GPU was not asked what it is");
}

TEST_F(RecordingTextTest, WaitsForMeasuringTakeNoRoomThatIsNeeded) {
  RecorderLimits limits;
  limits.max_calls = 100;
  RunRecorder recorder(limits);
  profile.add_device(a100());
  std::uint32_t correlation = 1;
  const auto step = [&](std::uint32_t number, WindowId of) {
    for (std::uint32_t i = 0; i < 10; ++i, ++correlation) {
      LaunchEvent launch;
      launch.key = key(0, "kernel", i + 1);
      launch.window = of;
      launch.correlation = correlation;
      recorder.add(number, launch);
    }
  };
  for (std::uint32_t number = 1; number <= 10; ++number) step(number, kNoWindow);
  step(11, 1);
  const auto calls = recorder.calls();
  ASSERT_EQ(calls.size(), 30u);  // two steps that waited, and the one that was measured
  EXPECT_EQ(calls.back().step, 11u);
  EXPECT_EQ(recorder.lost().calls, 80u);
}

}  // namespace
}  // namespace gable::tests
