// SPDX-License-Identifier: Apache-2.0
// Where rows of ncu begin amid what a program printed.
#include "tools/import/ncu/row_start.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

using Start = CsvRows::Start;

struct Case {
  std::string text;
  bool line, end;
  Start start;
};

void expect(const NcuRowShape& shape, const std::vector<Case>& cases) {
  for (const auto& [text, line, end, start] : cases)
    EXPECT_EQ(ncu_row_start(shape, text, line, end), start)
        << text << (line ? ", a line" : "") << (end ? ", the end" : "");
}

TEST(NcuRowStart, AHeadOfNcusBeginsAnywhere) {
  expect({}, {{"\"ID\",\"Process ID\"", true, false, Start::yes},
              {"\"ID\",\"", false, true, Start::yes},
              {"\"Process ID\",\"P", false, false, Start::yes},
              {"\"ID\"", true, false, Start::open},
              {"\"ID\"", false, false, Start::open},
              {"\"ID\"", true, true, Start::open},  // it is cut off
              {"\"ID\"", false, true, Start::no},   // and a program's quote here
              {"\"", true, true, Start::no},        // as one quote alone is anywhere
              {"\"I", true, true, Start::open},
              {"\"IDs\"", true, false, Start::no},
              {"0,1", true, false, Start::no}});
}

TEST(NcuRowStart, APlainHeadIsAWholeLineWithTheKernelsName) {
  expect({}, {{"ID,Kernel Name,x\n", true, false, Start::yes},
              {"ID,Kernel Name,x", true, false, Start::open},
              {"ID,Kernel Name,x", true, true, Start::yes},
              {"ID,Kernel Name,x\n", false, false, Start::no},
              {"ID,other\nKernel Name", true, false, Start::no},
              {",ID,Kernel Name\n", true, false, Start::yes},
              {"\"\",\"ID\",\"Kernel Name\"\n", true, false, Start::yes},
              {"I", true, false, Start::open},
              {"I", true, true, Start::no},
              {",I", true, false, Start::open},
              {"IDx", true, false, Start::no}});
}

// As of the details page: ID and process.
NcuRowShape quoted() {
  NcuRowShape shape;
  shape.any = true;
  shape.process = true;
  shape.least = 4;
  shape.most = 6;
  return shape;
}

TEST(NcuRowStart, ARowBeginsWithItsNumbers) {
  expect(quoted(), {{"\"12\",\"4711\",\"app\"", true, false, Start::yes},
                    {"\"12\",\"4711\",\"app\"", false, false, Start::yes},
                    {"\"1,234\",\"4'711\",", true, false, Start::yes},
                    {"\"1 234\",\"4.711\",", true, false, Start::yes},
                    {"\"1\u202F234\",\"4\",", true, false, Start::yes},
                    {"\"12\",\"47", true, false, Start::open},
                    {"\"12\",\"47", true, true, Start::open},
                    {"\"12\",\"47", false, true, Start::open},
                    {"\"12", false, false, Start::open},
                    {"\"12", false, true, Start::no},
                    {"\"12", true, true, Start::open},
                    {"\"12\"", false, false, Start::open},
                    {"\"12\",", false, false, Start::open},
                    {"\"\",\"1\",", true, false, Start::no},
                    {"\"x\",\"1\",", true, false, Start::no},
                    {"\",1\",\"1\",", true, false, Start::no},
                    {"\"12\";\"1\",", true, false, Start::no},
                    {"\"12\",\"app\",", true, false, Start::no},
                    {"\"12x", true, false, Start::no},
                    {"12,\"1\",", false, false, Start::no},
                    {"x", true, false, Start::no},
                    {"\"ID\",\"", true, false, Start::yes}});
  const std::string longest(32, '1');
  expect(quoted(), {{'"' + longest + "\",\"1\",", true, false, Start::yes},
                    {'"' + longest + "1\",\"1\",", true, false, Start::no},
                    {'"' + longest + "1", true, false, Start::no}});
}

TEST(NcuRowStart, WithoutAHeadThereAreNoRows) {
  expect({}, {{"\"12\",\"4711\",\"app\"", true, false, Start::no}});
}

TEST(NcuRowStart, NumbersWithoutQuotesMayBeAProgramsSoThatTheirNumberDecides) {
  expect(quoted(), {{"12,4711,a,b\n", true, false, Start::yes},
                    {"12,4711,a,b,c,d\n", true, false, Start::yes},
                    {"12,4711,a\n", true, false, Start::no},
                    {"12,4711,a,b,c,d,e\n", true, false, Start::no},
                    {"12,4711,\"a,b,c,d,e\",b\n", true, false, Start::yes},
                    {"12,4711,\"a,b\"\n", true, false, Start::no},
                    {"12,4711,a,b", true, false, Start::open},
                    {"12,4711,a,b", true, true, Start::yes},
                    {"12,4711,a,b\n", false, false, Start::no},
                    {"12,47", true, true, Start::no},
                    {"1'2,4,a,b\n", true, false, Start::no}});
}

TEST(NcuRowStart, RowsThatAnotherProgramWroteHaveAnyLength) {
  NcuRowShape shape = quoted();
  shape.plain = true;
  expect(shape, {{"12,4711,a", true, false, Start::yes},
                 {"12,47", true, true, Start::open},
                 {"12", true, false, Start::open}});
}

TEST(NcuRowStart, WithoutAProcessAQuoteFollowsTheOneNumber) {
  NcuRowShape shape = quoted();
  shape.process = false;
  expect(shape, {{"\"12\",\"k\"", false, false, Start::yes},
                 {"\"12\",", false, false, Start::open},
                 {"\"12\",k", false, false, Start::no},
                 {"\"12\",k", true, false, Start::yes}});
}

TEST(NcuRowStart, AColumnThatCountsRowsComesFirst) {
  NcuRowShape shape = quoted();
  shape.id = 1;
  shape.plain = true;
  expect(shape, {{"0,12,4711,k", true, false, Start::yes},
                 {"0,12,k", true, false, Start::no},
                 {"k,12,4711,k", true, false, Start::no}});
}

TEST(NcuRowStart, ARowOfUnitsHasNothingInItsFirstTwo) {
  NcuRowShape shape = quoted();
  shape.units = true;
  expect(shape, {{"\"\",\"\",\"", true, false, Start::yes},
                 {"\"\",\"", true, false, Start::open},
                 {"\"", true, false, Start::open},
                 {"\"\",\"x\"", true, false, Start::no},
                 {"\"12\",\"4\",", true, false, Start::yes},
                 {",,a,b\n", true, false, Start::yes},
                 {",,a\n", true, false, Start::no},
                 {",,a,b\n", false, false, Start::no}});
  shape.units = false;
  expect(shape, {{"\"\",\"\",\"", true, false, Start::no}});
}

TEST(NcuRowStart, PiecesOfRowsHaveTwoSizes) {
  EXPECT_TRUE(is_piece_of_ncu_row("x\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"0\""));
  EXPECT_FALSE(is_piece_of_ncu_row("(1, 1, 1) (2, 1, 1)"));
}

}  // namespace
}  // namespace gable
