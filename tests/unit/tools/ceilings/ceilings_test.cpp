// SPDX-License-Identifier: Apache-2.0
// How long a benchmark is repeated, and the table of `gable ceilings`.
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/base/display.h"
#include "tools/ceilings/ceilings_latency.h"
#include "tools/ceilings/ceilings_repeat.h"
#include "tools/ceilings/ceilings_table.h"

namespace gable::tests {
namespace {

TEST(RepeatUntilSteady, FindsALoopThatTakesLongEnoughAndStopsWhenItIsSteady) {
  std::vector<std::uint32_t> asked;
  const auto result = repeat_until_steady([&](std::uint32_t iterations) {
    asked.push_back(iterations);
    return iterations * 1e-5;  // 10 us each
  });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->launches, 40);  // so many at least
  EXPECT_TRUE(result->steady);
  EXPECT_EQ(result->spread, 0);
  EXPECT_GE(result->seconds, 0.02);
  EXPECT_LE(result->seconds, 0.1);
  EXPECT_EQ(result->seconds, result->iterations * 1e-5);
  EXPECT_EQ(asked.front(), 8u);
}

TEST(RepeatUntilSteady, JudgesByTheLastLaunches) {
  int launches = 0;
  const auto result = repeat_until_steady([&](std::uint32_t) {
    ++launches;
    return launches <= 50 ? 0.02 + 0.001 * launches : 0.08;  // slower until the clock settled
  });
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->steady);
  EXPECT_NEAR(result->seconds, 0.08, 1e-12);
  EXPECT_EQ(result->launches, 54);  // the first launch found the loop's length
}

TEST(RepeatUntilSteady, GivesUpAndSaysTheSpread) {
  int launches = 0;
  const auto result =
      repeat_until_steady([&](std::uint32_t) { return ++launches % 2 == 0 ? 0.03 : 0.033; });
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->steady);
  EXPECT_EQ(result->launches, 120);
  EXPECT_NEAR(result->spread, 0.003 / 0.0315, 0.005);
}

TEST(RepeatUntilSteady, NothingComesOfKernelsThatFailOrDoNothing) {
  EXPECT_FALSE(repeat_until_steady([](std::uint32_t) { return std::optional<double>(); }));
  EXPECT_FALSE(repeat_until_steady([](std::uint32_t) { return 1e-6; }));
  EXPECT_FALSE(repeat_until_steady([](std::uint32_t) { return 0.0; }));
}

TEST(LaunchLatency, IsTheMedianOfTheLaunchesAfterTheFirst) {
  int launches = 0;
  const auto latency = measure_latency([&]() -> std::optional<double> {
    const int counted = launches++ - kFirstLaunches;
    if (counted < 0) return 1e6;         // the GPU wakes up
    if (counted % 100 == 0) return 1e5;  // the system was busy
    return 4000 + counted % 2 * 200;
  });
  ASSERT_TRUE(latency);
  EXPECT_EQ(launches, kFirstLaunches + kLatencyLaunches);
  EXPECT_EQ(latency->ns, 4200);
  EXPECT_DOUBLE_EQ(latency->spread, 200.0 / 4200);
}

TEST(LaunchLatency, IsUnknownWhereALaunchFailsOrTakesNoTime) {
  int launches = 0;
  EXPECT_FALSE(measure_latency([&]() -> std::optional<double> {
    if (++launches == 700) return std::nullopt;
    return 4000;
  }));
  EXPECT_EQ(launches, 700);
  EXPECT_FALSE(measure_latency([]() -> std::optional<double> { return 0; }));
}

