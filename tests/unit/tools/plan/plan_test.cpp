// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

// 1 TFLOP/s and 100 GB/s: 10 FLOP/byte.
GpuSpec made_up_gpu() {
  GpuSpec gpu;
  gpu.name = "Made-up";
  gpu.fp32 = 1;
  gpu.dram = 100;
  gpu.memory_gb = 1;
  return gpu;
}

PlanOperator made(std::size_t layer, Maybe flops, Maybe read, Maybe written, Maybe fused,
                  double count = 1) {
  PlanOperator out;
  out.layer = layer;
  out.direction = Direction::forward;
  out.name = "op";
  out.type = "fp32";
  out.count = count;
  out.flops = flops;
  out.read_bytes = read;
  out.written_bytes = written;
  out.fused_bytes = fused;
  return out;
}

// A product of 1e9 FLOP (1 ms) that moves 20 MB (200 us), three additions that move 100 MB (1 ms)
// each, and something of which nothing is known.
PlanRun made_run(std::uint64_t batch = 1) {
  const double times = static_cast<double>(batch);
  PlanRun run;
  run.batch = batch;
  run.input_bytes = 1e6 * times;
  run.peak_bytes = 9e6 * times;
  run.operators = {made(0, 1e9 * times, 10e6 * times, 10e6 * times, 20e6 * times),
                   made(1, 0, 80e6, 20e6, 0, 3),
                   made(1, std::nullopt, std::nullopt, std::nullopt, std::nullopt)};
  return run;
}

Plan made_plan() {
  Plan plan;
  plan.name = "Net";
  plan.parameter_bytes = 50e6;
  plan.layers = {{{"Net", "a"}, "Linear", 10}, {{"Net", "b"}, "Add", 0}};
  plan.runs = {made_run(1), made_run(2)};
  return plan;
}

TEST(PlanTime, IsTheSumOfWhatHoldsEachOperator) {
  const PlanRun run = made_run();
  const PlanTime time = time_of(operators_of(run), made_up_gpu(), {}, Fusion::none);
  EXPECT_DOUBLE_EQ(time.ns.value(), 1e6 + 3e6);
  EXPECT_DOUBLE_EQ(time.compute_ns, 1e6);
  EXPECT_DOUBLE_EQ(time.memory_ns, 2e5 + 3e6);
  EXPECT_DOUBLE_EQ(time.launches, 5);
  EXPECT_EQ(time.limit(), PlanLimit::memory);
}

TEST(PlanTime, FusedOnlyProductsMoveAndAreLaunched) {
  const PlanRun run = made_run();
  const PlanTime time = time_of(operators_of(run), made_up_gpu(), {}, Fusion::full);
  EXPECT_DOUBLE_EQ(time.ns.value(), 1e6);
  EXPECT_EQ(time.limit(), PlanLimit::compute);
  EXPECT_DOUBLE_EQ(time.launches, 2);  // what is unknown may be a product
}

TEST(PlanTime, NoOperatorIsShorterThanALaunch) {
  PlanOptions options;
  options.launch_ns = 5e6;
  const PlanRun run = made_run();
  const PlanTime time = time_of(operators_of(run), made_up_gpu(), options, Fusion::none);
  EXPECT_DOUBLE_EQ(time.ns.value(), 5 * 5e6);
  EXPECT_EQ(time.limit(), PlanLimit::launch);
  EXPECT_DOUBLE_EQ(*time_of(operators_of(run), made_up_gpu(), options, Fusion::full).ns, 2 * 5e6);
}

TEST(PlanTime, SharesOfTheRoofs) {
  PlanOptions options;
  options.compute = 0.5;
  options.memory = 0.25;
  const PlanRun run = made_run();
  const PlanTime time = time_of(operators_of(run), made_up_gpu(), options, Fusion::none);
  EXPECT_DOUBLE_EQ(time.compute_ns, 2e6);
  EXPECT_DOUBLE_EQ(time.memory_ns, 4 * 3.2e6);
  EXPECT_DOUBLE_EQ(time.ns.value(), 2e6 + 4 * 3e6);
}

TEST(PlanTime, WithoutAPeakItIsUnknown) {
  PlanRun run = made_run();
  run.operators[0].type = "bf16";
  EXPECT_FALSE(time_of(operators_of(run), made_up_gpu(), {}, Fusion::none).ns);
  run.operators[1].type = "int64";  // has no FLOPs, and needs no peak
  run.operators.erase(run.operators.begin());
  EXPECT_TRUE(time_of(operators_of(run), made_up_gpu(), {}, Fusion::none).ns);
}

TEST(PlanTime, OfUnknownWorkIsNotNothing) {
  PlanRun run = made_run();
  run.operators.erase(run.operators.begin(), run.operators.end() - 1);
  for (const Fusion fusion : {Fusion::none, Fusion::full})
    EXPECT_FALSE(time_of(operators_of(run), made_up_gpu(), {}, fusion).ns);
  // Its bytes are a lower bound, and nobody knows what holds it.
  run.operators[0].read_bytes = run.operators[0].written_bytes = 5e6;
  const PlanTime time = time_of(operators_of(run), made_up_gpu(), {}, Fusion::none);
  EXPECT_GT(time.ns.value_or(0), 0);
  EXPECT_EQ(time.limit(), PlanLimit::unknown);
  run.operators = {made(0, 0, 0, 0, 0)};  // nothing to do takes no time
  EXPECT_EQ(time_of(operators_of(run), made_up_gpu(), {}, Fusion::none).ns, 0);
}

