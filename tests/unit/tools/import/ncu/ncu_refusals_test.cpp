// SPDX-License-Identifier: Apache-2.0
// Files that are no output of ncu --csv, or are broken.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/tools/import/ncu/ncu_files.h"

namespace gable {
namespace {

std::string refusal(const std::string& text) { return NcuFiles().read(text); }

void expect(const std::string& text, const std::vector<std::string>& pieces) {
  const std::string said = refusal(text);
  for (const std::string& piece : pieces) EXPECT_TRUE(has(said, piece)) << piece << ": " << said;
}

TEST(NcuRefusals, ErrorsOfNcuSayWhyThereIsNothing) {
  expect("==ERROR== The application returned an error code (1).\n==ERROR== later\n",
         {"The application returned an error code (1).", "ended with an error under ncu"});
  expect("==ERROR== ERR_NVGPUCTRPERM - no permission\n", {"ERR_NVGPUCTRPERM", "run ncu as root"});
  expect("==ERROR== else\n", {"==ERROR== else", "fix that"});
  expect("==PROF== Connected\n==ERROR== else\n", {"ncu says: ==ERROR== else"});
}

TEST(NcuRefusals, LogsOfNcu) {
  expect("==PROF== Profiling \"k\": 0%\n", {"kernels and none of their numbers"});
  expect("==PROF== Connected to process 1\n", {"log of ncu's without a kernel", "--kernel-name"});
  EXPECT_FALSE(has(refusal("==PROF== Connected to process 1\n"), "ncu says"));
  expect("==WARNING== No kernels were profiled.\n==WARNING== more\n",
         {"without a kernel", "(ncu says: ==WARNING== No kernels were profiled.)"});
  expect("==PROF== Profiling \"k\": 0%\n==WARNING== none\n", {"without a kernel"});
}

TEST(NcuRefusals, WhatPeopleRead) {
  const char* people = "to be read by people";
  expect("  k(int) (1, 1, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n", {people});
  expect("    Metric Name     Metric Unit   Metric Value\n", {people});
  for (const char* other :
       {"a, Context 1\n", "a, Stream 1\n", "Metric Name Metric Value Metric Unit\n",
        "Metric Unit Metric Name Metric Value\n", "Metric Name Metric Unit\n",
        "\"Metric Name\" Metric Unit Metric Value\n"})
    EXPECT_FALSE(has(refusal(other), people)) << other;
}

TEST(NcuRefusals, OtherSeparatorsAreNamed) {
  expect("ID;Kernel Name;x\n", {"semicolons"});
  expect("\"ID\";\"Kernel Name\"\n", {"semicolons"});
  expect("ID\tKernel Name\n", {"tabs"});
  expect("text\nID\tKernel Name\nID;Kernel Name\n", {"tabs"});
  EXPECT_FALSE(has(refusal("ID;Name\n"), "semicolons"));
  EXPECT_FALSE(has(refusal("x ID;Kernel Name\n"), "semicolons"));
}

TEST(NcuRefusals, FilesOfOtherKinds) {
  expect("NVR\x01 text\n", {"report of Nsight Compute", "/x/c.csv"});
  expect("SQLite format 3 and so on\n", {"give it with --nsys"});
  expect("{\n", {"--kineto"});
  expect("[1]\n", {"--kineto"});
  expect(std::string("ab\0c\n", 5), {"binary file"});
  expect("text\n{\n", {"no line that begins with \"ID\""});
  expect("text\nNVR\n", {"no line that begins with \"ID\""});
}

TEST(NcuRefusals, ASummaryHasNoLaunches) {
  expect(
      "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Invocations\",\"Average\"\n"
      "\"1\",\"a\",\"b\",\"k\",\"3\",\"4\"\n",
      {"--print-summary"});
  EXPECT_FALSE(
      has(refusal("\"Process ID\",\"Process Name\",\"Invocations\"\n"), "--print-summary"));
  EXPECT_FALSE(has(refusal("\"Process ID\",\"Process Name\",\"Average\"\n"), "--print-summary"));
}

TEST(NcuRefusals, AHeadWithoutALaunch) {
  expect(kLongHead, {"has a head and no launch", "no kernel."});
  expect(kLongHead + "==ERROR== why\n", {"(==ERROR== why)."});
}

TEST(NcuRefusals, HeadsThatLackColumns) {
  expect("\"ID\",\"a\",\"b\",\"c\",\"d\"\n", {"c.csv:1:", "\"Kernel Name\""});
  expect("text\n\"ID\",\"Kernel Name\",\"b\",\"c\",\"Metric Name\"\n",
         {"c.csv:2:", "\"Metric Value\""});
  expect("\"ID\",\"Kernel Name\",\"b\",\"c\",\"d\"\n", {"neither \"Metric Name\" nor a metric"});
}

TEST(NcuRefusals, HeadsOfFewColumnsAreAProgramsOwn) {
  expect("\"ID\",\"Kernel Name\",\"b\",\"Metric Name\"\n", {"no line that begins"});
}

TEST(NcuRefusals, RowsOfAnotherSize) {
  const std::string head = "\"ID\",\"Kernel Name\",\"x\",\"a__b.sum\",\"more\",\"last\"\n";
  EXPECT_EQ(refusal(head + "\"0\",\"k\",\"x\",\"5\"\n"), "") << "what is needed";
  EXPECT_EQ(refusal(head + "\"0\",\"k\",\"x\",\"5\",\"\",\"\"\n"), "");
  expect(head + "\"0\",\"k\",\"x\"\n", {"c.csv:2:", "3 fields", "head 6"});
  expect(head + "\"0\",\"k\",\"x\",\"5\",\"\",\"\",\"\"\n", {"7 fields", "head 6"});
  const std::string attributes =
      "\"ID\",\"Kernel Name\",\"a__b.sum\",\"device__attribute_fb_bus_width\",\"launch__registers_"
      "per_thread\"\n";
  expect(attributes + "\"0\",\"k\",\"5\",\"64\"\n", {"4 fields", "head 5"});
  expect(kLongHead + "\"0\",\"1\",\"k\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"8.0\",\"m\",\"u\"\n",
         {"9 fields"});
}

TEST(NcuRefusals, ALastValueWithoutQuotesMayBeCutOff) {
  const std::string head = "ID,Kernel Name,x,y,a__b.sum\n";
  EXPECT_EQ(refusal(head + "0,k,x,y,5\n"), "");
  expect(head + "0,k,x,y,5", {"c.csv:2:", "may be cut off"});
  const std::string more = "ID,Kernel Name,x,a__b.sum,y\n";
  EXPECT_EQ(refusal(more + "0,k,x,5,y"), "");
}

TEST(NcuRefusals, PiecesOfRowsBehindAHead) {
  const std::string piece = "\",\"(1, 1, 1)\",\"(2, 1, 1)\"\n";
  expect(kLongHead + text_of({}) + "x" + piece, {"c.csv:3:", "part of a row"});
  EXPECT_EQ(refusal("x" + piece + kLongHead + text_of({})), "") << "before it, it is a program's";
}

TEST(NcuRefusals, ValuesOutOfRange) {
  EXPECT_EQ(refusal(kLongHead + text_of({"0", kNs, "ns", "1e30"})), "");
  EXPECT_EQ(refusal(kLongHead + text_of({"0", "sm__mine.ratio", "", "-1"})), "")
      << "counts nothing";
  for (const char* value : {"1.1e30", "-1", "1e999"})
    expect(kLongHead + text_of({"0", kNs, "ns", value}), {"c.csv:2:", value, kNs, "out of range"});
  expect(kLongHead + text_of({"0", "sm__mine.ratio", "", "-1.1e30"}), {"out of range"});
}

TEST(NcuRefusals, WhatIsNoNumberWhereSomethingIsCounted) {
  EXPECT_EQ(refusal(kLongHead + text_of({"0", kNs, "ns", "n/a"})), "");
  EXPECT_EQ(refusal(kLongHead + text_of({"0", "sm__mine.ratio", "", "Policy2"})), "");
  expect(kLongHead + text_of({"0", kNs, "ns", "Policy2"}),
         {"'Policy2' is not a number (gpu__time"});
  expect(kLongHead + text_of({"0", "Registers Per Thread", "", "Policy2"}),
         {"'Policy2' is not a number"});
  EXPECT_EQ(refusal(kLongHead + text_of({"0", "Registers Per Thread", "", "n/a"})), "");
  const std::string longest(41, '#');
  const std::string said = refusal(kLongHead + text_of({"0", kNs, "ns", ("1" + longest).c_str()}));
  EXPECT_TRUE(has(said, "'1" + longest.substr(2) + "'")) << said << ": 40 of it";
}

TEST(NcuRefusals, AttributesSizesAndDevices) {
  expect(kLongHead + text_of({"0", "# SMs", "byte/second", "5"}),
         {"c.csv:2: '5 byte/second' is not a value of # SMs"});
  expect(kLongHead + text_of({"0", "# SMs", "", "x"}), {"'x' is not a value of # SMs"});
  expect(kLongHead + text_of({"0", kNs, "ns", "1", "k", "1", "(1, 1)"}),
         {"'(1, 1)' is not the size of a grid or block"});
  expect(kLongHead + text_of({"0", kNs, "ns", "1", "k", "1", "(1, 1, 1)", "?"}),
         {"'?' is not the size of a grid or block"});
  for (const char* device : {"-1", "1000001", "1.5", "x"})
    expect(kLongHead + text_of({"0", kNs, "ns", "1", "k", "1", "(1, 1, 1)", "(1, 1, 1)", device}),
           {std::string("'") + device + "' is not a device"});
  EXPECT_EQ(refusal(kLongHead +
                    text_of({"0", kNs, "ns", "1", "k", "1", "(1, 1, 1)", "(1, 1, 1)", "1000000"})),
            "");
  expect(kLongHead + text_of({"0", kNs, "ns", "1", ""}), {"no kernel name"});
}

std::string with_cc(const char* id, const char* cc, const char* device = "0") {
  return text_of({id, kNs, "ns", "1", "k", "1", "(1, 1, 1)", "(1, 1, 1)", device, cc});
}

TEST(NcuRefusals, ComputeCapabilities) {
  for (const char* cc : {"0.9", "8.x", "8.0.", "x", "8.-1", "8x", "", "-8"})
    expect(kLongHead + with_cc("0", cc), {"is not a compute capability"});
  for (const char* cc : {"8", "8.6", "1.0", "12.1"})
    EXPECT_EQ(refusal(kLongHead + with_cc("0", cc)), "") << cc;
  expect(kLongHead + with_cc("0", "8.0") + with_cc("1", "8.6"),
         {"c.csv:3:", "device 0 has compute capability 8.6 here and 8.0 elsewhere"});
  expect(kLongHead + with_cc("0", "8.0") + with_cc("1", "9.0"), {"9.0 here and 8.0"});
  EXPECT_EQ(refusal(kLongHead + with_cc("0", "8.0") + with_cc("1", "9.0", "1") +
                    with_cc("2", "8.0") + with_cc("3", "9.0", "1")),
            "");
  expect(kLongHead + with_cc("0", "8.0") + with_cc("1", "9.0", "1") + with_cc("2", "9.0"),
         {"device 0 has compute capability 9.0 here"});
}

}  // namespace
}  // namespace gable
