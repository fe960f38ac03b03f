// SPDX-License-Identifier: Apache-2.0
// What recorded steps say of the report's rows. The graph itself is tested in step_graph.
#include "analysis/builder/step_answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "analysis/builder/layer_rows.h"
#include "tests/unit/analysis/profile_fixture.h"
#include "tools/advice/advice.h"
#include "tools/show/table.h"

namespace gable::tests {
namespace {

constexpr std::uint64_t kUs = 1000;
constexpr std::uint32_t kFirst = 0, kProduct = 1, kReduce = 2;

// A kernel of 0.1 ms, then a matrix product of 1.0 ms, and beside it an allreduce that the next
// step waits for. The host is far ahead.
class StepAnswers : public ProfileTest {
 protected:
  std::uint64_t first_us = 100, product_us = 1000, reduce_us = 900;
  LaunchKey first = key(layer({"net", "in"}), "first"), product = key(layer({"net", "mm"}), "gemm"),
            reduce = key(layer({"net", "ddp"}), "ncclDevKernel_AllReduce"),
            copied = key(layer({"net", "in"}), "");
  std::uint64_t call_us = 3;  // of the host
  std::uint64_t idle_us = 0;  // in which nothing of what the step does runs
  bool unexplained = false;   // the calls do not say why the kernel after idle_us waits

  [[nodiscard]] std::uint64_t step_us() const {
    return first_us + std::max(product_us, reduce_us) + idle_us;
  }

  // Half of the product's roof, a tenth of the allreduce's; nothing is known of the first kernel.
  void counted() {
    profile.add_device(a100());
    profile.set_metrics(kHw1, kHwMetrics);
    profile.set_metrics(kFlops, kFlopsMetrics);
    const double sectors = 0.1 * 900e-6 * 1555.2e9 / 32;
    begin(1, kHw1);
    sample(kHw1, product, {0, 0, 1e6});
    sample(kHw1, reduce, {sectors, 0, 9e5});
    end(kHw1);
    begin(2, kFlops);
    sample(kFlops, product, {0, 0, 0.5 * 1e-3 * 19.49e12 / 2});
    sample(kFlops, reduce, {0, 0, 0});
    end(kFlops);
  }

  void timed_steps() {
    for (WindowId id = 3; id < 6; ++id) {
      const std::uint64_t at = id * step_us() * kUs;
      profile.count_step(1);
      begin(id, kTime);
      timed(first, at, at + first_us * kUs);
      timed(product, at + first_us * kUs, at + (first_us + product_us) * kUs);
      timed(reduce, at + first_us * kUs, at + (first_us + reduce_us) * kUs);
      end(kTime, true, at, at + step_us() * kUs);
    }
  }

  [[nodiscard]] StepRecord recorded(std::uint32_t steps = 4) const {
    StepRecord record;
    record.work = {{first}, {product}, {reduce}};
    RecordedSteps& to = record.steps;
    to.streams = {{10, 1, false, true}, {11, 1, false, true}};
    std::uint32_t correlation = 0;
    std::uint64_t now = kUs;
    const auto call = [&](RecordedCallKind kind, std::uint64_t stream, std::uint64_t event = 0) {
      RecordedCall& made = to.calls.emplace_back();
      made.enter_ns = now;
      made.exit_ns = now + call_us * kUs;
      made.stream = stream;
      made.event = event;
      made.context = 1;
      made.kind = kind;
      now += (call_us + 1) * kUs;
    };
    const auto launch = [&](std::uint64_t stream, std::uint32_t key, std::uint64_t start_us,
                            std::uint64_t length_us) {
      call(RecordedCallKind::launch, stream);
      to.calls.back().correlation = ++correlation;
      RecordedOperation& made = to.operations.emplace_back();
      made.start_ns = start_us * kUs;
      made.end_ns = (start_us + length_us) * kUs;
      made.correlation = correlation;
      made.key = key;
      if (key == kReduce) made.kind = OperationKind::collective;
    };
    for (std::uint32_t step = 0; step < steps; ++step) {
      const std::uint64_t at = 500 + step * step_us();
      to.borders.push_back(static_cast<std::uint32_t>(to.calls.size()));
      launch(10, kFirst, at, first_us);
      call(RecordedCallKind::event_record, 10, 1);
      call(RecordedCallKind::stream_wait, 11, 1);
      launch(11, kReduce, at + first_us, reduce_us);
      launch(10, kProduct, at + first_us, product_us);
      call(RecordedCallKind::event_record, 11, 2);
      if (!unexplained) call(RecordedCallKind::stream_wait, 10, 2);
    }
    to.borders.push_back(static_cast<std::uint32_t>(to.calls.size()));
    return record;
  }

