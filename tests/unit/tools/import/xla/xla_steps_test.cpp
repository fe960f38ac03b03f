// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/tools/import/xla/xla_work_case.h"

namespace gable {
namespace {

class XlaSteps : public XlaWorkCase {};

TEST_F(XlaSteps, TimesFrom1StayAsTheyAre) {
  kernel("a", 1);
  numbered(1, 9);
  call(5, 1);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(), Texts{"a 1-3, 1"});
  EXPECT_EQ(steps(), Texts{"1-9"});
}

TEST_F(XlaSteps, TimesFrom0AreMovedBy1) {
  kernel("a", 0);
  kernel("b", 5);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(), (Texts{"a 1-3, 0", "b 6-8, 0"}));
}

TEST_F(XlaSteps, TimesBelow0AreMovedTogether) {
  kernel("a", -5, with_call(7));
  kernel("b", INT64_MAX - 2);
  numbered(-9, 0);
  numbered(10, 20);
  call(7, 11);
  ASSERT_EQ(finish(), "");
  // The first step begins at 1: all is moved by 10.
  EXPECT_EQ(steps(), (Texts{"1-10", "20-30"}));
  EXPECT_EQ(kernels(), (Texts{"b 9223372036854775807-9223372036854775807, 0", "a 5-7, 2"}));
}

TEST_F(XlaSteps, ACallOrARangeMayBeTheEarliest) {
  kernel("a", 50, with_call(7));
  numbered(10, 20);
  call(7, -4);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(steps(), Texts{"15-25"});
  EXPECT_EQ(kernels(), Texts{"a 55-57, 0"});
}

TEST_F(XlaSteps, LanesAreMovedToo) {
  kernel("a", 5);
  work().step(0, "1", {-3, 8});
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(steps(), Texts{"1-12"});
  EXPECT_EQ(kernels(), Texts{"a 9-11, 1"});
}

TEST_F(XlaSteps, WorkIsInTheStepOfItsCall) {
  numbered(10, 100);
  numbered(110, 200);
  call(0, 150);
  call(6, 120);
  call(5, 130);
  call(5, 20);  // the first of a number counts
  call(7, 105);
  call(8, 10);
  call(9, 100);
  kernel("five", 400, with_call(5));
  kernel("six", 410, with_call(6));
  kernel("between", 20, with_call(7));
  kernel("start", 420, with_call(8));
  kernel("end", 21, with_call(9));
  kernel("early", 22, with_call(4));
  kernel("unknown", 23, with_call(10));
  kernel("none", 24);
  kernel("zero", 120, with_call(0));
  kernel("other", 25, with_call(5), 0, 1);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(),
            (Texts{"between 20-22, 0", "end 21-23, 0", "early 22-24, 0", "unknown 23-25, 1",
                   "none 24-26, 1", "other 25-27, 1", "five 400-402, 1", "start 420-422, 1",
                   "zero 120-122, 2", "six 410-412, 2"}));
}

TEST_F(XlaSteps, ProcessesHaveCallsOfTheirOwn) {
  numbered(10, 100);
  numbered(110, 200);
  call(5, 20, 0);
  call(3, 120, 1);
  call(5, 130, 1);
  kernel("a", 400, with_call(5), 0, 0);
  kernel("b", 410, with_call(5), 0, 1);
  kernel("c", 30, with_call(4), 0, 0);
  kernel("d", 31, with_call(4), 0, 1);
  kernel("e", 32, with_call(2), 0, 1);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(),
            (Texts{"c 30-32, 0", "e 32-34, 0", "d 31-33, 1", "a 400-402, 1", "b 410-412, 2"}));
}

TEST_F(XlaSteps, CopiesAreInStepsAsKernelsAre) {
  numbered(10, 100);
  numbered(110, 200);
  call(5, 120);
  XlaTexts copy = with_call(5);
  copy.copy = "size:4";
  kernel("MemcpyH2D", 20, copy);
  kernel("a", 30);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(imported.copies.first()->step, 2u);
}

TEST_F(XlaSteps, ThreadsBeginTheirNextStep) {
  kernel("a", 5);
  numbered(10, 20, 1);
  numbered(15, 40, 2);
  numbered(25, 30, 1);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(steps(), (Texts{"10-25", "25-40"}));
}

