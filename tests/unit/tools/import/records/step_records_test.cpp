// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/step_records.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

TEST(StepRecords, WorkThatDiffersHasAnotherHash) {
  ImportedKernel kernel;
  kernel.function = 1;
  kernel.shape = 2;
  kernel.layer = 3;
  kernel.device = 4;
  std::set<std::uint64_t> hashes = {work_hash(kernel)};
  EXPECT_EQ(work_hash(kernel), *hashes.begin());
  kernel.start_ns = 7;
  EXPECT_EQ(work_hash(kernel), *hashes.begin());
  const auto with = [&](auto ImportedKernel::*part) {
    ImportedKernel other = kernel;
    other.*part = 9;
    hashes.insert(work_hash(other));
  };
  with(&ImportedKernel::function);
  with(&ImportedKernel::shape);
  with(&ImportedKernel::layer);
  with(&ImportedKernel::device);
  EXPECT_EQ(hashes.size(), 5u);
}

TEST(StepRecords, AWindowIsThreeStepsAndTheirEnd) {
  const std::vector<ImportedStep> steps = {{10, 19}, {20, 29}, {30, 39}, {40, 49}};
  const auto all = record_windows({1, 2, 2, 2}, steps);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].starts, (std::vector<std::uint64_t>{20, 30, 40, 49}));
  EXPECT_FALSE(all[0].holds(19));
  EXPECT_TRUE(all[0].holds(20));
  EXPECT_TRUE(all[0].holds(48));
  EXPECT_FALSE(all[0].holds(49));
  const auto three = record_windows({2, 2, 2}, {{10, 19}, {20, 29}, {30, 39}});
  ASSERT_EQ(three.size(), 1u);
  EXPECT_EQ(three[0].starts, (std::vector<std::uint64_t>{10, 20, 30, 39}));
  const auto first = record_windows({2, 2, 2, 3}, steps);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].starts, (std::vector<std::uint64_t>{10, 20, 30, 40}));
  EXPECT_TRUE(record_windows({2, 2}, {{10, 19}, {20, 29}}).empty());
}

TracedCall traced(std::uint64_t start, std::uint64_t duration, std::uint64_t correlation) {
  TracedCall call;
  call.start_ns = start;
  call.duration_ns = duration;
  call.correlation = correlation;
  call.thread = 1;
  call.what = CallName::launch;
  return call;
}

TEST(StepRecords, OperationsOfCallsAreRecorded) {
  Imported imported;
  imported.shapes.intern({});
  TracedSteps steps;
  steps.calls = {traced(10, 5, 1), traced(20, 5, 2), traced(30, 5, 3), traced(40, 5, 4),
                 traced(50, 5, 5), traced(60, 5, 6), traced(70, 5, 0)};
  steps.starts = {0, 100};
  StepRecordMaker maker(imported, steps);
  EXPECT_TRUE(maker.wants(1));
  EXPECT_TRUE(maker.wants(6));
  EXPECT_FALSE(maker.wants(7));
  EXPECT_FALSE(maker.wants(0));
  ImportedKernel kernel;
  kernel.function = imported.functions.intern("gemm");
  kernel.layer = 3;
  kernel.device = 0;
  const auto origin = [](std::uint64_t correlation) {
    WorkOrigin from;
    from.correlation = correlation;
    from.stream = 7;
    from.context = 1;
    return from;
  };
  kernel.start_ns = 110;
  kernel.end_ns = 115;
  maker.add(kernel, origin(1));
  kernel.start_ns = 120;
  kernel.end_ns = 126;
  maker.add(kernel, origin(2));
  ImportedKernel exchange = kernel;
  exchange.function = imported.functions.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  exchange.start_ns = 130;
  exchange.end_ns = 137;
  maker.add(exchange, origin(3));
  ImportedCopy copy;
  copy.layer = 4;
  copy.record.kind = CopyKind::device_to_host;
  copy.record.host = HostMemory::pageable;
  copy.record.bytes = 64;
  copy.record.start_ns = 140;
  copy.record.end_ns = 148;
  maker.add(copy, origin(4));
  copy.record.kind = CopyKind::memset;
  copy.record.host = HostMemory::pinned;
  copy.record.start_ns = 150;
  copy.record.end_ns = 159;
  maker.add(copy, origin(5));
  copy.record.bytes.reset();
  copy.record.start_ns = 160;
  copy.record.end_ns = 170;
  maker.add(copy, origin(6));
  maker.finish();
  ASSERT_EQ(imported.step_records.size(), 1u);
  EXPECT_TRUE(imported.notes.empty());
  const StepRecord& record = imported.step_records[0];
  const auto& made = record.steps.operations;
  ASSERT_EQ(made.size(), 6u);
  const std::uint64_t lasted[] = {5, 6, 7, 8, 9, 10};
  const std::uint32_t keys[] = {0, 0, 1, 2, 3, 4};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(made[i].end_ns - made[i].start_ns, lasted[i]) << i;
    EXPECT_EQ(made[i].key, keys[i]) << i;
    EXPECT_EQ(made[i].kind, i < 2    ? OperationKind::kernel
                            : i == 2 ? OperationKind::collective
                            : i == 3 ? OperationKind::copy
                                     : OperationKind::memset)
        << i;
    EXPECT_EQ(made[i].pageable, i == 3) << i;
    EXPECT_EQ(made[i].way, i == 3 ? CopyWay::device_to_host : CopyWay::none) << i;
  }
  ASSERT_EQ(record.work.size(), 5u);
  EXPECT_TRUE(record.work[0].kernel);
  EXPECT_EQ(record.work[0].key, launch_key(imported, kernel));
  EXPECT_TRUE(record.work[1].kernel);
  EXPECT_FALSE(record.work[2].kernel);
  EXPECT_EQ(record.work[2].key.layer, 4u);
}