MeasuredRoofs measured() {
  MeasuredRoofs roofs;
  roofs.device.name = "NVIDIA H100 80GB HBM3";
  roofs.device.compute_major = 9;
  roofs.device.sm_count = 132;
  roofs.device.sm_clock_max_hz = 1980000000;
  roofs.device.memory_clock_max_hz = 2619000000;
  roofs.device.memory_bus_bits = 5120;
  roofs.roofs = {
      {CeilingKind::compute, "fp32", "chains of fma.rn.f32", 60e12, 0.002, true, 1.83e9},
      {CeilingKind::compute, "bf16_tensor", "wgmma m64n256k16 bf16", 1.1e15, 0.004, true, {}},
      {CeilingKind::memory, "dram", "streaming read, 1024 MiB", 3e12, 0.03, false, 1.9e9},
  };
  return roofs;
}

std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) return line;
  }
  ADD_FAILURE() << "no line with " << part << " in\n" << text;
  return {};
}

TEST(CeilingsTable, HasMeasuredAndTheoreticalValuesAndWhatToThinkOfThem) {
  const std::string text = ceilings_table(
      measured(), {{"fp8_tensor", "wgmma m64n256k32 e4m3", "cuModuleLoadData failed: X"}});
  // 132 x 256 x 1.83 GHz = 61.8 TFLOP/s; 60 / 61.8 = 97 %
  EXPECT_EQ(line_with(text, "fma.rn.f32"),
            "fp32           60.0 TFLOP/s 61.8 TFLOP/s   1.830 GHz   97.0 %   0.200 %  chains of "
            "fma.rn.f32");
  // 132 x 4096 x 1.98 GHz = 1071 TFLOP/s at the highest clock: 1100 are above
  EXPECT_NE(line_with(text, "wgmma m64n256k16").find("*1.980 GHz    103 %"), std::string::npos)
      << text;
  EXPECT_NE(text.find("* the highest clock"), std::string::npos);
  EXPECT_EQ(line_with(text, "Above the theoretical value").rfind("Above", 0), 0u);
  EXPECT_NE(text.find(" is faulty:\n  bf16_tensor (wgmma m64n256k16 bf16)."), std::string::npos)
      << text;
  EXPECT_NE(line_with(text, "Not steady").find("dram (streaming read"), std::string::npos);
  EXPECT_NE(line_with(text, "Not measured").find("cuModuleLoadData failed: X: fp8_tensor"),
            std::string::npos);
  EXPECT_NE(line_with(text, "fp64_tensor").find("none for this chip"), std::string::npos);
  EXPECT_EQ(text.find("[playback]"), std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
}

TEST(CeilingsTable, BreaksASentenceAtTheLastSpaceThatFits) {
  // "Not measured, because " has 22 characters, and a colon follows.
  const std::string fits(77, 'w'), over(78, 'w');
  const std::string text = ceilings_table(measured(), {{"x", "y", fits}});
  EXPECT_NE(text.find("\nNot measured, because " + fits + ":\n  x (y)"), std::string::npos) << text;
  const std::string wide = ceilings_table(measured(), {{"x", "y", over}});
  EXPECT_NE(wide.find("\nNot measured, because\n  " + over + ": x (y)"), std::string::npos) << wide;
}

TEST(CeilingsTable, SaysTheLaunchLatencyOrWhyItIsUnknown) {
  MeasuredRoofs roofs = measured();
  EXPECT_EQ(ceilings_table(roofs, {}).find("Launch latency"), std::string::npos);
  EXPECT_EQ(line_with(ceilings_table(roofs, {}, "cuLaunchKernel failed: X"), "Launch latency"),
            "Launch latency: not measured, because cuLaunchKernel failed: X.");
  roofs.latency = {4230, 0.05};
  EXPECT_EQ(line_with(ceilings_table(roofs, {}), "Launch latency"),
            "Launch latency: 4.23 us, spread 5.00 %. From the call until the host sees what the "
            "kernel wrote, on");
}

TEST(CeilingsTable, OfPlaybackSaysSoFirst) {
  MeasuredRoofs roofs = measured();
  roofs.playback = true;
  EXPECT_EQ(ceilings_table(roofs, {}).rfind("[playback] Measured on no GPU. ", 0), 0u);
}

}  // namespace
}  // namespace gable::tests
