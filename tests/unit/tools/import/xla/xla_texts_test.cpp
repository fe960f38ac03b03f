// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xla/xla_texts.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(XlaTexts, APlaceHasADeviceAndAProcess) {
  const XlaPlace gpu = xla_place("/device:GPU:12 [4711]");
  EXPECT_EQ(gpu.kind, XlaPlace::Kind::gpu);
  EXPECT_EQ(gpu.device, 12);
  EXPECT_EQ(gpu.process, "4711");
  EXPECT_EQ(xla_place("/device:GPU:1048576").device, 1048576);
  EXPECT_EQ(xla_place("/device:GPU:1048577").kind, XlaPlace::Kind::other);
  EXPECT_EQ(xla_place("/device:TPU:0").kind, XlaPlace::Kind::other_device);
  EXPECT_EQ(xla_place("/host:CPU").kind, XlaPlace::Kind::host);
  EXPECT_EQ(xla_place("/host:CPU [7").process, "");
  EXPECT_EQ(xla_place("Task").kind, XlaPlace::Kind::other);
}

TEST(XlaTexts, ALaneIsKnownByItsName) {
  EXPECT_EQ(xla_lane("Stream #7(Compute)"), XlaLane::stream);
  EXPECT_EQ(xla_lane("CUPTI overhead"), XlaLane::overhead);
  EXPECT_EQ(xla_lane("Steps"), XlaLane::steps);
  EXPECT_EQ(xla_lane("XLA Ops"), XlaLane::other);
}

TEST(XlaTexts, ADetailStandsBehindItsKey) {
  EXPECT_EQ(xla_detail("grid:8,1,1 block:256,1,1\nregs:32", "grid"), "8,1,1");
  EXPECT_EQ(xla_detail("grid:8,1,1 block:256,1,1\nregs:32", "block"), "256,1,1");
  EXPECT_EQ(xla_detail("grid:8,1,1 block:256,1,1\nregs:32", "regs"), "32");
  EXPECT_EQ(xla_detail("regs gridx:1", "grid"), "");
  EXPECT_EQ(xla_detail("regs gridx:1", "regs"), "");
}

TEST(XlaTexts, NumbersAndSizesAreWhole) {
  EXPECT_EQ(xla_number("7", 7), 7u);
  EXPECT_EQ(xla_number("8", 7), std::nullopt);
  EXPECT_EQ(xla_number("7x", 9), std::nullopt);
  EXPECT_EQ(xla_number("", 9), std::nullopt);
  const auto size = xla_size("2,3,4");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->x, 2u);
  EXPECT_EQ(size->y, 3u);
  EXPECT_EQ(size->z, 4u);
  EXPECT_FALSE(xla_size("2,3"));
  EXPECT_FALSE(xla_size("2,0,4"));
}

TEST(XlaTexts, ScopesLoseTheirTransformations) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(xla_scope_parts("jit(step)/jit(main)/transpose(jvp(MLP))/Dense_0/dot_general[a=1]"),
            (Parts{"MLP", "Dense_0", "dot_general"}));
  EXPECT_EQ(xla_scope_parts("jit(step)/a/jit(relu)/max"), (Parts{"a", "relu", "max"}));
}

}  // namespace
}  // namespace gable
