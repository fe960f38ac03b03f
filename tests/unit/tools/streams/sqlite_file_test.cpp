// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/sqlite_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const WrongUse& problem) {
    return problem.what();
  }
  return {};
}

class SqliteFileOf : public testing::Test {
 protected:
  void make(const std::string& statements) {
    sqlite3* base = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &base), SQLITE_OK);
    sqlite3_exec(base, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(base, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(base);
  }

  const tests::TemporaryFolder folder_;
  const std::string path_ = folder_.at("a.sqlite");
};

TEST_F(SqliteFileOf, ItsTablesHaveColumns) {
  make(
      "CREATE TABLE t (a, \"b\"\"c\"); CREATE TABLE \"empty \"\"one\" (x);"
      "CREATE VIEW v AS SELECT a FROM t; INSERT INTO t VALUES (1, 2), (3, 4);");
  SqliteFile file(path_);
  EXPECT_EQ(file.path(), path_);
  EXPECT_TRUE(file.has("t"));
  EXPECT_FALSE(file.has("v"));
  EXPECT_FALSE(file.has("u"));
  EXPECT_TRUE(file.has("t", "a"));
  EXPECT_TRUE(file.has("t", "b\"c"));
  EXPECT_FALSE(file.has("t", "b"));
  EXPECT_FALSE(file.has("u", "a"));
  EXPECT_EQ(file.rows("t"), 2u);
  EXPECT_EQ(file.rows("empty \"one"), 0u);
  EXPECT_EQ(file.rows("u"), 0u);
  SqliteRows rows(file, "t", {"a", "none", "b\"c"}, " ORDER BY a DESC");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row(), 1u);
  EXPECT_EQ(rows.integer(0), 3);
  EXPECT_TRUE(rows.is_null(1));
  EXPECT_FALSE(rows.is_null(0));
  EXPECT_EQ(rows.integer(2), 4);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row(), 2u);
  EXPECT_FALSE(rows.next());
  EXPECT_EQ(SqliteFile(path_, "shown").path(), "shown");
}

TEST_F(SqliteFileOf, RowsBelowARowidOf1AreNone) {
  make(
      "CREATE TABLE t (a INTEGER PRIMARY KEY); INSERT INTO t VALUES (-5);"
      "CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (1);");
  SqliteFile file(path_);
  EXPECT_EQ(file.rows("t"), 0u);
  EXPECT_EQ(file.rows("w"), 0u);
}

TEST_F(SqliteFileOf, RowsCanBeAskedAgain) {
  make("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 10), (2, 20), (1, 30);");
  SqliteFile file(path_);
  SqliteRows rows(file, "t", {"b"}, " WHERE a = ?1");
  EXPECT_FALSE(rows.next());
  rows.again(1);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.needed(0), 10u);
  EXPECT_EQ(rows.row(), 1u);
  ASSERT_TRUE(rows.next());
  rows.again(2);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row(), 1u);
  EXPECT_EQ(rows.needed(0), 20u);
  EXPECT_FALSE(rows.next());
}

TEST_F(SqliteFileOf, ValuesHaveTypesAndRanges) {
  make(
      "CREATE TABLE t (n, r, s, z); INSERT INTO t VALUES (7, 1.5, 'text', NULL);"
      "INSERT INTO t VALUES (-1, 0, '', 0);");
  SqliteFile file(path_, "shown");
  SqliteRows rows(file, "t", {"n", "r", "s", "z"});
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.number(0), 7u);
  EXPECT_EQ(rows.number(0, 7), 7u);
  EXPECT_EQ(refusal([&] { (void)rows.number(0, 6); }), "shown: t, row 1: n is out of range.");
  EXPECT_EQ(refusal([&] { (void)rows.number(1); }), "shown: t, row 1: r is out of range.");
  EXPECT_EQ(rows.number(3), std::nullopt);
  EXPECT_EQ(rows.needed(0, 7), 7u);
  EXPECT_EQ(refusal([&] { (void)rows.needed(0, 6); }), "shown: t, row 1: n is out of range.");
  EXPECT_EQ(refusal([&] { (void)rows.needed(3); }), "shown: t, row 1: z is missing.");
  EXPECT_EQ(rows.integer(0), 7);
  EXPECT_EQ(rows.integer(1), std::nullopt);
  EXPECT_EQ(rows.integer(3), std::nullopt);
  EXPECT_EQ(rows.text(2), "text");
  EXPECT_EQ(rows.text(3), "");
  EXPECT_TRUE(rows.is_text(2));
  EXPECT_FALSE(rows.is_text(0));
  EXPECT_FALSE(rows.is_text(3));
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(refusal([&] { (void)rows.number(0); }), "shown: t, row 2: n is out of range.");
  EXPECT_EQ(rows.integer(0), -1);
  EXPECT_EQ(rows.number(1), 0u);
  EXPECT_TRUE(rows.is_text(2));
}

