// SPDX-License-Identifier: Apache-2.0
// What is read of ncu's pages.
#include <gtest/gtest.h>

#include "tests/unit/tools/import/ncu/ncu_files.h"

namespace gable {
namespace {

TEST(NcuCsv, RowsOfOneLaunchFollowEachOther) {
  NcuFiles files;
  EXPECT_EQ(
      files.read(
          "a program's line\n" + kLongHead + text_of({"0", kNs, "us", "1.5"}) +
          text_of({"0", kBytes, "Kbyte", "2"}) + "another\n" + text_of({"1", kNs, "ns", "7"}) +
          text_of({"1", kNs, "ns", "8", "k", "2"}) + text_of({"1", kNs, "ns", "9", "other", "2"}) +
          text_of({"1", kNs, "ns", "10", "other", "2", "(64, 2, 3)"}) +
          text_of({"1", kBytes, "byte", "11", "other", "2", "(1, 1, 1)", "(5, 6, 7)", "3", "9.0"})),
      "");
  ASSERT_EQ(files.imported.counters.size(), 5u);
  EXPECT_EQ(files.value(0, kNs), 1500);
  EXPECT_EQ(files.value(0, kBytes), 2000);
  EXPECT_EQ(files.value(1, kNs), 7);
  EXPECT_EQ(files.value(1, kBytes), -1);
  EXPECT_EQ(files.value(2, kNs), 8) << "of another process";
  EXPECT_EQ(files.kernel(2), "k");
  EXPECT_EQ(files.kernel(3), "other");
  EXPECT_EQ(files.shape(3).block, (Dim3{32, 1, 1}));
  EXPECT_EQ(files.shape(3).grid, (Dim3{4, 1, 1}));
  EXPECT_EQ(files.shape(4).grid, (Dim3{5, 6, 7}));
  EXPECT_EQ(files.imported.counters[4].device, 3);
  EXPECT_EQ(files.imported.devices.at(0).compute_major, 8);
  EXPECT_EQ(files.imported.devices.at(3).compute_major, 9);
  EXPECT_EQ(files.imported.devices.at(3).id, 3);
  EXPECT_TRUE(files.imported.notes.empty());
}

constexpr const char* kWideHead =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
    "\"device__attribute_display_name\",\"device__attribute_clock_rate\",\"launch__registers_per_"
    "thread\",\"launch__shared_mem_per_block_static\",\"launch__shared_mem_per_block_dynamic\","
    "\"gpu__time_duration.sum\",\"dram__bytes.sum\",\"comment\"\n";

std::string wide(const char* id, const char* rest) {
  return std::string("\"") + id + "\",\"1\",\"k\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"0\",\"8.0\"," +
         rest + "\n";
}

TEST(NcuCsv, TheRawPageHasARowOfUnitsAndARowALaunch) {
  NcuFiles files;
  EXPECT_EQ(
      files.read(kWideHead +
                 std::string("\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mhz\",\"register/thread\","
                             "\"Kbyte/block\",\"byte/block\",\"us\",\"Kbyte\",\"\"\n") +
                 wide("0", "\"A100\",\"1410\",\"32\",\"1\",\"24\",\"5\",\"3\",\"x\"") +
                 wide("1", "\"other\",\"9\",\"32\",\"1\",\"24\",\"6\",\"n/a\",\"y\"")),
      "");
  ASSERT_EQ(files.imported.counters.size(), 2u);
  EXPECT_EQ(files.value(0, kNs), 5000);
  EXPECT_EQ(files.value(0, kBytes), 3000);
  EXPECT_EQ(files.value(1, kNs), 6000);
  EXPECT_EQ(files.value(1, kBytes), -2) << "asked for, and not answered";
  EXPECT_EQ(files.imported.counters[1].values.size(), 2u);
  EXPECT_EQ(files.imported.metrics.size(), 2u);
  const DeviceInfo& device = files.imported.devices.at(0);
  EXPECT_EQ(device.name, "A100") << "every row repeats them";
  EXPECT_EQ(device.sm_clock_max_hz, 1'410'000'000u);
  const auto& launch = files.imported.counters[0];
  EXPECT_EQ(files.imported.resources.find(launch.function, launch.shape),
            (KernelResources{32, 1024}));
  ASSERT_EQ(files.imported.notes.size(), 1u);
  EXPECT_TRUE(files.notes_have(" c.csv")) << "the clock is from there";
}

TEST(NcuCsv, WithoutUnitsTheyAreBaseUnitsAndAreSaidToBe) {
  NcuFiles files;
  EXPECT_EQ(files.read(kWideHead + wide("0", "\"\",\"\",\"32\",\"1024\",\"24\",\"5\",\"3\",\"\"") +
                       wide("1", "\"\",\"\",\"32\",\"1024\",\"24\",\"6\",\"4\",\"\"")),
            "");
  EXPECT_EQ(files.value(1, kNs), 6);
  const auto& launch = files.imported.counters[0];
  EXPECT_EQ(files.imported.resources.find(launch.function, launch.shape),
            (KernelResources{32, 1048}));
  EXPECT_EQ(files.imported.notes.size(), 1u);
  EXPECT_TRUE(files.notes_have("c.csv does not say the units"));
  NcuFiles plain;
  EXPECT_EQ(plain.read("\"ID\",\"Kernel Name\",\"A\",\"Metric Name\",\"Metric Value\"\n"
                       "\"0\",\"k\",\"a\",\"gpu__time_duration.sum\",\"5\"\n"
                       "\"0\",\"k\",\"a\",\"dram__bytes.sum\",\"6\"\n"),
            "");
  EXPECT_EQ(plain.imported.counters.size(), 1u);
  EXPECT_EQ(plain.value(0, kBytes), 6);
  EXPECT_EQ(plain.imported.notes.size(), 1u);
  EXPECT_EQ(plain.shape(0).grid, (Dim3{0, 0, 0})) << "the file does not say";
  EXPECT_EQ(plain.shape(0).block, (Dim3{0, 0, 0}));
}

TEST(NcuCsv, TheDetailsPageHasTitlesRulesAndWhatBlocksTake) {
  NcuFiles files;
  EXPECT_EQ(
      files.read(kLongHead + text_of({"0", "Duration", "us", "2"}) + text_of({"0", "", "", ""}) +
                 text_of({"0", "Some Title", "", "text"}) + text_of({"0", "# SMs", "SM", "108"}) +
                 text_of({"0", "Registers Per Thread", "register/thread", "40"}) +
                 text_of({"0", "Static Shared Memory Per Block", "byte/block", "8"}) +
                 text_of({"0", "Dynamic Shared Memory Per Block", "byte/block", "0"})),
      "");
  EXPECT_EQ(files.value(0, kNs), 2000);
  EXPECT_EQ(files.imported.counters[0].values.size(), 1u);
  EXPECT_EQ(files.imported.devices.at(0).sm_count, 108);
  const auto& launch = files.imported.counters[0];
  EXPECT_EQ(files.imported.resources.find(launch.function, launch.shape), (KernelResources{40, 8}));
}

TEST(NcuCsv, APercentSignIsTheUnit) {
  NcuFiles files;
  EXPECT_EQ(files.read(kLongHead + text_of({"0", "lts__t_sector_hit_rate.pct", "", "50%"}) +
                       text_of({"1", "lts__t_sector_hit_rate.pct", "%", "60%"})),
            "");
  EXPECT_EQ(files.value(0, "lts__t_sector_hit_rate.pct"), 50);
  EXPECT_EQ(files.value(1, "lts__t_sector_hit_rate.pct"), 60);
  EXPECT_TRUE(has(files.read(kLongHead + text_of({"0", kNs, "ns", "60%"})), "60%"));
}

TEST(NcuCsv, AUnitIsThatOfTheRow) {
  NcuFiles files;
  EXPECT_EQ(files.read(kLongHead + text_of({"0", kNs, "us", "1"}) + text_of({"1", kNs, "ms", "1"}) +
                       text_of({"2", kNs, "", "1"}) + text_of({"3", kNs, "us", "1"})),
            "");
  EXPECT_EQ(files.value(0, kNs), 1e3);
  EXPECT_EQ(files.value(1, kNs), 1e6);
  EXPECT_EQ(files.value(2, kNs), 1);
  EXPECT_EQ(files.value(3, kNs), 1e3);
}

TEST(NcuCsv, ValuesOfDerivedMetricsArePartsOfTheirs) {
  NcuFiles files;
  EXPECT_EQ(files.read(kLongHead + text_of({"0",
                                            "derived__smsp__sass_thread_inst_executed_op_"
                                            "ffma_pred_on_x2",
                                            "inst/cycle", "10"})),
            "");
  EXPECT_EQ(files.value(0, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed"),
            5);
}

TEST(NcuCsv, UnitsThatAreNotUnderstoodAreNamedOfThree) {
  for (int count = 1; count <= 5; ++count) {
    NcuFiles files;
    std::string text = kLongHead;
    for (int i = 0; i < count; ++i) {
      const std::string metric =
          "dram__bytes_" + std::string(1, static_cast<char>('a' + i)) + ".sum";
      text += text_of({"0", metric.c_str(), "sector", "1"});
    }
    EXPECT_EQ(files.read(text), "");
    EXPECT_EQ(files.value(0, "dram__bytes_a.sum"), -2);
    ASSERT_EQ(files.imported.notes.size(), 1u);
    EXPECT_TRUE(files.notes_have("in c.csv dram__bytes_a.sum is in 'sector'"));
    EXPECT_EQ(files.notes_have(", dram__bytes_c.sum is in"), count > 2);
    EXPECT_FALSE(files.notes_have("dram__bytes_d.sum"));
    EXPECT_EQ(files.notes_have(" and so on, " + std::to_string(count) + " metrics"), count > 3);
  }
  NcuFiles files;
  EXPECT_EQ(files.read(kLongHead + text_of({"0", "Registers Per Thread", "byte", "40"})), "");
  EXPECT_TRUE(files.notes_have("Registers Per Thread is in 'byte'"));
}

TEST(NcuCsv, NumbersHaveTheDecimalMarkThatTheFileShows) {
  NcuFiles files;
  EXPECT_EQ(files.read(kLongHead + text_of({"0", kNs, "ns", "1.234"}) +
                       text_of({"1", kBytes, "byte", "7"}) + text_of({"2", kNs, "ns", "1,5"}) +
                       text_of({"3", kNs, "ns", "2.000"})),
            "");
  ASSERT_EQ(files.imported.counters.size(), 4u);
  EXPECT_EQ(files.value(0, kNs), 1234) << "it waited for the one that tells";
  EXPECT_EQ(files.value(1, kBytes), 7);
  EXPECT_EQ(files.value(2, kNs), 1.5);
  EXPECT_EQ(files.value(3, kNs), 2000);
  NcuFiles doubtful;
  EXPECT_TRUE(has(doubtful.read(kLongHead + text_of({"0", kNs, "ns", "1.234"})), "'1.234' "));
  NcuFiles two;
  const std::string said =
      two.read(kLongHead + text_of({"0", kNs, "ns", "1,5"}) + text_of({"1", kNs, "ns", "1.5"}));
  EXPECT_TRUE(has(said, "/x/c.csv:3: '1.5' is not a number") && has(said, "a comma")) << said;
  EXPECT_TRUE(has(said, kNs));
  NcuFiles other;
  const std::string point =
      other.read(kLongHead + text_of({"0", kNs, "ns", "1.5"}) + text_of({"1", kNs, "ns", "1,5"}));
  EXPECT_TRUE(has(point, "a point")) << point;
}

TEST(NcuCsv, AHeadBeginsAFileOfItsOwn) {
  NcuFiles files;
  EXPECT_EQ(files.read(kLongHead + text_of({"0", kNs, "ns", "1,5"}) + kLongHead +
                       text_of({"0", kBytes, "byte", "1.5"})),
            "");
  ASSERT_EQ(files.imported.counters.size(), 1u) << "other metrics of the same launches";
  EXPECT_EQ(files.value(0, kNs), 1.5);
  EXPECT_EQ(files.value(0, kBytes), 1.5);
}

TEST(NcuCsv, ARowThatWaitsKeepsItsLineAndLaunch) {
  NcuFiles files;
  const std::string said =
      files.read(kLongHead + text_of({"0", kNs, "ns", "1.234"}) +
                 text_of({"0", kBytes, "byte", "(5)"}) + text_of({"1", kNs, "ns", "1,5"}));
  EXPECT_TRUE(has(said, "/x/c.csv:3: '(5)' is not a number")) << said;
  NcuFiles raw;
  EXPECT_EQ(raw.read("\"ID\",\"Kernel Name\",\"A\",\"gpu__time_duration.sum\",\"dram__bytes.sum\"\n"
                     "\"0\",\"k\",\"a\",\"1.234\",\"5\"\n"
                     "\"1\",\"k\",\"a\",\"2\",\"1,5\"\n"),
            "");
  EXPECT_EQ(raw.value(0, kNs), 1234);
  EXPECT_EQ(raw.value(1, kBytes), 1.5);
}

TEST(NcuCsv, FilesThatAnotherProgramWroteAgain) {
  NcuFiles files;
  EXPECT_EQ(files.read("Unnamed: 0,ID,Kernel Name,Device,CC,gpu__time_duration.sum\n"
                       "0,0,k,0,8,5\n1,1,k,0,8.0,6\n"),
            "/x/c.csv has no line that begins with \"ID\", so it is not output of ncu --csv: run "
            "ncu with --csv --page raw --print-units base --log-file counters.csv, and give that "
            "file.");
  EXPECT_EQ(files.read(",ID,Kernel Name,Device,CC,gpu__time_duration.sum\n"
                       "0,0,k,0,8,5\n1,1,k,0,8.0,6\n"),
            "");
  ASSERT_EQ(files.imported.counters.size(), 2u);
  EXPECT_EQ(files.value(1, kNs), 6);
  EXPECT_EQ(files.imported.devices.at(0).compute_major, 8);
  EXPECT_EQ(files.imported.devices.at(0).compute_minor, 0);
}

TEST(NcuCsv, NcuRepsNameTheExport) {
  const std::string said = ncu_rep_sentence("/x/run.ncu-rep");
  EXPECT_TRUE(
      has(said, "ncu --import /x/run.ncu-rep --csv --page raw --print-units base > run.csv"));
}

}  // namespace
}  // namespace gable
