// SPDX-License-Identifier: Apache-2.0
// Several files of counters of the same launches, or of others.
#include "tools/import/counters/ncu_merge.h"

#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tests/unit/tools/import/counters/launches.h"

namespace gable {
namespace {

struct Merge : Launches {
  struct Row {
    const char* kernel;
    Values values;
    std::uint32_t grid = 1;
    std::int32_t device = 0;
  };
  Merge& file(const std::vector<Row>& rows) {
    std::vector<Imported::CounterLaunch> all;
    for (const Row& row : rows) all.push_back(launch(row.kernel, row.values, row.grid, row.device));
    merge_counters(std::move(all), "/x/b.csv", imported);
    return *this;
  }
  // Of each launch.
  [[nodiscard]] std::vector<double> all(const char* name) const {
    std::vector<double> found;
    for (std::size_t i = 0; i < imported.counters.size(); ++i) found.push_back(value(i, name));
    return found;
  }
  [[nodiscard]] std::string note() const {
    EXPECT_EQ(imported.notes.size(), 1u);
    return imported.notes.empty() ? "" : imported.notes.front();
  }
};

using Values = std::vector<double>;

TEST(NcuMerge, NewMetricsOfTheSameLaunchesComplete) {
  Merge files;
  files.file({{"a", {{"x", 1}, {"t", 5}}}, {"b", {{"x", 2}}}, {"a", {{"x", 3}}}})
      .file({{"a", {{"y", 10}, {"t", 6}}}, {"b", {{"y", 20}}}, {"a", {{"y", 30}}}});
  EXPECT_EQ(files.all("x"), (Values{1, 2, 3}));
  EXPECT_EQ(files.all("y"), (Values{10, 20, 30}));
  EXPECT_EQ(files.all("t"), (Values{5, -1, -1})) << "a value that both have is of the first";
  EXPECT_TRUE(files.imported.notes.empty());
}

TEST(NcuMerge, AnotherOrderIsJoinedByKernelAndSaid) {
  Merge files;
  files.file({{"a", {{"x", 1}}}, {"b", {{"x", 2}}}, {"a", {{"x", 3}}}})
      .file({{"b", {{"y", 20}}}, {"a", {{"y", 10}}}, {"a", {{"y", 30}}}});
  EXPECT_EQ(files.all("y"), (Values{10, 20, 30}));
  EXPECT_TRUE(has(files.note(), "b.csv has the kernels"));
  EXPECT_TRUE(has(files.note(), "in their order for 3 launches."));
}

TEST(NcuMerge, AnotherNumberMakesMeans) {
  Merge files;
  files.file({{"a", {{"x", 1}}}, {"a", {{"x", 2}}}, {"b", {{"x", 3}}}})
      .file({{"a", {{"y", 10}, {"z", NAN}, {"u", NAN}}},
             {"a", {{"y", 30}, {"z", 8}}},
             {"a", {{"y", 50}, {"z", 4}}},
             {"b", {{"y", 7}}}});
  EXPECT_EQ(files.all("y"), (Values{30, 30, 7}));
  EXPECT_EQ(files.all("z"), (Values{6, 6, -1})) << "over those that have it";
  EXPECT_EQ(files.all("u"), (Values{-2, -2, -1})) << "asked for and unknown";
  EXPECT_TRUE(has(files.note(), "in their order for 1 launch, as means for 2 launches."))
      << files.note();
}

TEST(NcuMerge, WhatIsNotNewAreFurtherLaunches) {
  Merge files;
  files.file({{"a", {{"x", 1}, {"y", 2}}}}).file({{"a", {{"x", 3}}}, {"c", {{"x", 4}}}});
  EXPECT_EQ(files.all("x"), (Values{1, 3, 4}));
  EXPECT_TRUE(files.imported.notes.empty());
}

TEST(NcuMerge, FurtherLaunchesBesideOthersAreSaid) {
  Merge files;
  files.file({{"a", {{"x", 1}}}, {"d", {{"x", 2}}}})
      .file({{"c", {{"y", 5}}}, {"a", {{"y", 6}}}, {"d", {{"x", 7}}}});
  EXPECT_EQ(files.all("x"), (Values{1, 2, -1, 7}));
  EXPECT_EQ(files.all("y"), (Values{6, -1, 5, -1}));
  EXPECT_TRUE(has(files.note(), "for 1 launch; 2 launches are further ones")) << files.note();
  Merge one;
  one.file({{"a", {{"x", 1}}}}).file({{"a", {{"y", 6}}}, {"c", {{"y", 5}}}});
  EXPECT_TRUE(has(one.note(), "; 1 launch is further ones")) << one.note();
}

TEST(NcuMerge, SameOrderButSomeWithoutNewMetrics) {
  Merge files;
  files.file({{"a", {{"x", 1}}}, {"b", {{"x", 2}}}}).file({{"a", {{"y", 5}}}, {"b", {{"x", 6}}}});
  EXPECT_EQ(files.all("x"), (Values{1, 2, 6}));
  EXPECT_TRUE(has(files.note(), "1 launch is further"));
}

TEST(NcuMerge, OtherGridsAndDevicesAreOthers) {
  Merge files;
  files.file({{"a", {{"x", 1}}, 1, 0}, {"a", {{"x", 2}}, 2, 0}, {"a", {{"x", 3}}, 1, 1}})
      .file({{"a", {{"y", 30}}, 1, 1}, {"a", {{"y", 20}}, 2, 0}, {"a", {{"y", 10}}, 1, 0}});
  EXPECT_EQ(files.all("y"), (Values{10, 20, 30}));
}

TEST(NcuMerge, LaunchesWithoutValuesSayNothing) {
  Merge files;
  files.file({{"a", {{"x", 1}}}}).file({{"a", {}}, {"b", {}}});
  EXPECT_EQ(files.all("x"), (Values{1}));
  files.file({{"b", {}}, {"b", {{"x", 2}}}});
  EXPECT_EQ(files.all("x"), (Values{1, -1, 2})) << "one that has some takes all along";
}

TEST(NcuMerge, NamesThatCouldBeOfSeveralKernelsAreSaid) {
  for (const bool two : {false, true}) {
    Merge files;
    files.file({{"void a<float>(int)", {{"x", 1}}}, {"void a<double>(int)", {{"x", 2}}}});
    files.file(two ? std::vector<Merge::Row>{{"a", {{"y", 3}}}, {"a", {{"y", 4}}}}
                   : std::vector<Merge::Row>{{"a", {{"y", 3}}}});
    EXPECT_EQ(files.imported.counters.size(), two ? 4u : 3u);
    EXPECT_TRUE(has(files.note(), two ? " 2 launches of b.csv" : " 1 launch of b.csv"))
        << files.note();
  }
}

}  // namespace
}  // namespace gable
