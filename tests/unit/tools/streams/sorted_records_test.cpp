// SPDX-License-Identifier: Apache-2.0
// Records that do not fit into their buffer are read back sorted, as often as wanted, and leave no
// file behind.
#include "tools/streams/sorted_records.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

struct Pair {
  std::uint32_t key = 0, place = 0;
  friend bool operator==(const Pair&, const Pair&) = default;
};
struct ByKey {
  bool operator()(const Pair& a, const Pair& b) const { return a.key < b.key; }
};
using Records = SortedRecords<Pair, ByKey>;

std::vector<Pair> all(Records& records) {
  std::vector<Pair> read;
  for (const Pair* each = records.first(); each != nullptr; each = records.next())
    read.push_back(*each);
  return read;
}

class SortedRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const named = std::getenv("TMPDIR");
    before = named == nullptr ? "" : named;
    setenv("TMPDIR", folder.path().c_str(), 1);
  }
  void TearDown() override {
    if (before.empty())
      unsetenv("TMPDIR");
    else
      setenv("TMPDIR", before.c_str(), 1);
  }
  // Of its own: each test runs in a process of its own, beside others.
  const tests::TemporaryFolder folder;
  std::string before;
};

TEST_F(SortedRecordsTest, EqualOnesKeepTheirOrder) {
  std::mt19937 draw(1);
  for (const std::uint32_t count : {0u, 1u, 2u, 9u, 10u, 11u, 100u, 5000u}) {
    for (const std::uint32_t keys : {1u, 7u, 100000u}) {
      Records records(10 * sizeof(Pair));
      std::vector<Pair> expected;
      for (std::uint32_t i = 0; i < count; ++i) {
        expected.push_back({static_cast<std::uint32_t>(draw() % keys), i});
        records.add(expected.back());
      }
      std::stable_sort(expected.begin(), expected.end(), ByKey());
      EXPECT_EQ(records.size(), count);
      EXPECT_EQ(all(records), expected) << count << " records of " << keys << " keys";
      EXPECT_EQ(all(records), expected) << "the second time";
    }
  }
}

TEST_F(SortedRecordsTest, NearlySortedOnes) {
  Records records(16 * sizeof(Pair));
  std::vector<Pair> expected;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    expected.push_back({i ^ (i % 40 == 3 ? 31u : 0u), i});
    records.add(expected.back());
  }
  std::stable_sort(expected.begin(), expected.end(), ByKey());
  EXPECT_EQ(all(records), expected);
}

TEST_F(SortedRecordsTest, MoreCanBeAddedAfterReading) {
  Records records(4 * sizeof(Pair));
  for (std::uint32_t i = 0; i < 9; ++i) records.add({9 - i, i});
  EXPECT_EQ(all(records).size(), 9u);
  records.add({0, 100});
  ASSERT_EQ(all(records).size(), 10u);
  EXPECT_EQ(all(records).front(), (Pair{0, 100}));
  records.clear();
  EXPECT_TRUE(records.empty());
  EXPECT_TRUE(all(records).empty());
}

TEST_F(SortedRecordsTest, NoFolderShowsTheFile) {
  Records records(4 * sizeof(Pair));
  for (std::uint32_t i = 0; i < 100; ++i) records.add({100 - i, i});
  EXPECT_EQ(all(records).size(), 100u);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(SortedRecordsTest, SaysWhereThereIsNoRoom) {
  setenv("TMPDIR", folder.at("none").c_str(), 1);
  Records few(4 * sizeof(Pair));
  for (std::uint32_t i = 0; i < 4; ++i) few.add({4 - i, i});
  EXPECT_EQ(all(few).size(), 4u) << "what fits into memory needs no file";
  Records many(4 * sizeof(Pair));
  try {
    for (std::uint32_t i = 0; i < 9; ++i) many.add({9 - i, i});
    FAIL() << "there is no such folder";
  } catch (const WrongUse& problem) {
    const std::string said = problem.what();
    EXPECT_NE(said.find(folder.at("none") + " (No such file or directory)"), said.npos) << said;
    EXPECT_NE(said.find("TMPDIR"), said.npos) << said;
  }
}

}  // namespace
}  // namespace gable
