// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xplane/xplane_tables.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/tools/import/xplane/xplane_encoder.h"
#include "tools/base/wrong_use.h"

namespace gable::xplane {
namespace {

using Texts = std::vector<std::string>;

SpaceTables tables(const std::string& file, bool names = false) {
  TextSource source(file, "a.pb");
  return read_tables(source, names);
}

TEST(XplaneTables, PlanesOfGpusAndHostsAreKeptByTheirPlace) {
  const SpaceTables found =
      tables(number(1, 5) + unknown_fields() + a_plane("Task Environment", a_line("a", "")) +
             a_plane("/device:GPU:3", unknown_fields() + a_line("Stream #1", "") + number(3, 4) +
                                          event_name(4, "gemm", data(5, "s") + data(5, "t")) +
                                          stat_name(5, "hlo_op") + stat_name(6, "x") +
                                          data(6, "one") + data(6, "two")) +
             a_plane("/device:TPU:0", a_line("b", "") + stat_name(7, "correlation_id")) +
             a_plane("/host:CPU [8]", a_line("c", "") + event_name(4, "gemm") +
                                          stat_name(7, "hlo_op") + stat_name(8, "correlation_id") +
                                          stat_name(9, "step_num") + data(6, "one")) +
             a_plane("/host:other", a_line("d", "") + stat_name(7, "hlo_op")));
  EXPECT_EQ(found.seen, 5u);
  ASSERT_EQ(found.planes.size(), 2u);
  const Tables& gpu = found.planes.at(1);
  EXPECT_EQ(gpu.name, "/device:GPU:3");
  EXPECT_EQ(gpu.place.device, 3);
  ASSERT_EQ(gpu.events.size(), 1u);
  EXPECT_EQ(gpu.events.at(4).name, "gemm");
  EXPECT_EQ(gpu.events.at(4).stats, (Texts{"s", "t"}));
  EXPECT_EQ(gpu.texts.size(), 2u);
  EXPECT_EQ(gpu.texts.at(5), "hlo_op");
  EXPECT_EQ(gpu.stats, (Texts{"one", "two"}));
  const Tables& host = found.planes.at(3);
  EXPECT_EQ(host.place.process, "8");
  EXPECT_TRUE(host.events.empty());
  EXPECT_EQ(host.texts.size(), 2u);
  EXPECT_EQ(host.texts.at(8), "correlation_id");
  EXPECT_TRUE(host.stats.empty());
  EXPECT_TRUE(found.gpu);
  EXPECT_TRUE(found.other_device);
  EXPECT_TRUE(found.steps);
  EXPECT_EQ(found.dropped, 0u);
  EXPECT_EQ(found.why, "");
}

TEST(XplaneTables, NamesOfTheHostAreKeptWhereTheyAreAskedFor) {
  const std::string file = a_plane("/host:CPU", a_line("a", "") + event_name(4, "epoch")) +
                           a_plane("/host:metadata", a_line("a", "") + event_name(4, "epoch"));
  const SpaceTables found = tables(file, true);
  ASSERT_EQ(found.planes.size(), 1u);
  EXPECT_EQ(found.planes.at(0).events.at(4).name, "epoch");
  EXPECT_FALSE(found.steps);
  EXPECT_FALSE(found.gpu);
  EXPECT_FALSE(found.other_device);
  EXPECT_TRUE(tables(file).planes.empty());
  EXPECT_FALSE(tables(a_plane("/host:CPU", stat_name(4, "correlation_id"))).steps);
}

TEST(XplaneTables, PlanesWithLanesAreShown) {
  EXPECT_EQ(tables(a_plane("a", "") + a_plane("b", a_line("x", "")) +
                   a_plane("c", a_line("x", "") + a_line("y", "")))
                .shown,
            (Texts{"b (1 lane)", "c (2 lanes)"}));
  EXPECT_EQ(tables(a_plane(std::string(65, 'a'), a_line("x", ""))).shown,
            Texts{std::string(64, 'a') + " (1 lane)"});
  std::string many;
  for (int i = 0; i < 7; ++i) many += a_plane("/device:GPU:1", a_line("x", ""));
  EXPECT_EQ(tables(many).shown.size(), 6u);
  EXPECT_EQ(tables(many).planes.size(), 7u);
  EXPECT_TRUE(tables(a_plane("/device:GPU:1", stat_name(5, "x"))).planes.empty());
  EXPECT_TRUE(tables(a_plane("/device:GPU:1", stat_name(5, "x"))).gpu);
  EXPECT_FALSE(tables(a_plane("/device:GPU:1", "")).other_device);
  EXPECT_FALSE(tables(a_plane("/device:TPU:1", "")).gpu);
}

TEST(XplaneTables, ANameStandsBeforeTheLines) {
  EXPECT_THROW(tables(data(1, a_line("x", "") + data(2, "/device:GPU:0"))), WrongUse);
  EXPECT_THROW(tables(data(1, stat_name(5, "x") + data(2, "/device:GPU:0"))), WrongUse);
}

TEST(XplaneTables, MorePlanesThanAnyMachineHasAreRefused) {
  std::string many;
  for (int i = 0; i < 4096; ++i) many += a_plane("/device:GPU:0", a_line("x", ""));
  EXPECT_EQ(tables(many).planes.size(), 4096u);
  EXPECT_THROW(tables(many + a_plane("/device:GPU:0", a_line("x", ""))), WrongUse);
}

TEST(XplaneTables, DroppedRecordsOfGpusAreCounted) {
  const auto dropped = [](const std::string& warning) {
    return tables(data(3, warning) + data(4, warning)).dropped;
  };
  EXPECT_EQ(dropped("12 events dropped because total device(activity) events reaches max;"), 12u);
  EXPECT_EQ(dropped("on HOST: 3 events dropped because device(activity);"
                    "4 events dropped because (callback);5 events dropped because b"),
            8u);
  EXPECT_EQ(dropped("1 events dropped because a;x20 events dropped because b; (callback)"), 21u);
  EXPECT_EQ(dropped("5000000000 events dropped because a"), 4294967295u);
  EXPECT_EQ(dropped(" events dropped because a"), 0u);
  EXPECT_EQ(dropped("7 events were dropped"), 0u);
  EXPECT_EQ(
      tables(data(3, "1 events dropped because a") + data(3, "2 events dropped because a")).dropped,
      3u);
}

TEST(XplaneTables, WhyThereIsNoGpuIsTold) {
  const auto why = [](const std::string& error) {
    return tables(data(2, error) + data(2, "other")).why;
  };
  EXPECT_NE(why("x Insufficient privilege y").find("administrators"), std::string::npos);
  EXPECT_NE(why("No GPU detected").find("no GPU"), std::string::npos);
  EXPECT_NE(why("could not load libcupti").find("load CUPTI"), std::string::npos);
  EXPECT_EQ(why("a host's name"), "");
}

TEST(XplaneTables, TextsOfStatsAreFound) {
  Tables of;
  of.texts = {{5, "five"}, {INT64_MAX, "most"}, {INT64_MIN, "least"}};
  Stat stat;
  stat.id = 5;
  EXPECT_EQ(of.stat_name(stat), "five");
  EXPECT_EQ(of.text_of(stat), "");
  stat.id = 6;
  EXPECT_EQ(of.stat_name(stat), "");
  stat.kind = Stat::Kind::text;
  stat.text = "own";
  EXPECT_EQ(of.text_of(stat), "own");
  stat.kind = Stat::Kind::whole;
  stat.whole = -7;
  EXPECT_EQ(of.text_of(stat), "-7");
  stat.kind = Stat::Kind::real;
  stat.reference = 5;
  EXPECT_EQ(of.text_of(stat), "");
  stat.kind = Stat::Kind::reference;
  EXPECT_EQ(of.text_of(stat), "five");
  stat.reference = 6;
  EXPECT_EQ(of.text_of(stat), "");
  stat.reference = INT64_MAX;
  EXPECT_EQ(of.text_of(stat), "most");
  stat.reference = std::uint64_t{1} << 63;
  EXPECT_EQ(of.text_of(stat), "");
}

}  // namespace
}  // namespace gable::xplane