TEST(PlanWork, UnknownOperatorsAreCounted) {
  PlanRun run = made_run();
  run.operators.push_back(made(1, std::nullopt, 30.0, 10.0, 40.0));
  const PlanWork work = work_of(operators_of(run));
  EXPECT_DOUBLE_EQ(work.all_flops(), 1e9);
  EXPECT_DOUBLE_EQ(work.bytes, 320e6 + 40);
  EXPECT_DOUBLE_EQ(work.fused_bytes, 20e6 + 40);
  EXPECT_DOUBLE_EQ(work.operators, 6);
  EXPECT_DOUBLE_EQ(work.without_flops, 2);
  EXPECT_DOUBLE_EQ(work.without_bytes, 1);
  EXPECT_DOUBLE_EQ(work.unknown, 2);
  EXPECT_DOUBLE_EQ(work.unknown_bytes, 40);
}

TEST(PlanMemory, IsTheModelAndWhatTheRunHolds) {
  Plan plan = made_plan();
  plan.buffer_bytes = 1e6;
  EXPECT_DOUBLE_EQ(memory_of(plan, plan.runs[0]), 61e6);
  plan.runs[0].kv_bytes = 4e6;
  EXPECT_DOUBLE_EQ(memory_of(plan, plan.runs[0]), 65e6);
  plan.training = PlanTraining{"adamw", 10, 50e6, 100e6};  // gradients exist in the run
  EXPECT_DOUBLE_EQ(memory_of(plan, plan.runs[0]), 165e6);
}

TEST(PlanBatches, FollowTheLineThroughWhatWasRun) {
  const Plan plan = made_plan();
  // compute: batch x 1 ms; memory: batch x 0.2 ms + 3 ms
  const PlanBatches batches = batches_of(plan, made_up_gpu(), {});
  EXPECT_EQ(batches.compute_unfused, 4U);
  EXPECT_EQ(batches.compute_fused, 1U);
  // 50 MB + batch x 10 MB
  EXPECT_EQ(batches.most_that_fits, 95U);
}

TEST(PlanBatches, OneBatchTellsNothing) {
  Plan plan = made_plan();
  plan.runs.pop_back();
  const PlanBatches batches = batches_of(plan, made_up_gpu(), {});
  EXPECT_FALSE(batches.compute_unfused);
  EXPECT_FALSE(batches.most_that_fits);
}

TEST(PlanBatches, NoneFits) {
  Plan plan = made_plan();
  plan.parameter_bytes = 2e9;
  EXPECT_EQ(batches_of(plan, made_up_gpu(), {}).most_that_fits, 0U);
  EXPECT_FALSE(row_of(plan, plan.runs[0], made_up_gpu(), {}).fits);
}

TEST(PlanBatches, MemoryThatDoesNotGrowHasNoEnd) {
  Plan plan = made_plan();
  plan.runs[1].input_bytes = plan.runs[0].input_bytes;
  plan.runs[1].peak_bytes = plan.runs[0].peak_bytes;
  EXPECT_FALSE(batches_of(plan, made_up_gpu(), {}).most_that_fits);
}

TEST(PlanRows, RatesAndOverhead) {
  Plan plan = made_plan();
  plan.runs[1].tokens_per_sample = 8;
  PlanOptions options;
  options.overhead_ns = 1e6;
  const PlanRow row = row_of(plan, plan.runs[1], made_up_gpu(), options);
  EXPECT_DOUBLE_EQ(row.fused.ns.value(), 2e6 + 1e6);
  EXPECT_DOUBLE_EQ(samples_per_s(row, Fusion::full).value(), 2 / 3e-3);
  EXPECT_DOUBLE_EQ(tokens_per_s(row, Fusion::full).value(), 8 * 2 / 3e-3);
  EXPECT_FALSE(tokens_per_s(row_of(plan, plan.runs[0], made_up_gpu(), options), Fusion::full));
}

TEST(PlanGroups, EqualLayersAreOne) {
  Plan plan;
  plan.layers = {{{"Net", "blocks", "0", "mlp", "2"}, "Linear", 10},
                 {{"Net", "blocks", "1", "mlp", "2"}, "Linear", 10},
                 {{"Net", "blocks", "2", "mlp", "2"}, "Linear", 20},
                 {{"Net", "block_7"}, "Conv2d", 1},
                 {{"Net", "block_8"}, "Conv2d", 1}};
  PlanRun run;
  for (std::size_t i = 0; i < 5; ++i) run.operators.push_back(made(i, 1e3, 1, 1, 2));
  run.operators.push_back(made(0, 2e3, 1, 1, 2));
  run.operators.back().direction = Direction::backward;
  const std::vector<PlanGroup> groups = groups_of(plan, run);
  std::vector<std::string> seen;
  for (const PlanGroup& group : groups)
    seen.push_back(group.name() + " " + to_string(group.direction) + " " +
                   std::to_string(static_cast<int>(group.layers)) + " " +
                   std::to_string(static_cast<int>(group.parameters)));
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "Net/blocks/*/mlp/2 forward 2 20", "Net/blocks/0/mlp/2 backward 1 10",
                      "Net/blocks/2/mlp/2 forward 1 20", "Net/block_* forward 2 2"}));
}

}  // namespace
}  // namespace gable
