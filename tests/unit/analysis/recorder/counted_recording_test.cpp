// SPDX-License-Identifier: Apache-2.0
// Small runs, and the whole recordings of them: graphs, and what was counted.
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/analysis/recorder/recorded_run.h"

namespace gable::tests {
namespace {

class CountedRecording : public RecordedRun {};

TEST_F(CountedRecording, Graphs) {
  run.set_thread(this, true);
  const LaunchKey a = key(layer({"net", "a"}), "a", 4), b = key(layer({"net", "b"}), "b", 5);
  GraphShape shape;
  shape.layer = layer({"net"});
  shape.kernels = 3;
  shape.known = {{a, 2}, {b, 1}};
  const GraphId known = profile.add_graph(shape);
  launch(1, a);
  launch(1, b);
  GraphLaunch graph;
  graph.graph = known;
  graph.key = key(layer({"net"}), "(graph 1)");
  graph.key.block = graph.key.grid = {0, 0, 0};
  graph.correlation = correlation++;
  run.add(1, graph);
  // Its counters.
  run.set_metrics(kHw1, {"dram__sectors_read.sum", "sm__ctas_launched.sum"});
  const double values[] = {64, 13};
  graph.window = 1;
  graph.correlation = correlation++;
  run.add(2, graph);
  run.add(kHw1, 1, CounterSample{graph.key, values});
  ended(1, kHw1);
  graph.graph = 0;
  run.add(2, graph);
  EXPECT_EQ(lines(false, {"1 launches of graphs that nothing is known of are left out.",
                          "2 kinds of launches were never timed; they take 1000 ns here."}),
            R"(
{"kernel":"k0","name":"a","grid":[4,1,1],"block":[128,1,1],"unknown":["*"]}
{"kernel":"k1","name":"b","grid":[5,1,1],"block":[128,1,1],"unknown":["*"]}
{"kernel":"g1_0","name":"a","grid":[4,1,1],"block":[128,1,1],"counters":{"dram__sectors_read.sum":64}}
{"kernel":"g1_1","name":"b","grid":[5,1,1],"block":[128,1,1]}
{"op":"capture_begin","stream":1}
{"op":"push","name":"net"}
{"op":"push","name":"a"}
{"op":"launch","kernel":"g1_0","stream":1}
{"op":"launch","kernel":"g1_0","stream":1}
{"op":"pop"}
{"op":"push","name":"b"}
{"op":"launch","kernel":"g1_1","stream":1}
{"op":"pop"}
{"op":"pop"}
{"op":"capture_end","stream":1,"graph":1}
{"op":"push","name":"net"}
{"op":"push","name":"a"}
{"op":"launch","kernel":"k0"}
{"op":"pop"}
{"op":"push","name":"b"}
{"op":"launch","kernel":"k1"}
{"op":"graph_launch","graph":1}
{"op":"pop"}
{"op":"pop"}
{"op":"sync"}
{"op":"graph_launch","graph":1}
{"op":"sync"}
)");
}

// Records of a graph's kernels say in which order they ran, and when it began and ended.
TEST_F(CountedRecording, AGraphThatWasTimed) {
  run.set_thread(this, true);
  const LaunchKey a = key(layer({"net", "a"}), "a", 4), b = key(layer({"net", "b"}), "b", 5);
  GraphShape shape;
  shape.kernels = 3;
  GraphLaunch graph;
  graph.graph = profile.add_graph(shape);
  graph.key = key(0, "(graph 1)");
  graph.key.block = graph.key.grid = {0, 0, 0};
  for (WindowId in = 1; in <= 2; ++in) {
    timed(in, a, in, in * 100'000 + 3000, in * 100'000 + 4000);
    graph.window = in;
    graph.correlation = correlation++;
    run.add(in, graph);
    std::uint64_t at = in * 100'000 + 6000;
    for (const LaunchKey& each : {b, a, b}) {
      GraphKernelRecord kernel;
      kernel.key = each;
      kernel.record.correlation = graph.correlation;
      kernel.record.start_ns = at;
      kernel.record.end_ns = at += 500;
      kernel.record.context = 1;
      kernel.record.stream = 7;
      kernel.record.resources = {32, 0};
      run.add(kernel);
    }
    ended(in, kTime, std::uint64_t{in} * 100'000, std::uint64_t{in} * 100'000 + 10'000);
  }
  EXPECT_EQ(lines(), R"(
{"kernel":"k0","name":"a","grid":[4,1,1],"block":[128,1,1],"registers":32,"time_ns":750}
{"kernel":"g1_0","name":"b","grid":[5,1,1],"block":[128,1,1],"registers":32,"time_ns":500}
{"kernel":"g1_1","name":"a","grid":[4,1,1],"block":[128,1,1],"registers":32,"time_ns":750}
{"kernel":"g1_2","name":"b","grid":[5,1,1],"block":[128,1,1],"registers":32,"time_ns":500}
{"op":"capture_begin","stream":1}
{"op":"push","name":"net"}
{"op":"push","name":"b"}
{"op":"launch","kernel":"g1_0","stream":1}
{"op":"pop"}
{"op":"push","name":"a"}
{"op":"launch","kernel":"g1_1","stream":1}
{"op":"pop"}
{"op":"push","name":"b"}
{"op":"launch","kernel":"g1_2","stream":1}
{"op":"pop"}
{"op":"pop"}
{"op":"capture_end","stream":1,"graph":1}
{"sequence":"s1"}
{"op":"push","name":"net"}
{"op":"push","name":"a"}
{"op":"launch","kernel":"k0","host_ns":3000,"time_ns":1000}
{"op":"graph_launch","graph":1,"host_ns":3000}
{"op":"idle","ns":4000}
{"op":"pop"}
{"op":"pop"}
{"end_sequence":"s1"}
{"op":"play","sequence":"s1","times":2}
)");
}

TEST_F(CountedRecording, CountersOfAKindAndOfALaunch) {
  run.set_thread(this, true);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const LaunchKey a = key(0, "a", 2), b = key(0, "b", 3), c = key(0, "c"), d = key(0, "d");
  run.set_metrics(kHw1, {"dram__sectors_read.sum", "dram__sectors_write.sum",
                         "gpu__time_duration.sum", "sm__ctas_launched.sum"});
  const auto sample = [&](std::uint32_t step, const LaunchKey& of, std::vector<double> values) {
    launch(step, of, step);
    run.add(kHw1, step, CounterSample{of, values.data()});
  };
  sample(1, a, {10, 0, 1500, 2});
  sample(1, b, {7.5, nan, 2500, 4});
  sample(1, a, {30, 0, 1502, 2});
  sample(1, c, {0, nan, 0, 1});
  sample(1, d, {nan, nan, nan, nan});
  sample(2, a, {20, 0, 1501, 2});
  sample(2, b, {7.5, 5, 2500, 4});
  ended(1, kHw1);
  ended(2, kHw1);
  const std::vector<double> more = {1, 2, 3, 4};
  CounterSample several{a, more.data(), 2};
  run.add(kHw1, 2, several);
  EXPECT_EQ(lines(false, {"1 counts of several launches together are left out.",
                          "2 kinds of launches were never timed; they take 1000 ns here."}),
            R"(
{"kernel":"k0","name":"a","grid":[2,1,1],"block":[128,1,1],"time_ns":1501,"counters":{"dram__sectors_read.sum":20,"gpu__time_duration.sum":1501}}
{"kernel":"k1","name":"b","grid":[3,1,1],"block":[128,1,1],"time_ns":2500,"counters":{"dram__sectors_read.sum":7.5,"dram__sectors_write.sum":5,"gpu__time_duration.sum":2500,"sm__ctas_launched.sum":4}}
{"kernel":"k2","name":"c","grid":[1,1,1],"block":[128,1,1],"counters":{"gpu__time_duration.sum":0},"unknown":["dram__sectors_write.sum"]}
{"kernel":"k3","name":"d","grid":[1,1,1],"block":[128,1,1],"unknown":["*"]}
{"op":"launch","kernel":"k0","counters":{"dram__sectors_read.sum":10,"gpu__time_duration.sum":1500}}
{"op":"launch","kernel":"k1","counters":{"dram__sectors_write.sum":null}}
{"op":"launch","kernel":"k0","counters":{"dram__sectors_read.sum":30,"gpu__time_duration.sum":1502}}
{"op":"launch","kernel":"k2"}
{"op":"launch","kernel":"k3"}
{"op":"sync"}
{"op":"launch","kernel":"k0"}
{"op":"launch","kernel":"k1"}
{"op":"sync"}
)");
}

// Of a launch without a sample nobody knows which sample is whose.
TEST_F(CountedRecording, SamplesThatDoNotFitTheLaunchesAreOfNone) {
  run.set_thread(this, true);
  const LaunchKey a = key(0, "a");
  run.set_metrics(kHw1, {"dram__sectors_read.sum"});
  for (const double value : {10.0, 20.0}) {
    launch(1, a, 1);
    const double values[] = {value};
    run.add(kHw1, 1, CounterSample{a, values});
  }
  launch(1, a, 1);
  ended(1, kHw1);
  EXPECT_EQ(lines(false, {"1 kinds of launches were never timed; they take 1000 ns here."}),
            R"(
{"kernel":"k0","name":"a","grid":[1,1,1],"block":[128,1,1],"counters":{"dram__sectors_read.sum":15}}
{"op":"launch","kernel":"k0"}
{"op":"launch","kernel":"k0"}
{"op":"launch","kernel":"k0"}
{"op":"sync"}
)");
}

}  // namespace
}  // namespace gable::tests