TEST_F(SqliteFileOf, TimesAreCountedFromItsZero) {
  make(
      "CREATE TABLE t (a, b, c); INSERT INTO t VALUES (4611686018427387903, 4611686018427387904, "
      "NULL); INSERT INTO t VALUES (-3, -4, 'x');");
  SqliteFile file(path_, "shown");
  EXPECT_EQ(file.zero(), 0);
  SqliteRows rows(file, "t", {"a", "b", "c"});
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.time(0), 4611686018427387903u);
  EXPECT_EQ(refusal([&] { (void)rows.time(1); }), "shown: t, row 1: b is out of range.");
  EXPECT_EQ(rows.time(2), std::nullopt);
  EXPECT_EQ(refusal([&] { (void)rows.needed_time(2); }), "shown: t, row 1: c is missing.");
  ASSERT_TRUE(rows.next());
  EXPECT_NE(refusal([&] { (void)rows.time(0); }), "");
  file.set_zero(-3);
  EXPECT_EQ(rows.time(0), 0u);
  EXPECT_EQ(rows.needed_time(0), 0u);
  EXPECT_NE(refusal([&] { (void)rows.time(1); }), "");
  EXPECT_NE(refusal([&] { (void)rows.time(2); }), "");
  file.set_zero(-10);
  EXPECT_EQ(rows.time(0), 7u);
  file.set_zero(INT64_MIN);
  EXPECT_EQ(file.zero(), -4611686018427387903);
}

TEST_F(SqliteFileOf, WhatIsNoneIsRefused) {
  const auto said = [&](const std::string& path) {
    return refusal([&] { SqliteFile file(path, path); });
  };
  EXPECT_NE(said(folder_.file("text", std::string(2000, 'x'))).find("is not an SQLite file"),
            std::string::npos);
  EXPECT_NE(said(folder_.file("gz", "\x1f\x8b" + std::string(2000, 'x'))).find("packed by gzip"),
            std::string::npos);
  EXPECT_NE(
      said(folder_.file("half", "\x1fx" + std::string(2000, 'x'))).find("is not an SQLite file"),
      std::string::npos);
  EXPECT_NE(said(folder_.at("none")).find("cannot be opened"), std::string::npos);
  make("CREATE TABLE t (a)");
  SqliteFile file(path_, "shown");
  EXPECT_NE(refusal([&] { SqliteRows rows(file, "u", {"a"}); }).find("has a table u that cannot"),
            std::string::npos);
}

TEST_F(SqliteFileOf, WhatIsCutOffIsRefused) {
  make("PRAGMA page_size = 1024; CREATE TABLE t (a); INSERT INTO t VALUES (1);");
  std::string whole = folder_.text_of("a.sqlite");
  ASSERT_EQ(whole.size(), 2048u);
  const auto cut = [&](std::size_t size) {
    return refusal([&] {
             SqliteFile cut_file(folder_.file("cut", whole.substr(0, size)), "shown");
           }).find("was cut off") != std::string::npos;
  };
  EXPECT_FALSE(cut(2048));
  EXPECT_TRUE(cut(2047));
  EXPECT_TRUE(cut(1024));
  EXPECT_TRUE(cut(100));
  EXPECT_FALSE(cut(99));
  // Where the counters differ, the number of pages is of no use.
  whole[95] = static_cast<char>(whole[95] + 1);
  EXPECT_FALSE(cut(2048));
  EXPECT_TRUE(cut(2047));
  EXPECT_TRUE(cut(1023));
  EXPECT_FALSE(refusal([&] {
                 SqliteFile one(folder_.file("one", whole.substr(0, 1024)), "shown");
               }).find("its end is missing") != std::string::npos);
  // A page of 0 bytes tells nothing, and 1 stands for 65536.
  whole[16] = whole[17] = 0;
  EXPECT_FALSE(cut(2047));
  whole[17] = 1;
  EXPECT_TRUE(cut(2048));
}

}  // namespace
}  // namespace gable
