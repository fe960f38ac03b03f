// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/join.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/tools/import/report/files.h"

namespace gable {
namespace {

constexpr double kNothing = -1;  // in the place of a value: nothing was counted

// The first value of each kernel in their order.
std::vector<double> joined(Files& files) {
  Join join(files.imported);
  std::vector<double> values;
  for (const auto* kernel = files.imported.kernels.first(); kernel != nullptr;
       kernel = files.imported.kernels.next()) {
    const Imported::CounterLaunch* of = join.of(*kernel);
    values.push_back(of == nullptr ? kNothing : of->values.at(0).second);
  }
  return values;
}

long notes(const Files& files, const std::vector<std::string>& pieces) {
  return Files::notes_with(files.imported.notes, pieces);
}

TEST(Join, LaunchesInTheSameOrderHaveTheirOwn) {
  Files files;
  for (const char* name : {"a", "b", "a", "b"}) files.timed(name);
  double value = 0;
  for (const char* name : {"a", "b", "a", "b"}) files.counted(name, ++value);
  EXPECT_EQ(joined(files), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_TRUE(files.imported.counters.empty()) << "they were taken out";
  ASSERT_EQ(files.imported.notes.size(), 1u);
  EXPECT_EQ(notes(files, {"for 4 of 4 launches."}), 1);
}

TEST(Join, InAnotherOrderThereAreMeans) {
  Files files;
  for (const char* name : {"a", "b", "a", "b", "once"}) files.timed(name);
  files.counted("once", 50);
  files.counted("a", 1);
  files.counted("a", 4);
  files.counted("b", 10);
  files.counted("b", 20);
  EXPECT_EQ(joined(files), (std::vector<double>{2.5, 15, 2.5, 15, 50}));
  EXPECT_EQ(notes(files, {"for 1 of 5 launches; for 4 the files differ", "sums."}), 1);
}

TEST(Join, AnotherNumberOfLaunchesMakesMeansAndLeavesTheOrderOfOthers) {
  Files files;
  for (const char* name : {"a", "b", "c", "b", "a", "a"}) files.timed(name);
  files.counted("a", 1);
  files.counted("b", 10);
  files.counted("a", 2);
  files.counted("b", 20);
  EXPECT_EQ(joined(files), (std::vector<double>{1.5, 10, kNothing, 20, 1.5, 1.5}));
  EXPECT_EQ(notes(files, {"for 2 of 6 launches; for 3 the files differ", "; 1 have none."}), 1);
  EXPECT_EQ(files.imported.notes.size(), 1u);
}

TEST(Join, MoreCountedThanTimed) {
  Files files;
  files.timed("a");
  files.counted("a", 1);
  files.counted("a", 7);
  EXPECT_EQ(joined(files), (std::vector<double>{4}));
  EXPECT_EQ(notes(files, {"for 0 of 1 launches; for 1 the files differ"}), 1);
}

TEST(Join, AMeanIsOfTheValuesThatAreNumbers) {
  Files files;
  for (int i = 0; i < 4; ++i) files.timed("a");
  files.counted("a", Files::shape(4), {{0, NAN}, {1, NAN}, {2, 3}});
  files.counted("a", Files::shape(4), {{0, 6}, {1, INFINITY}, {3, 9}});
  files.counted("a", Files::shape(4), {{0, 9}, {1, NAN}, {2, 5}});
  Join join(files.imported);
  const Imported::CounterLaunch* of = join.of(*files.imported.kernels.first());
  ASSERT_NE(of, nullptr);
  ASSERT_EQ(of->values.size(), 4u);
  EXPECT_EQ(of->values[0], (std::pair<std::uint32_t, double>{0, 7.5}));
  EXPECT_EQ(of->values[1].first, 1u);
  EXPECT_TRUE(std::isnan(of->values[1].second)) << "it was asked for and is unknown";
  EXPECT_EQ(of->values[2], (std::pair<std::uint32_t, double>{2, 4}));
  EXPECT_EQ(of->values[3], (std::pair<std::uint32_t, double>{3, 9}));
  EXPECT_EQ(of->function, files.imported.functions.intern("a"));
}

TEST(Join, AnotherGridOrBlockIsOtherWork) {
  for (int part = 0; part < 6; ++part) {
    Files files;
    LaunchShape other = Files::shape(4);
    for (Dim3* size : {&other.grid, &other.block}) {
      const int first = size == &other.grid ? 0 : 3;
      if (part == first) size->x = 9;
      if (part == first + 1) size->y = 9;
      if (part == first + 2) size->z = 9;
    }
    files.timed("a");
    files.timed("a", other);
    files.counted("a", other, {{0, 8}});
    files.counted("a", 5);
    EXPECT_EQ(joined(files), (std::vector<double>{5, 8})) << part;
  }
}

TEST(Join, WhereNoCounterHasAGridNamesAreEnough) {
  Files files;
  files.timed("a", 4);
  files.timed("a", 5);
  files.counted("a", 1, 0);
  files.counted("a", 2, 0);
  EXPECT_EQ(joined(files), (std::vector<double>{1, 2}));
}

TEST(Join, WhereOneHasAGridThoseWithoutHaveNoPlace) {
  Files files;
  files.timed("a", 4);
  files.timed("b", 4);
  files.counted("a", 1, 4);
  files.counted("b", 2, 0);
  EXPECT_EQ(joined(files), (std::vector<double>{1, kNothing}));
  EXPECT_EQ(notes(files, {"counters of 1 launch ", "left out"}), 1);
}

TEST(Join, CountersOfNoTimedKernelAreNamed) {
  Files files;
  files.timed("a");
  files.counted("a", 1);
  files.counted("x", 2);
  files.counted("y", 3);
  EXPECT_EQ(joined(files), (std::vector<double>{1}));
  EXPECT_EQ(files.imported.notes.size(), 2u);
  EXPECT_EQ(notes(files, {"counters of 2 launches ", "no kernel with a time"}), 1);
}

TEST(Join, WithoutCountersOfATimedKernel) {
  Files files;
  files.timed("a");
  files.timed("a");
  files.counted("x", 2);
  EXPECT_EQ(joined(files), (std::vector<double>{kNothing, kNothing}));
  EXPECT_EQ(notes(files, {"for 0 of 2 launches; 2 have none."}), 1);
}

TEST(Join, ANameOfSeveralKernelsIsOfNone) {
  Files files;
  files.timed("void a<float>(int)");
  files.timed("void a<double>(int)");
  files.counted("a", 1);
  EXPECT_EQ(joined(files), (std::vector<double>{kNothing, kNothing}));
  EXPECT_EQ(notes(files, {"counters of 1 launch ", "could belong to several"}), 1);
  EXPECT_EQ(notes(files, {"no kernel with a time"}), 0);
}

}  // namespace
}  // namespace gable