TEST(StepRecords, TooManyCallsMakeNoRecord) {
  for (const std::size_t more : {0, 1}) {
    Imported imported;
    TracedSteps steps;
    steps.calls.assign(kMostTracedCalls + more, traced(10, 5, 1));
    steps.starts = {0, 100};
    StepRecordMaker maker(imported, steps);
    EXPECT_EQ(maker.wants(1), more == 0);
    if (more == 0) continue;
    maker.finish();
    EXPECT_TRUE(imported.step_records.empty());
    ASSERT_EQ(imported.notes.size(), 1u);
    EXPECT_NE(imported.notes[0].find("262144 calls"), std::string::npos);
  }
}

TEST(StepRecords, EarlyWorkIsTold) {
  EXPECT_TRUE(early_note(1, "kernel", "kernels", true).starts_with("1 kernel was "));
  EXPECT_TRUE(early_note(2, "kernel", "kernels", true).starts_with("2 kernels were "));
  const auto has = [](std::uint64_t count, bool steps, const char* piece) {
    return early_note(count, "kernel", "kernels", steps).find(piece) != std::string::npos;
  };
  EXPECT_TRUE(has(1, true, "and is left out"));
  EXPECT_TRUE(has(2, true, "and are left out"));
  EXPECT_TRUE(has(1, false, "and counts here"));
  EXPECT_TRUE(has(2, false, "and count here"));
}

TEST(StepRecords, DigitsOfANameAreOneMark) {
  EXPECT_EQ(name_without_digits(""), "");
  EXPECT_EQ(name_without_digits("7"), "#");
  EXPECT_EQ(name_without_digits("a1b09/:c"), "a#b#/:c");
  EXPECT_EQ(name_without_digits("10 9"), "# #");
}

TEST(StepRecords, RangesThatComeMostOftenAreNamed) {
  EXPECT_NE(ranges_to_take({}).find("none at all"), std::string::npos);
  EXPECT_TRUE(ranges_to_take({{"b", 1}}).ends_with("such as b."));
  EXPECT_TRUE(ranges_to_take({{"a", 1}, {"b", 3}, {"c", 3}}).ends_with("such as b, c, a."));
  EXPECT_TRUE(ranges_to_take({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}})
                  .ends_with("such as a, b, c, d, e, f."));
  EXPECT_TRUE(ranges_to_take({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}, {"g", 2}})
                  .ends_with("such as g, a, b, c, d, e and others."));
}