  static void expect_saving(const std::optional<StepSaving>& saving, double low, double high) {
    ASSERT_TRUE(saving.has_value());
    EXPECT_NEAR(saving->low_ns, low, 2);
    EXPECT_NEAR(saving->high_ns, high, 2);
  }
};

TEST_F(StepAnswers, AnAllreduceThatIsHiddenSavesNothing) {
  counted();
  timed_steps();
  profile.add(recorded());
  const Report made = report();
  const KernelRow& hidden = kernel_named(made, "ncclDevKernel_AllReduce");
  ASSERT_TRUE(hidden.saving_ns.has_value());
  EXPECT_NEAR(*hidden.saving_ns, 810e3, 100);  // of kernel time
  expect_saving(hidden.step_saving, 0, 0);
  EXPECT_EQ(hidden.path_ns, 0);
  // The product at its roof takes 0.5 ms, and then the allreduce is the limit, if other ranks
  // follow.
  const KernelRow& gemm = kernel_named(made, "gemm");
  expect_saving(gemm.step_saving, 0, 100e3);
  EXPECT_EQ(gemm.path_ns, 1e6);
  const KernelRow& unknown = kernel_named(made, "first");
  EXPECT_FALSE(unknown.step_saving.has_value());
  EXPECT_EQ(unknown.path_ns, 100e3);

  const LayerRow& root = layer_at(made, {});
  EXPECT_EQ(root.path_ns, 1.1e6);
  ASSERT_TRUE(root.step_saving.has_value());
  EXPECT_NEAR(root.step_saving->high_ns, 500e3, 100);
  EXPECT_FALSE(root.step_saving_self.has_value());  // it launches nothing itself
  const LayerRow& mm = layer_at(made, {"net", "mm"});
  expect_saving(mm.step_saving, 0, 100e3);
  expect_saving(mm.step_saving_self, 0, 100e3);
  EXPECT_FALSE(layer_at(made, {"net", "in"}).step_saving.has_value());
  EXPECT_EQ(layer_at(made, {"net", "in"}).path_ns, 100e3);

  ASSERT_TRUE(made.step.critical_path.has_value());
  EXPECT_EQ(made.step.critical_path->kernels_ns, 1.1e6);
  EXPECT_EQ(made.step.critical_path->communication_ns, 0);
  EXPECT_EQ(made.step.critical_path->unexplained_ns, 0);
  ASSERT_TRUE(made.step.exposed.has_value());
  EXPECT_EQ(made.step.exposed->compute_ns, 1.1e6);
  EXPECT_EQ(made.step.exposed->communication_ns, 0);
  EXPECT_EQ(made.step.exposed->without.communication.high_ns, 0);
  ASSERT_TRUE(made.step.graph.has_value());
  EXPECT_EQ(made.step.graph->steps, 1u);
  EXPECT_EQ(made.step.graph->wall_ns, 1.1e6);
  EXPECT_EQ(made.step.graph->explained, 1);
  EXPECT_EQ(made.step.graph->replay_error, 0);
  EXPECT_EQ(made.step.graph->violated_edges, 0u);
  EXPECT_NEAR(made.step.graph->overlapped, 1.8 / 2.0, 1e-12);
}

// The same in the table: the hidden allreduce, of which 810 us of kernel time could go, is last.
TEST_F(StepAnswers, TheTableShowsWhatAStepWouldBeShorter) {
  counted();
  timed_steps();
  profile.add(recorded());
  const std::string table = render_table({report()}, {});
  EXPECT_NE(table.find("Critical path: kernels 100 %\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("Not hidden"), std::string::npos) << table;
  EXPECT_NE(table.find("Savings replayed from 1 recorded step, 100 % explained, replay error 0 %, "
                       "90.0 % of kernels' time"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("largest saving first; saving: how much shorter a step would be:"),
            std::string::npos)
      << table;
  const auto mm = table.find("net/mm "), ddp = table.find("net/ddp ");
  ASSERT_NE(ddp, std::string::npos) << table;
  EXPECT_LT(mm, ddp) << table;
  EXPECT_NE(table.substr(mm, table.find('\n', mm) - mm).find(" 0-100 us"), std::string::npos)
      << table;
  EXPECT_EQ(table.substr(ddp, table.find('\n', ddp) - ddp).find("us"), std::string::npos) << table;
  // Without any compute the allreduce would take 0.9 of the 1.1 ms.
  for (const Advice& each : advise(report())) {
    EXPECT_NE(each.id, "communication") << each.trigger;
    EXPECT_LE(each.saving_ns.value_or(0), 200e3) << each.id;
  }
}

TEST_F(StepAnswers, WhatNothingHidesIsSaidAndAdvised) {
  reduce_us = 1400;
  counted();
  timed_steps();
  profile.add(recorded());
  const Report made = report();
  const std::string table = render_table({made}, {});
  EXPECT_NE(table.find("Critical path: communication 93.3 %, kernels 6.67 %\n"), std::string::npos)
      << table;
  EXPECT_NE(
      table.find("Not hidden: communication 400 us (without it a step would be 400 us shorter)\n"),
      std::string::npos)
      << table;
  const std::vector<Advice> advice = advise(made);
  const auto found = std::find_if(advice.begin(), advice.end(),
                                  [](const Advice& each) { return each.id == "communication"; });
  ASSERT_NE(found, advice.end());
  EXPECT_EQ(found->saving_ns, 400e3);
  // Whatever would be done to the product, which is off the critical path, gains nothing.
  for (const Advice& each : advice) {
    if (each.id == "communication" || !each.saving_ns) continue;
    EXPECT_TRUE(std::none_of(each.kernels.begin(), each.kernels.end(), [](const AdvicePlace& at) {
      return at.name == "gemm" && at.saving_ns > 0;
    })) << each.id;
  }
}

TEST_F(StepAnswers, AnAllreduceThatSticksOutIsExposed) {
  reduce_us = 1400;
  counted();
  timed_steps();
  profile.add(recorded());
  const Report made = report();
  EXPECT_EQ(made.step.wall_mean_ns, 1.5e6);
  EXPECT_EQ(made.step.exposed->communication_ns, 400e3);
  EXPECT_EQ(made.step.exposed->without.communication.low_ns, 400e3);
  EXPECT_EQ(made.step.critical_path->communication_ns, 1.4e6);
  EXPECT_EQ(kernel_named(made, "gemm").path_ns, 0);
  expect_saving(kernel_named(made, "gemm").step_saving, 0, 0);
  // Its roof allows it 90 us; 1.0 ms of it lies beside the product, which may have slowed it.
  expect_saving(kernel_named(made, "ncclDevKernel_AllReduce").step_saving,
                400e3 * (1 - 90.0 / 1400), 400e3);
}

// The records of two places count by their mean.
TEST_F(StepAnswers, SeveralRecordsCountByTheirMean) {
  counted();
  timed_steps();
  profile.add(recorded());
  reduce_us = 1400;
  profile.add(recorded());
  const Report made = report();
  EXPECT_EQ(made.step.graph->steps, 2u);
  EXPECT_EQ(made.step.graph->wall_ns, 1.3e6);
  EXPECT_EQ(made.step.exposed->communication_ns, 200e3);
  EXPECT_EQ(kernel_named(made, "gemm").path_ns, 500e3);
}

TEST_F(StepAnswers, WithoutRecordsNothingIsKnown) {
  counted();
  timed_steps();
  const Report made = report();
  EXPECT_FALSE(made.step.graph.has_value());
  EXPECT_FALSE(made.step.exposed.has_value());
  EXPECT_FALSE(made.step.critical_path.has_value());
  EXPECT_FALSE(kernel_named(made, "gemm").step_saving.has_value());
  EXPECT_FALSE(kernel_named(made, "gemm").path_ns.has_value());
  EXPECT_FALSE(layer_at(made, {}).step_saving.has_value());
}

// Two steps: the first has no step before it, the second none after it.
TEST_F(StepAnswers, AStepWithoutNeighboursTellsNothing) {
  counted();
  timed_steps();
  profile.add(recorded(2));
  EXPECT_FALSE(report().step.graph.has_value());
}

// The program does not say what 0.4 ms of each step wait for.
TEST_F(StepAnswers, WhereTheGraphExplainsTooLittleNoSavingIsGiven) {
  counted();
  idle_us = 400;
  timed_steps();
  unexplained = true;
  StepRecord record = recorded();
  record.steps.calls.front().enter_ns = 1;  // one kernel that starts at once shows the gap as rare
  profile.add(std::move(record));
  const Report made = report();
  ASSERT_TRUE(made.step.graph.has_value());
  EXPECT_LT(made.step.graph->explained, kEnoughExplained);
  EXPECT_FALSE(kernel_named(made, "gemm").step_saving.has_value());
  EXPECT_FALSE(made.step.exposed.has_value());
  EXPECT_TRUE(has_note(made, "of their time, less than 90.0 %: savings are of kernels' time"));
  EXPECT_GT(made.step.critical_path->unexplained_ns, 0);
}

TEST_F(StepAnswers, WaitsBetweenStreamsThatAreNotKnownLeaveTheLowEndOpen) {
  counted();
  reduce_us = 1400;
  timed_steps();
  StepRecord record = recorded();
  record.stream_waits_known = false;
  profile.add(std::move(record));
  const Report made = report();
  expect_saving(kernel_named(made, "ncclDevKernel_AllReduce").step_saving, 0, 400e3);
  EXPECT_EQ(made.step.exposed->without.communication.low_ns, 0);
  EXPECT_EQ(made.step.exposed->without.communication.high_ns, 400e3);
  EXPECT_TRUE(has_note(made, "Which stream waited for which is not recorded"));
}

// Launches take long while nothing of what was launched before them has begun: how many wait in
// the launch queue is not known, and so not what the host would do if it had room.
TEST_F(StepAnswers, AQueueThatIsAlwaysFullLeavesTheStepUnknown) {
  counted();
  timed_steps();
  call_us = 30;
  profile.add(recorded());
  const Report made = report();
  EXPECT_FALSE(made.step.graph.has_value());
  EXPECT_TRUE(has_note(made, "ahead of the GPU by more launches than three of its steps have"));
}

// The parts of a report that answers are added to.
struct Parts {
  explicit Parts(const Profile::State& state)
      : unit(unit_scale(state)), kernels(kernel_rows(state, unit)) {
    made.run.unit = Unit::step;
    rows = layer_rows(state, unit, roofline, kernels);
    made.layers = std::move(rows.rows);
    for (KernelOfLayer& kernel : kernels) made.kernels.push_back(kernel.row);
  }
  LayerRow& layer(const std::string& name) {
    return *std::find_if(made.layers.begin(), made.layers.end(), [&](const LayerRow& row) {
      return row.path.size() == 2 && row.path[1] == name;
    });
  }
  const UnitScale unit;
  const Roofline roofline{{{0, CeilingKind::compute, "fp32", 1e13, "theoretical"},
                           {0, CeilingKind::memory, "dram", 1e12, "theoretical"}}};
  std::vector<KernelOfLayer> kernels;
  LayerRows rows;
  Report made;
};

// As in an imported trace: the formulas of a layer's operators stand in for counters.
TEST_F(StepAnswers, AFormulaIsOfTheLayerAndNotOfItsKernels) {
  timed_steps();
  profile.add(recorded());
  Parts parts(profile.state());
  LayerRow& mm = parts.layer("mm");
  mm.model.emplace().self = {0.95e-3 * 1e13, 32, {{"fp32", 0.95e-3 * 1e13}}};
  fill_step_answers(profile.state(), parts.kernels, parts.rows.ids, parts.roofline, parts.made);
  // 50 us of the product's 1.0 ms, all of it beside the allreduce or as others let it.
  expect_saving(mm.step_saving_self, 0, 50e3);
  expect_saving(mm.step_saving, 0, 50e3);
  for (const KernelRow& kernel : parts.made.kernels) {
    EXPECT_FALSE(kernel.step_saving.has_value()) << kernel.name;
    EXPECT_TRUE(kernel.path_ns.has_value()) << kernel.name;
  }
}

// A layer whose launches were counted together: its row has the roof, its kernels have none.
TEST_F(StepAnswers, WhatWasCountedTogetherIsOfTheLayer) {
  timed_steps();
  profile.add(recorded());
  Parts parts(profile.state());
  LayerRow& mm = parts.layer("mm");
  KernelRow& range = parts.made.kernels.emplace_back();
  range.layer = mm.id;
  range.ranges = 3;
  range.roof.fraction = 0.95;
  fill_step_answers(profile.state(), parts.kernels, parts.rows.ids, parts.roofline, parts.made);
  expect_saving(mm.step_saving_self, 0, 50e3);
  EXPECT_FALSE(parts.layer("ddp").step_saving_self.has_value());
  for (const KernelRow& kernel : parts.made.kernels) EXPECT_FALSE(kernel.step_saving.has_value());
}

TEST_F(StepAnswers, WhatThereIsNoTimeForIsUnknown) {
  counted();
  timed_steps();
  profile.add(recorded());
  Parts parts(profile.state());
  Report& made = parts.made;
  for (KernelRow& kernel : made.kernels) kernel.roof.fraction = 0.5;
  const auto notes =
      fill_step_answers(profile.state(), parts.kernels, parts.rows.ids, parts.roofline, made, 0);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front().rfind("The saving in step time was worked out for the 0", 0), 0u);
  for (const KernelRow& kernel : made.kernels) EXPECT_FALSE(kernel.step_saving.has_value());
}

// Each step launches a kernel of 10 us, waits for it, and does something else for 196 us.
RecordedSteps waiting_steps() {
  RecordedSteps steps;
  for (std::uint32_t step = 0; step < 4; ++step) {
    const std::uint64_t at = (1 + 217 * step) * kUs;
    steps.borders.push_back(static_cast<std::uint32_t>(steps.calls.size()));
    RecordedCall call;
    call.context = 1;
    call.stream = 10;
    call.enter_ns = at;
    call.exit_ns = at + 3 * kUs;
    call.correlation = step + 1;
    call.kind = RecordedCallKind::launch;
    steps.calls.push_back(call);
    call.enter_ns = at + 4 * kUs;
    call.exit_ns = at + 21 * kUs;
    call.correlation = 0;
    call.kind = RecordedCallKind::stream_synchronize;
    steps.calls.push_back(call);
    RecordedOperation kernel;
    kernel.start_ns = at + 10 * kUs;
    kernel.end_ns = at + 20 * kUs;
    kernel.correlation = step + 1;
    steps.operations.push_back(kernel);
  }
  steps.borders.push_back(static_cast<std::uint32_t>(steps.calls.size()));
  return steps;
}

TEST_F(StepAnswers, FetchingInputIsAPartOfWhatTheHostDoes) {
  counted();
  timed_steps();
  StepRecord record;
  record.work = {{first}};
  record.steps = waiting_steps();
  profile.add(StepRecord(record));
  EXPECT_EQ(report().step.critical_path->host_ns, 197e3);
  EXPECT_EQ(report().step.critical_path->input_ns, std::nullopt);
  // All of it but the launch itself, of which 1 us lies before the wait; and the host takes so much
  // longer than the kernel that waiting costs little more than the kernel.
  EXPECT_EQ(report().step.critical_path->waits_ns, 197e3);
  EXPECT_GT(report().step.exposed->without.waits->high_ns, 10e3);
  EXPECT_LT(report().step.exposed->without.waits->high_ns, 21e3);
  EXPECT_FALSE(report().step.exposed->without.input.has_value());

  // Once 100 us while nothing else happens, once while the host waits for its kernel.
  for (const RecordedCall& call : waiting_steps().calls) {
    if (call.kind == RecordedCallKind::launch)
      record.steps.inputs.push_back({call.enter_ns + 50 * kUs, call.enter_ns + 150 * kUs, 0});
    else
      record.steps.inputs.push_back({call.enter_ns, call.enter_ns + 2 * kUs, 0});
  }
  profile.add(std::move(record));
  const Report made = report();
  EXPECT_EQ(made.step.critical_path->host_ns, 197e3);
  EXPECT_EQ(made.step.critical_path->input_ns, 50e3);  // the mean of both records
  expect_saving(made.step.exposed->without.input, 50e3, 50e3);
  expect_saving(made.step.exposed->without.host, 196e3, 196e3);
}

// Three kernels, five layers with what is below them and three with what is their own: each is
// either worked out or left out, and what one needs is taken from what there is.
TEST_F(StepAnswers, WhatWasLeftOutIsCounted) {
  counted();
  timed_steps();
  profile.add(recorded());
  const auto left_out = [&](std::uint64_t most_edges) {
    Parts parts(profile.state());
    for (KernelRow& kernel : parts.made.kernels) kernel.roof.fraction = 0.5;
    const auto notes = fill_step_answers(profile.state(), parts.kernels, parts.rows.ids,
                                         parts.roofline, parts.made, most_edges);
    if (notes.empty()) return 0ul;
    const auto number = [&](const char* before) {
      return std::stoul(notes.front().substr(notes.front().find(before) + strlen(before)));
    };
    EXPECT_EQ(number("worked out for the ") + number("; for "), 11u) << notes.front();
    std::size_t unknown = 0;
    for (const KernelRow& kernel : parts.made.kernels) unknown += kernel.step_saving ? 0 : 1;
    for (const LayerRow& row : parts.made.layers)
      unknown += (row.step_saving ? 0 : 1) + (row.step_saving_self ? 0 : 1);
    EXPECT_EQ(unknown, number("; for ") + 2);  // the root and "net" have no kernels of their own
    return number("; for ");
  };
  EXPECT_EQ(left_out(0), 11u);
  std::uint64_t one = 1;
  while (left_out(one) == 11) ++one;
  EXPECT_GT(left_out(one), 0u);
  EXPECT_LT(left_out(2 * one), left_out(one));
  EXPECT_EQ(left_out(kMostEdgesReplayed), 0u);
}

}  // namespace
}  // namespace gable::tests
