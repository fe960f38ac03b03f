// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/csv_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/tools/streams/drip_source.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using Texts = std::vector<std::string>;
using Start = CsvRows::Start;

// Rows begin with "x" or with a letter behind R.
Start starts(std::string_view text, bool line, bool end) {
  const bool quoted = text.starts_with('"');
  if (!quoted && !line) return Start::no;
  if (quoted) text.remove_prefix(1);
  if (text.empty()) return end ? Start::no : Start::open;
  return text.front() == 'x' ? Start::yes : Start::no;
}

// What comes, one entry each: "line: a|b" of a row, "line> text" of others; then how it is refused.
Texts all(const std::string& text, std::size_t piece, std::size_t repeats = 0) {
  DripSource source(text, piece);
  CsvRows rows(source, starts);
  if (repeats > 0) rows.expect_repeats(repeats);
  Texts seen;
  try {
    while (rows.next()) {
      std::string each = std::to_string(rows.line());
      if (rows.is_row()) {
        each += rows.is_repeat() ? "=" : ":";
        for (const std::string_view field : rows.fields()) each += std::string(field) + "|";
        if (rows.is_open()) each += " open";
        if (rows.is_quoted()) each += " quoted";
      } else {
        each += "> " + std::string(rows.text());
      }
      seen.push_back(each);
    }
  } catch (const WrongUse& problem) {
    seen.emplace_back(problem.what());
  }
  return seen;
}

void expect_all(const std::string& text, const Texts& expected, std::size_t repeats = 0) {
  for (const std::size_t piece : kPieces)
    EXPECT_EQ(all(text, piece, repeats), expected) << text << " by " << piece;
}

TEST(CsvRows, FieldsAreBetweenCommas) {
  expect_all("", {});
  expect_all("x", {"1:x| open"});
  expect_all("x\n", {"1:x|"});
  expect_all("x,a,,b\nx,\n", {"1:x|a||b|", "2:x||"});
  expect_all("x,a\r\nx,b\r\n", {"1:x|a|", "2:x|b|"});
  expect_all("x,", {"1:x|| open"});
  expect_all("x,a\r", {"1:x|a| open"});
  expect_all("\xEF\xBB\xBFx,a\n", {"1:x|a|"});
  expect_all("\xEF\xBBx\n", {"1> \xEF\xBBx"});
}

TEST(CsvRows, QuotesKeepCommasAndLines) {
  expect_all("\"x\",\"a,b\"\n", {"1:x|a,b| quoted"});
  expect_all("\"x\",\"a\"\"b\"\"\",\"\"\n\"x\"", {"1:x|a\"b\"|| quoted", "2:x| quoted"});
  expect_all("\"x\",\"a\nb\n\"\nx\n", {"1:x|a\nb\n| quoted", "4:x|"});
  expect_all("x,a\"b\n", {"1:x|a\"b|"});
  expect_all("\"x\"\"\"\"\"", {"1:x\"\"| quoted"});
}

TEST(CsvRows, BrokenRowsAreRefused) {
  const std::string broken = ": a quoted field is not followed by a comma or the end of the line.";
  const std::string cut = ": the file ends within a row: it was cut off.";
  expect_all("t\n\"x\"a\n", {"1> t", "a.txt:2" + broken});
  expect_all("\"x\"\ra\n", {"a.txt:1" + broken});
  expect_all("x,a\rb\n", {"a.txt:1" + broken});
  expect_all("x,\"a\n", {"a.txt:1" + cut});
  expect_all("x\nx,\"a\"\"", {"1:x|", "a.txt:2" + cut});
}

TEST(CsvRows, OtherTextComesByLinesAndReturns) {
  expect_all("a\n\nb\r\nx\nc", {"1> a", "2> ", "3> b", "4:x|", "5> c"});
  expect_all("a\rb\rx,1\nc\n", {"1> a", "1> b", "1:x|1|", "2> c"});
  expect_all("a\r", {"1> a"});
  expect_all("a\r\r\n", {"1> a", "1> "});
}

TEST(CsvRows, ARowMayBeginWithinALine) {
  expect_all("a \"x\",1\nb\n", {"1> a ", "1:x|1| quoted", "2> b"});
  expect_all("a \"y\" \"x\"\n", {"1> a \"y\" ", "1:x| quoted"});
  expect_all("a \"y\" \"z\nb", {"1> a \"y\" \"z", "2> b"});
  expect_all("a\"", {"1> a\""});
  expect_all("a\"\"x\"\n", {"1> a\"", "1:x| quoted"});
}

TEST(CsvRows, FieldsThatRepeatAreTakenFromTheRowBefore) {
  expect_all("x,a,1\nx,a,2\nx,a,3,4\nx,b,5\nx,b,6\nx,b\n",
             {"1:x|a|1|", "2=x|a|2|", "3=x|a|3|4|", "4:x|b|5|", "5=x|b|6|", "6:x|b|"}, 2);
  expect_all("\"x\",\"a\",\"1\"\n\"x\",\"a\",\"2\"\n", {"1:x|a|1| quoted", "2=x|a|2| quoted"}, 2);
  // Quotes within a field of the row.
  expect_all("x,\"a\"\"\",1\nx,\"a\"\"\",2\n", {"1:x|a\"|1|", "2:x|a\"|2|"}, 2);
  expect_all("x,a\nx,a\n", {"1:x|a|", "2:x|a|"}, 2);
  expect_all("x,a,1\nx,a,1\n", {"1:x|a|1|", "2=x|a|1|"}, 1);
  expect_all("x,\nx,", {"1:x||", "2:x|| open"}, 1);
}

TEST(CsvRows, ExpectingAnewForgetsTheRowBefore) {
  DripSource source("x,a,1\nx,a,2\nx,a,3\nx,a,4\n", 1);
  CsvRows rows(source, starts);
  rows.expect_repeats(2);
  ASSERT_TRUE(rows.next());
  ASSERT_TRUE(rows.next());
  EXPECT_TRUE(rows.is_repeat());
  rows.expect_repeats(1);
  ASSERT_TRUE(rows.next());
  EXPECT_FALSE(rows.is_repeat());
  ASSERT_TRUE(rows.next());
  EXPECT_TRUE(rows.is_repeat());
  EXPECT_EQ(rows.fields().size(), 3u);
}

TEST(CsvRows, RowsMayBeLongerThanABuffer) {
  const std::string field(300'000, 'a');
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4093}})
    EXPECT_EQ(all("t\nx," + field + "\nx,b\n", piece),
              (Texts{"1> t", "2:x|" + field + "|", "3:x|b|"}));
  // A line that is no row comes in parts.
  const Texts parts = all(field + "\nx\n", 1u << 20);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], "1> " + std::string(262'144, 'a'));
  EXPECT_EQ(parts[1], "1> " + std::string(37'856, 'a'));
  EXPECT_EQ(parts[2], "2:x|");
  // What follows within the line is no first of a line.
  EXPECT_EQ(all(std::string(262'144, 'a') + "x\n", 1u << 20).at(1), "1> x");
}

TEST(CsvRows, ARowOf16MiBIsRefused) {
  const Texts seen = all("t\nx,\"" + std::string(16u << 20, 'a'), 1u << 20);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(seen[1].starts_with("a.txt:2: the row is longer than 16 MB"))
      << seen[1].substr(0, 60);
}

}  // namespace
}  // namespace gable