TEST(StepRecords, RangesThatTheUserNamedAreSteps) {
  StepRanges ranges("^epoch");
  const auto outer = [] { return Counts{{"a 1", 1}, {"a 2", 1}, {"b", 1}}; };
  try {
    (void)steps_of_ranges(ranges, outer, "dir/x", "^epoch");
    ADD_FAILURE() << "not refused";
  } catch (const WrongUse& problem) {
    const std::string said = problem.what();
    EXPECT_TRUE(said.starts_with("dir/x has no range")) << said;
    EXPECT_NE(said.find("^epoch"), std::string::npos);
    EXPECT_TRUE(said.ends_with("such as a #, b.")) << said;
  }
  ranges.add(1, 10, 20);
  ranges.add(1, 30, 40);
  const auto steps = steps_of_ranges(ranges, outer, "x", "^epoch");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].start_ns, 10u);
  EXPECT_EQ(steps[0].end_ns, 20u);
  EXPECT_EQ(steps[1].start_ns, 30u);
}

TEST(StepRecords, AStepLastsUntilBeforeItsEnd) {
  const std::vector<ImportedStep> steps = {{10, 20}, {30, 40}};
  for (const auto& [when, step] :
       {std::pair{9u, 0u}, std::pair{10u, 1u}, std::pair{19u, 1u}, std::pair{20u, 0u},
        std::pair{29u, 0u}, std::pair{30u, 2u}, std::pair{39u, 2u}, std::pair{40u, 0u}})
    EXPECT_EQ(step_at(steps, when), step) << when;
  EXPECT_EQ(step_at({}, 5), 0u);
}

RangeNest::Range range_of(RangeNest& nest, const char* name, std::uint64_t start,
                          std::uint64_t end) {
  RangeNest::Range range;
  range.start_ns = start;
  range.end_ns = end;
  range.thread = 1;
  range.name = nest.name(name);
  return range;
}

TEST(StepRecords, OuterNamesHaveAtMostOneRangeAround) {
  LayerTree layers;
  RangeNest nest(layers);
  nest.add(range_of(nest, "step", 0, 100));
  nest.add(range_of(nest, "layer", 10, 40));
  nest.add(range_of(nest, "inner", 20, 30));
  nest.add(range_of(nest, "layer", 50, 60));
  RangeNest::Range hidden = range_of(nest, "hidden", 70, 80);
  hidden.is_layer = false;
  nest.add(hidden);
  nest.nest();
  EXPECT_EQ(outer_names(nest), (Counts{{"step", 1}, {"layer", 2}}));
}

TEST(StepRecords, WaitsCountForTheOpenLayerOnce) {
  Imported imported;
  RangeNest nest(imported.layers);
  nest.add(range_of(nest, "outer", 0, 100));
  nest.add(range_of(nest, "inner", 40, 60));
  nest.nest();
  const LayerId outer = nest.layer(nest.at(1, 5)), inner = nest.layer(nest.at(1, 50));
  const auto wait = [](std::uint64_t start, std::uint64_t duration, std::uint32_t thread = 1) {
    TracedCall call;
    call.start_ns = start;
    call.duration_ns = duration;
    call.thread = thread;
    return call;
  };
  const auto step = [](std::uint64_t when) { return when < 45 ? 1u : 2u; };
  add_waits({wait(20, 10), wait(10, 5), wait(10, 20), wait(29, 1), wait(30, 3), wait(50, 7),
             wait(15, 4, 2)},
            nest, step, imported);
  const auto first = imported.spans.first();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->step, 1u);
  EXPECT_EQ(first->layer, 0u);  // of another thread
  EXPECT_EQ(first->wait_ns, 4u);
  const auto second = imported.spans.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->step, 1u);
  EXPECT_EQ(second->layer, outer);
  EXPECT_EQ(second->wait_ns, 23u);
  EXPECT_EQ(second->calls, 0u);
  EXPECT_EQ(second->cpu_ns, 0u);
  const auto third = imported.spans.next();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->step, 2u);
  EXPECT_EQ(third->layer, inner);
  EXPECT_EQ(third->wait_ns, 7u);
  EXPECT_FALSE(imported.spans.next());
}

}  // namespace
}  // namespace gable