TEST_F(XlaSteps, LanesOfAllGpusMakeThem) {
  // The second GPU works later; each has one name twice.
  for (const auto& [device, at] : {std::pair{0, 100}, std::pair{3, 130}}) {
    work().step(device, "b", {at + 200, at + 250});
    work().step(device, "a", {at, at + 50});
    work().step(device, "a", {at + 100, at + 150});
    for (const int offset : {-1, 0, 49, 50, 100, 249})
      kernel(device == 0 ? "x" : "y", at + offset, {}, device);
  }
  kernel("z", 140, {}, 1);
  kernel("z", 99, {}, 1);
  kernel("z", 380, {}, 1);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(steps(), (Texts{"100-180", "200-280", "300-380"}));
  EXPECT_EQ(kernels(), (Texts{"x 99-101, 0", "z 99-101, 0", "y 129-131, 0", "x 150-152, 0",
                              "y 180-182, 0", "z 380-382, 0", "x 100-102, 1", "y 130-132, 1",
                              "z 140-142, 1", "x 149-151, 1", "y 179-181, 1", "x 200-202, 2",
                              "y 230-232, 2", "x 349-351, 3", "y 379-381, 3"}));
}

TEST_F(XlaSteps, LanesThatBeginTogetherAreOrderedByEndAndName) {
  kernel("k", 5);
  work().step(0, "c", {10, 30});
  work().step(1, "b", {10, 20});
  work().step(2, "a", {10, 20});
  kernel("k", 12, {}, 0);
  kernel("k", 13, {}, 1);
  kernel("k", 14, {}, 2);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(steps(), (Texts{"10-20", "10-20", "10-30"}));
  EXPECT_EQ(kernels(), (Texts{"k 5-7, 0", "k 14-16, 1", "k 13-15, 2", "k 12-14, 3"}));
}

TEST_F(XlaSteps, NamesOfLanesCountUpTo4096Bytes) {
  const std::string most(4096, 'a'), fewer(4095, 'a');
  kernel("k", 5);
  work().step(0, most + "x", {10, 20});
  work().step(1, most + "y", {15, 25});
  work().step(0, fewer + "x", {30, 40});
  work().step(1, fewer + "y", {35, 45});
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(steps(), (Texts{"10-25", "30-40", "35-45"}));
}

TEST_F(XlaSteps, TwoFilesMayNotBothHaveThem) {
  imported.steps.push_back({1, 2});
  kernel("a", 5);
  numbered(10, 20);
  EXPECT_NE(finish().find("import each by itself"), std::string::npos);
}

TEST_F(XlaSteps, ASecondFileWithoutThemIsTaken) {
  imported.steps.push_back({1, 2});
  kernel("a", 5);
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(steps(), Texts{"1-2"});
}

TEST_F(XlaSteps, RangesThatTheUserNamesAreSteps) {
  imported.step_range = "^epoch";
  EXPECT_TRUE(work().asks_names());
  numbered(1, 900);
  range("epoch 1", -10, -2);
  range("epoch 2", 30, 40);
  range("other", 50, 60);
  call(5, 35);
  kernel("a", 500, with_call(5));
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(steps(), (Texts{"1-9", "41-51"}));
  EXPECT_EQ(kernels(), Texts{"a 511-513, 2"});
}

TEST_F(XlaSteps, WithoutSuchARangeTheOthersAreNamed) {
  imported.step_range = "^epoch";
  kernel("a", 5);
  numbered(10, 20);
  range("batch 1", 1, 2);
  range("batch 2", 3, 4);
  range("$app.py:3 main", 3, 4);
  range("", 3, 4);
  call(5, 35);
  const std::string refused = finish();
  EXPECT_NE(refused.find("^epoch"), std::string::npos);
  EXPECT_NE(refused.find("batch #, train."), std::string::npos) << refused;
}

TEST_F(XlaSteps, AThousandNamesOfRangesAreCounted) {
  imported.step_range = "^epoch";
  kernel("a", 5);
  const auto name = [](int i) {
    return std::string{static_cast<char>('a' + i / 100), static_cast<char>('a' + i / 10 % 10),
                       static_cast<char>('a' + i % 10)};
  };
  for (int i = 0; i < 1001; ++i) range(i < 1000 ? name(i) : "late", 1, 2);
  for (int i = 0; i < 4; ++i) range("late", 1, 2);
  for (int i = 0; i < 2; ++i) range(name(999), 1, 2);
  range(name(7), 1, 2);
  const std::string refused = finish();
  EXPECT_NE(refused.find("such as jjj, aah, aaa, aab, aac, aad and others"), std::string::npos)
      << refused;
}

TEST_F(XlaSteps, NothingIsNamedUnlessItIsAsked) {
  EXPECT_FALSE(work().asks_names());
  kernel("a", 5);
  range("epoch", 10, 20);
  ASSERT_EQ(finish(), "");
  EXPECT_TRUE(imported.steps.empty());
}

}  // namespace
}  // namespace gable
