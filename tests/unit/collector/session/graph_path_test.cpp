// SPDX-License-Identifier: Apache-2.0
// A CUDA graph is counted when it is launched, as often as it is, and its kernels are of the layers
// in which they were captured.
#include "collector/session/graph_path.h"

#include <gtest/gtest.h>

#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

template <typename Handle>
Handle handle(std::uintptr_t id) {
  return reinterpret_cast<Handle>(id);
}

// Captures a graph of these kernels, each in a layer of its name, and makes it executable.
void capture(RunOnScript& run, std::uintptr_t graph, const std::vector<std::string>& kernels) {
  run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
  std::uintptr_t node = graph * 100;
  for (const auto& kernel : kernels) {
    run.push("in " + kernel);
    run.enter_launch(kernel);
    CUpti_GraphData made{};
    made.graph = handle<CUgraph>(graph);
    made.node = handle<CUgraphNode>(++node);
    made.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
    run.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &made);
    run.exit_launch();
    run.pop();
  }
  run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_API_EXIT);
  CUpti_GraphData exec{};
  exec.graph = handle<CUgraph>(graph);
  exec.graphExec = handle<CUgraphExec>(graph + 1);
  run.resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, &exec);
  run.resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &exec);
}

void launch(RunOnScript& run, std::uintptr_t graph) {
  cuGraphLaunch_params parameters{};
  parameters.hGraph = handle<CUgraphExec>(graph + 1);
  run.call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_ENTER, &parameters);
  run.call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_API_EXIT, &parameters);
}

const KernelRow* graph_row(const Report& report) {
  for (const auto& row : report.kernels)
    if (row.graph) return &row;
  return nullptr;
}

TEST(GraphPath, AGraphCountsAsOftenAsItIsLaunchedWithItsKernels) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 2");
  run.step({"gemm"});
  capture(run, 1, {"a", "b"});
  for (int i = 0; i < 3; ++i) {
    launch(run, 1);
    launch(run, 1);
    run.c.windows.step_point();
  }
  const auto report = run.report();
  const auto* row = graph_row(report);
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->nodes, 2);
}

TEST(GraphPath, AGraphOfWhichNothingIsKnownIsCountedAndNotGuessedAt) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 2");
  run.step({"gemm"});
  for (int i = 0; i < 3; ++i) {
    launch(run, 40);  // captured before Gable looked
    run.launch("gemm");
    run.c.windows.step_point();
  }
  const auto report = run.report();
  EXPECT_EQ(graph_row(report), nullptr);
  EXPECT_GT(report.run.lost.unattributed_launches, 0u);
}

// An updated graph may run other kernels: what was known of its launches is known no longer.
TEST(GraphPath, AGraphThatWasChangedIsLookedAtAgain) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 2");
  run.step({"gemm"});
  capture(run, 1, {"a"});
  launch(run, 1);
  EXPECT_TRUE(run.c.graph_nodes.launched(handle<const void*>(2)).named);
  cuGraphExecUpdate_v2_params parameters{};
  parameters.hGraphExec = handle<CUgraphExec>(2);
  run.call(CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, CUPTI_API_ENTER, &parameters);
  EXPECT_FALSE(run.c.graph_nodes.launched(handle<const void*>(2)).named);
}

}  // namespace
}  // namespace gable
