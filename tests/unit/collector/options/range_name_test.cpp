// SPDX-License-Identifier: Apache-2.0
// A name that keeps a number from call to call would make every call a layer of its own: thousands
// of rows, no means.
#include "collector/options/range_name.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

std::string cut(std::string_view raw) {
  std::string buffer;
  return std::string(RangeNaming::cut_sequence_numbers(raw, buffer));
}

TEST(RangeName, CutsWhatEmitNvtxAdds) {
  EXPECT_EQ(cut("aten::mm, op_id = 17"), "aten::mm");
  EXPECT_EQ(cut("aten::relu, seq = 3, op_id = 12"), "aten::relu");
  EXPECT_EQ(cut("aten::add, seq = 9, op_id = 1, sizes = [[2, 3]]"), "aten::add, sizes = [[2, 3]]");
}

TEST(RangeName, CutsWhereverTheNumbersStand) {
  EXPECT_EQ(cut(", seq = 3"), "");
  EXPECT_EQ(cut("a, b, seq = 12, c"), "a, b, c");
  EXPECT_EQ(cut("a, seq = 1, b, op_id = 23, c"), "a, b, c");
  EXPECT_EQ(cut("a, seq = 1x"), "ax");
  EXPECT_EQ(cut("a, op_id = 1, seq = x"), "a, seq = x");
}

TEST(RangeName, LeavesOtherNamesAlone) {
  EXPECT_EQ(cut("layer1, block 2"), "layer1, block 2");
  EXPECT_EQ(cut("x, seq = "), "x, seq = ");
  EXPECT_EQ(cut("x, seq = n"), "x, seq = n");
  EXPECT_EQ(cut(""), "");
  EXPECT_EQ(cut(","), ",");
}

TEST(RangeName, ReturnsTheSameTextWhenNothingIsCut) {
  std::string buffer;
  const std::string_view raw = "conv1, 3x3";
  EXPECT_EQ(RangeNaming::cut_sequence_numbers(raw, buffer).data(), raw.data())
      << "a copy on the hot path";
}

TEST(RangeName, FoldsWhatTheUserNames) {
  const RangeNaming naming({" #[0-9]+$"}, "");
  EXPECT_EQ(naming.name("request #4711").text, "request");
  EXPECT_FALSE(naming.name("request #4711").is_step);
  EXPECT_EQ(naming.name(" #1").text, "(unnamed)") << "a layer must have a name to be shown";
}

TEST(RangeName, AllStepsAreOneLayer) {
  const RangeNaming naming({}, "^step");
  EXPECT_EQ(naming.name("step 12").text, "step #");
  EXPECT_EQ(naming.name("step 9").text, "step #");
  EXPECT_TRUE(naming.name("step 9").is_step);
  EXPECT_FALSE(naming.name("a step 9").is_step);
}

TEST(RangeName, TheNumbersOfAStepAreOneSignEach) {
  const RangeNaming naming({"a"}, "step");
  EXPECT_EQ(naming.name("12 step 3 of 45a").text, "# step # of #a") << "and nothing is cut";
  EXPECT_EQ(naming.name("12 a").text, "12 ");
  EXPECT_FALSE(naming.name("12 a").is_step);
}

TEST(RangeName, EveryExpressionIsCut) {
  const RangeNaming naming({"[0-9]+", "x"}, "");
  EXPECT_EQ(naming.name("a1x2b").text, "ab");
}

TEST(RangeName, ABadExpressionIsLeftOut) {
  const RangeNaming naming({"(", "[0-9]+"}, "(");
  EXPECT_EQ(naming.name("b12").text, "b");
  EXPECT_FALSE(naming.name("(").is_step);
}

}  // namespace
}  // namespace gable
