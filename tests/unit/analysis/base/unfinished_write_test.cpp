// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/unfinished_write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <filesystem>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace gable {
namespace {

namespace fs = std::filesystem;

class Unfinished : public testing::Test {
 protected:
  [[nodiscard]] int unnamed() const {
    fs::remove(part_);
    const int file = ::open(folder_.path().c_str(), O_WRONLY | O_TMPFILE, 0600);
    EXPECT_TRUE(file < 0 || ::write(file, "new", 3) == 3);
    return file;
  }
  [[nodiscard]] std::string report() const { return folder_.text_of("report.json"); }

  const tests::TemporaryFolder folder_;
  const std::string part_ = folder_.file(".part", "new"), path_ = folder_.at("report.json");
};

TEST_F(Unfinished, WhatIsWholeGetsItsName) {
  folder_.file("report.json", "old");
  UnfinishedWrite write(-1, part_, path_, true);
  write.whole();
  UnfinishedWrite::settle_slots();
  EXPECT_EQ(report(), "new");
  EXPECT_FALSE(fs::exists(part_));
}

TEST_F(Unfinished, WhatIsWholeAndHasNoNameGetsOne) {
  const int file = unnamed();
  if (file < 0) GTEST_SKIP() << "this file system has no files without a name";
  UnfinishedWrite write(file, part_, path_, true);
  write.whole();
  UnfinishedWrite::settle_slots();
  EXPECT_EQ(report(), "new");
  EXPECT_FALSE(fs::exists(part_));
  ::close(file);
}

TEST_F(Unfinished, WhatJustGotItsNameIsRenamedThoughItIsClosed) {
  const int file = unnamed();
  if (file < 0) GTEST_SKIP() << "this file system has no files without a name";
  UnfinishedWrite write(file, part_, path_, true);
  write.whole();
  EXPECT_TRUE(write.give_name());
  ::close(file);
  UnfinishedWrite::settle_slots();
  EXPECT_EQ(report(), "new");
  EXPECT_FALSE(fs::exists(part_));
}

TEST_F(Unfinished, APartIsRemoved) {
  folder_.file("report.json", "old");
  const UnfinishedWrite write(-1, part_, path_, true);
  UnfinishedWrite::settle_slots();
  EXPECT_EQ(report(), "old");
  EXPECT_FALSE(fs::exists(part_));
}

TEST_F(Unfinished, WhatIsAnothersIsNotReplaced) {
  folder_.file("report.json", "another's");
  UnfinishedWrite write(-1, part_, path_, false);
  write.whole();
  UnfinishedWrite::settle_slots();
  EXPECT_EQ(report(), "another's");
  EXPECT_FALSE(fs::exists(part_));
}

TEST_F(Unfinished, WhatIsFinishedIsLeftAlone) {
  {
    UnfinishedWrite write(-1, part_, path_, true);
    write.whole();
  }
  UnfinishedWrite::settle_slots();
  EXPECT_TRUE(fs::exists(part_));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(Unfinished, MoreThanAreKnownAreOnlyNotSettled) {
  const std::string other = folder_.file(".other", "new");
  const UnfinishedWrite one(-1, part_, path_, true), two(-1, part_, path_, true),
      three(-1, part_, path_, true), four(-1, part_, path_, true), five(-1, other, path_, true);
  UnfinishedWrite::settle_slots();
  EXPECT_FALSE(fs::exists(part_));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(Unfinished, ANameThatIsTooLongIsOnlyNotSettled) {
  const std::string longest(PATH_MAX, 'x');
  {
    const UnfinishedWrite path(-1, part_, longest, true), part(-1, longest, path_, true);
    UnfinishedWrite::settle_slots();
  }
  EXPECT_TRUE(fs::exists(part_));
}

TEST_F(Unfinished, AFileWithoutANumberGetsNoName) {
  UnfinishedWrite write(-1, folder_.at("other"), path_, true);
  EXPECT_FALSE(write.give_name());
  EXPECT_FALSE(fs::exists(folder_.at("other")));
}

// The places are given back.
TEST_F(Unfinished, ManyAfterEachOtherAreAllKnown) {
  for (int i = 0; i < 9; ++i) {
    folder_.file(".part", std::to_string(i));
    UnfinishedWrite write(-1, part_, path_, true);
    write.whole();
    UnfinishedWrite::settle_slots();
    EXPECT_EQ(report(), std::to_string(i));
  }
}

// The first does it; another that ends the process meanwhile waits for it and does nothing.
TEST_F(Unfinished, OnlyTheFirstEndSettles) {
  const pid_t child = ::fork();
  if (child == 0) {
    {
      UnfinishedWrite write(-1, part_, path_, true);
      write.whole();
      UnfinishedWrite::settle_all();
    }
    const bool first = report() == "new" && !fs::exists(part_);
    folder_.file(".part", "other");
    UnfinishedWrite write(-1, part_, path_, true);
    write.whole();
    UnfinishedWrite::settle_all();
    ::_exit(first && report() == "new" && fs::exists(part_) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Unfinished, WritesAreAwaitedAsLongAsThereIsPatience) {
  using std::chrono::milliseconds;
  const auto waited = [](milliseconds patience) {
    const auto begin = std::chrono::steady_clock::now();
    WriteUnderWay::await_all(patience);
    return std::chrono::steady_clock::now() - begin;
  };
  {
    const WriteUnderWay one;
    EXPECT_GE(waited(milliseconds(20)), milliseconds(20));
  }
  EXPECT_LT(waited(std::chrono::minutes(1)), std::chrono::seconds(30));  // nobody writes
}

}  // namespace
}  // namespace gable
