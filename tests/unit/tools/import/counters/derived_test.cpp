// SPDX-License-Identifier: Apache-2.0
// What follows from several counters of a launch.
#include "tools/import/counters/derived.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/import/counters/launches.h"

namespace gable {
namespace {

constexpr const char* kDuration = "gpu__time_duration.sum";
constexpr const char* kWork = "sm__ops_path_tensor_src_fp16.sum";

double derived(const Launches::Values& values, const char* name) {
  Launches launches;
  launches.add(values);
  derive_quantities(launches.imported);
  return launches.value(0, name);
}

TEST(Derived, ADurationIsCyclesOverTheirRate) {
  const char *cycles = "sm__cycles_elapsed.max", *rate = "sm__cycles_elapsed.max.per_second";
  EXPECT_EQ(derived({{cycles, 3000}, {rate, 1.5e9}}, kDuration), 2000);
  EXPECT_EQ(derived({{cycles, 3000}, {rate, 0}}, kDuration), -1);
  EXPECT_EQ(derived({{cycles, 3000}, {rate, NAN}}, kDuration), -1);
  EXPECT_EQ(derived({{cycles, NAN}, {rate, 1e9}}, kDuration), -1);
  EXPECT_EQ(derived({{cycles, 3000}}, kDuration), -1);
  EXPECT_EQ(derived({{cycles, 3000}, {"sm__cycles_elapsed.avg.per_second", 1e9}}, kDuration), -1)
      << "of another roll-up";
  EXPECT_EQ(derived({{kDuration, 7}, {cycles, 3000}, {rate, 1.5e9}}, kDuration), 7);
  EXPECT_EQ(derived({{kDuration, NAN}, {cycles, 3000}, {rate, 1.5e9}}, kDuration), 2000);
  EXPECT_EQ(derived({{"sm__inst.sum", 3000}, {"sm__inst.sum.per_second", 1e9}}, kDuration), -1);
}

TEST(Derived, OfSeveralClocksTheFirstByNameCounts) {
  const Launches::Values sm = {{"sm__cycles_elapsed.avg", 30},
                               {"sm__cycles_elapsed.avg.per_second", 1e9}};
  Launches::Values both = sm;
  both.insert(both.begin(), {{"lts__cycles_elapsed.avg.per_second", 1e9},
                             {"lts__cycles_elapsed.avg", 20},
                             {"zz__cycles_elapsed.avg.per_second", 1e9},
                             {"zz__cycles_elapsed.avg", 40}});
  EXPECT_DOUBLE_EQ(derived(both, kDuration), 20);
  both[1].second = NAN;
  EXPECT_DOUBLE_EQ(derived(both, kDuration), 30);
}

TEST(Derived, HowManyTimesAreFromClocksIsSaid) {
  for (const std::size_t count : {0, 1, 2}) {
    Launches launches;
    launches.add({{kDuration, 5}});
    for (std::size_t i = 0; i < count; ++i)
      launches.add({{"sm__cycles_elapsed.max", 3}, {"sm__cycles_elapsed.max.per_second", 1e9}});
    derive_quantities(launches.imported);
    EXPECT_EQ(launches.value(count, kDuration), count == 0 ? 5 : 3);
    ASSERT_EQ(launches.imported.notes.size(), count == 0 ? 0u : 1u);
    const std::string says =
        count == 1 ? "Times of 1 counted launch is" : "Times of 2 counted launches are";
    EXPECT_TRUE(count == 0 || launches.imported.notes[0].starts_with(says));
  }
}

TEST(Derived, RatesPerSecondAreSumsOverTheDuration) {
  const char *rate = "dram__bytes.sum.per_second", *sum = "dram__bytes.sum";
  EXPECT_EQ(derived({{rate, 1e9}, {kDuration, 2000.4}}, sum), 2000) << "whole numbers";
  EXPECT_EQ(derived({{rate, 1e9}}, sum), -1);
  EXPECT_EQ(derived({{rate, NAN}, {kDuration, 2000}}, sum), -1);
  EXPECT_EQ(derived({{rate, 1e9}, {kDuration, 2000}, {sum, 5}}, sum), 5);
  EXPECT_EQ(derived({{rate, 1e9}, {kDuration, 2000}, {sum, NAN}}, sum), 2000);
  EXPECT_EQ(derived({{rate, 1e9},
                     {"sm__cycles_elapsed.max", 3000},
                     {"sm__cycles_elapsed.max.per_second", 1.5e9}},
                    sum),
            2000)
      << "with a duration that is derived itself";
  EXPECT_EQ(derived({{"dram__other.sum.per_second", 1e9}, {kDuration, 2}}, "dram__other.sum"), -1)
      << "of which no report has a part";
  EXPECT_EQ(derived({{"dram__bytes.avg.per_second", 1e9}, {kDuration, 2}}, "dram__bytes.avg"), -1);
}

TEST(Derived, RatesPerCycleAreSumsOverTheirUnitsCycles) {
  const char *rate = "dram__bytes.sum.per_cycle_elapsed", *sum = "dram__bytes.sum";
  EXPECT_EQ(derived({{rate, 2.5}, {"dram__cycles_elapsed.avg", 100}, {kDuration, 9}}, sum), 250);
  EXPECT_EQ(derived({{rate, 2.5}, {"dram__cycles_elapsed.max", 100}}, sum), 250);
  EXPECT_EQ(
      derived({{rate, 2.5}, {"dram__cycles_elapsed.max", 100}, {"dram__cycles_elapsed.avg", 90}},
              sum),
      225)
      << "the mean goes first";
  EXPECT_EQ(
      derived({{rate, 2.5}, {"dram__cycles_elapsed.avg", NAN}, {"dram__cycles_elapsed.max", 100}},
              sum),
      250);
  EXPECT_EQ(derived({{rate, 2.5}, {"sm__cycles_elapsed.avg", 100}}, sum), -1);
  EXPECT_EQ(derived({{rate, 2.5}, {kDuration, 100}}, sum), -1);
  EXPECT_EQ(derived({{rate, 2.5}, {"dram__cycles_elapsed.avg", 0}}, sum), -1);
}

TEST(Derived, CyclesOfAnSmAndOfItsPartitionsAreTheSame) {
  const char* smsp = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
  const std::string rate = std::string(smsp) + ".per_cycle_elapsed";
  EXPECT_EQ(derived({{rate, 3}, {"sm__cycles_elapsed.avg", 10}}, smsp), 30);
  EXPECT_EQ(
      derived({{rate, 3}, {"sm__cycles_elapsed.avg", 10}, {"smsp__cycles_elapsed.avg", 20}}, smsp),
      60);
  EXPECT_EQ(
      derived({{"sm__ctas_launched.sum.per_cycle_elapsed", 3}, {"smsp__cycles_elapsed.max", 10}},
              "sm__ctas_launched.sum"),
      30);
  const char* tensor = "sm__inst_executed_pipe_tensor.sum";
  EXPECT_EQ(
      derived({{std::string(tensor) + ".per_cycle_elapsed", 3}, {"sm__cycles_elapsed.avg", 10}},
              tensor),
      30);
  tensor = "smsp__inst_executed_pipe_tensor.sum";
  EXPECT_EQ(
      derived({{std::string(tensor) + ".per_cycle_elapsed", 3}, {"sm__cycles_elapsed.avg", 10}},
              tensor),
      30);
}

double tensor_work(int major, int minor, const Launches::Values& values, const char* name = kWork) {
  Launches launches;
  launches.add(values);
  launches.imported.devices[0].compute_major = major;
  launches.imported.devices[0].compute_minor = minor;
  derive_quantities(launches.imported);
  return launches.value(0, name);
}

TEST(Derived, NoTensorInstructionIsNoWork) {
  for (const char* name :
       {"sm__inst_executed_pipe_tensor.sum", "smsp__inst_executed_pipe_tensor.sum"}) {
    for (const int major : {7, 8, 9}) EXPECT_EQ(tensor_work(major, 5, {{name, 0}}), 0) << major;
    for (const int major : {6, 10, 0}) EXPECT_EQ(tensor_work(major, 5, {{name, 0}}), -1) << major;
    EXPECT_EQ(tensor_work(8, 0, {{name, 1}}), -1);
    EXPECT_EQ(tensor_work(8, 0, {{name, NAN}}), -1);
  }
  Launches unknown;
  unknown.add({{"sm__inst_executed_pipe_tensor.sum", 0}});
  derive_quantities(unknown.imported);
  EXPECT_EQ(unknown.value(0, kWork), -1) << "of an unknown GPU";
  const char* other = "sm__ops_path_tensor_src_bf16_dst_fp32.sum";
  const Launches::Values asked = {{"sm__inst_executed_pipe_tensor.sum", 0}, {other, NAN}};
  EXPECT_EQ(tensor_work(8, 0, asked, other), 0);
  EXPECT_EQ(tensor_work(8, 0, asked), -1) << "another was asked for";
  EXPECT_EQ(tensor_work(8, 0, {{"sm__inst_executed_pipe_tensor.sum", 0}, {other, 5}}, other), 5);
}

TEST(Derived, NorIsNoneOfEachKind) {
  const auto kinds = [](const char* unit, double half, double doubles, double group) {
    const std::string name = std::string(unit) + "__inst_executed_pipe_tensor_op_";
    Launches::Values values;
    if (half >= 0) values.emplace_back(name + "hmma.sum", half);
    if (doubles >= 0) values.emplace_back(name + "dmma.sum", doubles);
    if (group >= 0) values.emplace_back(name + "gmma.sum", group);
    return values;
  };
  struct Case {
    int major, minor;
    double half, doubles, group;
    double work;
  };
  for (const auto& [major, minor, half, doubles, group, work] :
       {Case{7, 0, 0, -1, -1, 0}, Case{7, 5, 0, -1, -1, 0}, Case{8, 6, 0, -1, -1, 0},
        Case{8, 0, 0, -1, -1, -1}, Case{8, 0, 0, 0, -1, 0}, Case{8, 0, 0, 1, -1, -1},
        Case{8, 9, 0, 0, 0, -1}, Case{9, 0, 0, 0, -1, -1}, Case{9, 0, 0, 0, 0, 0},
        Case{9, 0, 0, 0, 1, -1}, Case{9, 0, 0, -1, 0, -1}, Case{9, 0, 1, 0, 0, -1},
        Case{6, 0, 0, 0, 0, -1}, Case{10, 0, 0, 0, 0, -1}, Case{7, 0, 1, -1, -1, -1},
        Case{7, 9, 0, -1, -1, 0}, Case{9, 9, 0, 0, 0, 0}})
    for (const char* unit : {"sm", "smsp"})
      EXPECT_EQ(tensor_work(major, minor, kinds(unit, half, doubles, group)), work)
          << unit << major << "." << minor << " " << half << doubles << group;
}

TEST(Derived, AnInstructionOf70DoesTheSameWhateverItsTypes) {
  const char* all = "sm__inst_executed_pipe_tensor.sum";
  EXPECT_EQ(tensor_work(7, 0, {{all, 3}}), 3 * 512);
  EXPECT_EQ(tensor_work(7, 5, {{all, 3}}), -1);
  EXPECT_EQ(tensor_work(8, 0, {{all, 3}}), -1);
  EXPECT_EQ(tensor_work(7, 0, {{all, 3}, {kWork, 5}}), 5);
  EXPECT_EQ(tensor_work(7, 0, {{all, 3}, {kWork, NAN}}), 3 * 512);
  EXPECT_EQ(tensor_work(7, 0, {{all, NAN}}), -1);
}

TEST(Derived, EachLaunchHasItsOwn) {
  Launches launches;
  launches.add({{"dram__bytes.sum.per_second", 1e9}, {kDuration, 100}});
  launches.add({{"dram__bytes.sum.per_second", 2e9}});
  launches.add({{kDuration, 100}});
  launches.add({{"dram__bytes.sum.per_second", 2e9}, {kDuration, 100}});
  derive_quantities(launches.imported);
  EXPECT_EQ(launches.value(0, "dram__bytes.sum"), 100);
  EXPECT_EQ(launches.value(1, "dram__bytes.sum"), -1);
  EXPECT_EQ(launches.value(2, "dram__bytes.sum"), -1);
  EXPECT_EQ(launches.value(3, "dram__bytes.sum"), 200);
  EXPECT_EQ(launches.imported.metrics.size(), 3u);
}

}  // namespace
}  // namespace gable
