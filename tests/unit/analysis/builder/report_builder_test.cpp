// SPDX-License-Identifier: Apache-2.0
// From a profile to the rows and totals of a report.
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class ReportBuilder : public ProfileTest {
 protected:
  // Two layers below "net"; "a" overlaps itself on two streams.
  void time_window(WindowId id, std::uint64_t at) {
    begin(id, kTime);
    timed(key(layer({"net", "a"}), "ka"), at + 100, at + 200);
    timed(key(layer({"net", "a"}), "ka"), at + 150, at + 250);
    timed(key(layer({"net", "b"}), "kb"), at + 300, at + 350);
    timed(key(0, "loose"), at + 400, at + 410);
    profile.add(LayerSpan{layer({"net"}), id, 900});
    end(kTime, true, at, at + 1000);
  }
};

TEST_F(ReportBuilder, LayersSumTheirChildrenAndUnionsCountOverlapOnce) {
  for (int step = 0; step < 10; ++step) profile.count_step(7);
  time_window(1, 1000);
  time_window(2, 5000);
  const Report made = report();
  EXPECT_EQ(made.run.unit, Unit::step);
  ASSERT_EQ(made.layers.size(), 4u);
  const LayerRow& root = layer_at(made, {});
  const LayerRow& net = layer_at(made, {"net"});
  const LayerRow& a = layer_at(made, {"net", "a"});
  EXPECT_FALSE(root.parent.has_value());
  EXPECT_EQ(root.depth, 0);
  EXPECT_EQ(net.parent, root.id);
  EXPECT_EQ(a.parent, net.id);
  EXPECT_EQ(a.depth, 2);

  EXPECT_EQ(root.launches, 4);
  EXPECT_EQ(root.time_total_ns, 260);
  EXPECT_EQ(root.time_self_ns, 10);
  EXPECT_EQ(root.time_busy_ns, 210);
  EXPECT_EQ(root.span_ns, 310);
  EXPECT_EQ(root.time_share, 1);
  EXPECT_EQ(net.time_total_ns, 250);
  EXPECT_EQ(net.time_self_ns, 0);
  EXPECT_EQ(net.time_busy_ns, 200);
  EXPECT_EQ(net.calls, 1);
  EXPECT_EQ(net.cpu_ns, 900);
  EXPECT_EQ(a.time_total_ns, 200);
  EXPECT_EQ(a.time_busy_ns, 150);
  EXPECT_EQ(a.span_ns, 150);
  EXPECT_NEAR(*a.time_share, 200.0 / 260, 1e-15);
  EXPECT_FALSE(a.calls.has_value());

  EXPECT_EQ(made.step.busy_ns, 210);
  EXPECT_EQ(made.step.wall_mean_ns, 4000);  // from first kernel to first kernel
  EXPECT_EQ(made.step.idle_ns, 3790);
  EXPECT_EQ(made.step.host_mean_ns, 1000);
  EXPECT_FALSE(made.step.wall_stddev_ns.has_value());  // the second one's end is not known
  EXPECT_EQ(made.run.total.gpu_time_ns, 2600);         // 10 steps
  EXPECT_EQ(made.run.total.basis, Basis::extrapolated);
  EXPECT_EQ(
      made.run.total.basis_note,
      "2 of 10 steps seen were measured and stand for all of them; later steps are not counted");
  EXPECT_EQ(made.run.steps.seen, 10u);
  EXPECT_EQ(made.run.steps.time, 2u);
  EXPECT_EQ(made.run.steps.classes, 1u);
}

// Windows in which CUPTI was switched tell the host's time only where no other does. On the GPU the
// step before such a window has no end.
TEST_F(ReportBuilder, AStepInWhichCuptiWasSwitchedIsTimedOnlyWhereNoOtherWas) {
  const LaunchKey k = key(layer({"decode"}), "k");
  const auto step = [&](WindowId id, std::uint64_t start, std::uint64_t host, bool changed) {
    profile.count_step(1);
    begin(id, kTime);
    profile.add(TokenCount{k.layer, id, 2, 1});
    timed(k, start + 100, start + 200);
    WindowEnd end;
    end.window = id;
    end.phase = kTime;
    end.start_ns = start;
    end.end_ns = start + host;
    end.launches = 1;
    end.step = id;
    end.changed = changed;
    end.change_ns = changed ? 50 : 0;
    profile.end_window(end);
  };
  profile.count_step(1);
  step(1, 1000, 450, true);
  Report made = report();
  EXPECT_EQ(made.step.host_mean_ns, 400);  // less what we took
  // No step came after it, but the GPU had nothing to do at its borders.
  EXPECT_EQ(made.step.wall_mean_ns, 400);
  EXPECT_EQ(made.step.idle_ns, 300);
  EXPECT_EQ(layer_at(made, {"decode"}).tokens->host_ns, 400);
  EXPECT_FALSE(layer_at(made, {"decode"}).tokens->wall_ns.has_value());
  step(2, 2000, 380, false);
  made = report();
  EXPECT_EQ(made.step.host_mean_ns, 390);  // one alone has no spread
  EXPECT_TRUE(made.step.host_stddev_ns.has_value());
  EXPECT_EQ(made.step.wall_mean_ns, 1000);
  EXPECT_EQ(made.step.idle_ns, 900);
  EXPECT_EQ(layer_at(made, {"decode"}).tokens->wall_ns, 1000);
  EXPECT_EQ(layer_at(made, {"decode"}).tokens->forwards, 1U);
  step(3, 2600, 380, false);
  step(4, 4000, 460, true);
  made = report();
  EXPECT_EQ(made.step.host_mean_ns, 380);
  EXPECT_EQ(made.step.wall_mean_ns, (1000 + 600) / 2.0);  // 1 to 2 and 2 to 3
  EXPECT_EQ(made.step.idle_ns, (900 + 500) / 2.0);
  EXPECT_EQ(layer_at(made, {"decode"}).tokens->host_ns, 380);
  EXPECT_EQ(layer_at(made, {"decode"}).tokens->wall_ns, 800);
  EXPECT_EQ(layer_at(made, {"decode"}).tokens->forwards, 2u);
  EXPECT_EQ(kernel_named(made, "k").samples_time, 4u);  // kernels' times are from all of them
}

// Sums are rounded: 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1.
TEST_F(ReportBuilder, SumsAreTheSameInWhicheverOrderKernelsWereSeen) {
  const auto flops_of_layer = [](const std::vector<int>& order) {
    LayerTree tree;
    FunctionTable names;
    Profile seen(tree, names);
    seen.set_metrics(kFlops, kFlopsMetrics);
    const LayerId in = tree.child(0, "a", Direction::none);
    seen.count_step(1);
    seen.begin_window(1, kFlops);
    for (const int which : order) {
      LaunchKey key;
      key.layer = in;
      key.function = names.intern("k" + std::to_string(which));
      const double values[] = {which * 0.1, 0, 0};
      seen.add(LaunchEvent{key, 1, static_cast<std::uint32_t>(which), false});
      seen.add(kFlops, 1, CounterSample{key, values});
    }
    WindowEnd end;
    end.window = 1;
    end.phase = kFlops;
    end.launches = order.size();
    seen.end_window(end);
    const Report made = build_report(seen, RunInfo{});
    return layer_at(made, {"a"}).flops.fp32;
  };
  const Maybe one = flops_of_layer({1, 2, 3}), other = flops_of_layer({3, 2, 1});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(*one, *other);
}

TEST_F(ReportBuilder, DirectionsAndDevicesAreRowsOfTheirOwn) {
  LaunchKey other = key(layer({"net"}, Direction::forward), "k");
  begin(1, kTime);
  timed(other, 100, 200);
  timed(key(layer({"net"}, Direction::backward), "k"), 300, 500);
  other.device = 1;
  timed(other, 100, 150);
  end(kTime);
  const Report made = report();
  ASSERT_EQ(made.layers.size(), 5u);  // two roots
  EXPECT_EQ(layer_at(made, {"net"}, Direction::backward).time_total_ns, 200);
  EXPECT_EQ(made.layers[3].device, 1);
  EXPECT_EQ(made.layers[3].depth, 0);
  EXPECT_EQ(made.layers[4].parent, made.layers[3].id);
  EXPECT_EQ(made.layers[4].direction, Direction::forward);
  EXPECT_EQ(made.layers[4].time_busy_ns, 50);
  EXPECT_EQ(made.layers[4].time_share, 1);  // of its device
  EXPECT_EQ(made.run.total.gpu_time_ns, 350);
}

TEST_F(ReportBuilder, KernelsThatAreNoPartOfAStepAreLeftOut) {
  profile.count_step(1);
  launch(key(0, "initialise"));
  time_window(1, 1000);
  const Report made = report();
  for (const KernelRow& row : made.kernels) EXPECT_NE(row.name, "initialise");
  EXPECT_EQ(made.kernels.size(), 3u);
}

TEST_F(ReportBuilder, WithoutStepsAllLaunchesCount) {
  launch(key(layer({"net", "b"}), "kb"));
  time_window(1, 1000);
  launch(key(layer({"net", "b"}), "kb"));
  const Report made = report();
  EXPECT_EQ(made.run.unit, Unit::run);
  EXPECT_EQ(kernel_named(made, "kb").launches, 3);
  EXPECT_EQ(kernel_named(made, "kb").time_total_ns, 150);
  EXPECT_EQ(made.run.total.gpu_time_ns, 360);
  EXPECT_EQ(made.run.total.basis_note,
            "4 of 6 launches were timed; each kernel's mean stands for all its launches");
  // The windows' overlap holds for the rest: 210 of 260 ns were busy.
  EXPECT_NEAR(*layer_at(made, {}).time_busy_ns, 360 * 210.0 / 260, 1e-9);
  EXPECT_FALSE(layer_at(made, {}).span_ns.has_value());
}

TEST_F(ReportBuilder, ARunWhoseLaunchesWereAllTimedIsMeasured) {
  time_window(1, 1000);
  EXPECT_EQ(report().run.total.basis, Basis::measured);
}

TEST_F(ReportBuilder, LaunchesThatDifferBetweenPhasesAreFlagged) {
  profile.set_metrics(kFlops, kFlopsMetrics);
  profile.count_step(1);
  const LaunchKey same = key(0, "same"), more = key(0, "more");
  begin(1, kFlops);
  for (int i = 0; i < 2; ++i) sample(kFlops, more, {1, 0, 0});
  sample(kFlops, same, {1, 0, 0});
  end(kFlops);
  begin(2, kTime);
  timed(same, 10, 20);
  timed(more, 20, 30);
  end(kTime);
  const Report made = report();
  EXPECT_FALSE(has_flag(kernel_named(made, "same"), "launches_differ"));
  EXPECT_TRUE(has_flag(kernel_named(made, "more"), "launches_differ"));
  EXPECT_EQ(kernel_named(made, "more").launches, 1);  // the time windows'
  EXPECT_TRUE(has_note(made, "Launches per window differ"));
}

TEST_F(ReportBuilder, CounterWindowsGiveTheTimesWhenThereIsNoTimeWindow) {
  profile.set_metrics(kHw1, kHwMetrics);
  profile.count_step(1);
  profile.count_step(1);
  begin(1, kHw1);
  sample(kHw1, key(0, "k"), {1, 1, 500});
  sample(kHw1, key(0, "k"), {1, 1, 700});
  end(kHw1);
  const Report made = report();
  const KernelRow& row = kernel_named(made, "k");
  EXPECT_EQ(row.time_mean_ns, 600);
  EXPECT_EQ(row.time_source, TimeSource::hw);
  EXPECT_EQ(row.time_total_ns, 1200);
  EXPECT_FALSE(row.time_median_ns.has_value());
  EXPECT_EQ(layer_at(made, {}).time_source, TimeSource::hw);
  EXPECT_EQ(made.run.total.gpu_time_ns, 2400);
  EXPECT_TRUE(has_note(made, "No time window was measured"));
}

TEST_F(ReportBuilder, UnmeasuredStepsFallBackToAllLaunches) {
  profile.count_step(1);
  profile.count_step(1);
  for (int i = 0; i < 6; ++i) launch(key(0, "k"));
  const Report made = report();
  EXPECT_EQ(kernel_named(made, "k").launches, 3);
  EXPECT_FALSE(made.run.total.gpu_time_ns.has_value());
  EXPECT_FALSE(layer_at(made, {}).time_total_ns.has_value());
  EXPECT_EQ(layer_at(made, {}).coverage.time, 0);
}

TEST_F(ReportBuilder, StepsOfUnseenSequencesAreNamed) {
  profile.count_step(0);
  profile.count_step(5);
  profile.count_step(5);
  time_window(1, 1000);  // its sequence hash is 0
  EXPECT_TRUE(has_note(report(), "2 of 3 steps had 1 launch sequence that no time window saw."));
}

// Each class has the same number of windows; a step is what the steps seen are on average.
TEST_F(ReportBuilder, ClassesOfStepsWeighAsOftenAsTheyCame) {
  const LaunchKey often = key(layer({"decode"}), "often"),
                  seldom = key(layer({"prefill"}), "seldom");
  for (int i = 0; i < 3; ++i) profile.count_step(1);
  profile.count_step(2);
  begin(1, kTime);
  record(launch(often), 100, 200);
  profile.add(LayerSpan{often.layer, 1, 50, 2, 2, 40});
  end(kTime, true, 100, 1100, {}, 1);
  begin(2, kTime);
  record(launch(seldom), 2000, 2400);
  CopyCall call{seldom.layer, 2, next_correlation};
  profile.add(call);
  profile.add(CopyRecord{
      2500, 2580, 4096, next_correlation++, 0, CopyKind::memset, 0, false, 0, {}, false});
  end(kTime, true, 2000, 4000, {}, 2);
  const Report made = report();
  EXPECT_EQ(made.run.steps.classes, 2U);
  EXPECT_EQ(made.step.wall_mean_ns, 0.75 * 1900 + 0.25 * 2000);  // no step came after the last
  EXPECT_EQ(made.step.host_mean_ns, 0.75 * 1000 + 0.25 * 2000);
  EXPECT_NEAR(*made.step.host_stddev_ns, 433.0127, 1e-4);  // sqrt(0.75 x 250^2 + 0.25 x 750^2)
  EXPECT_EQ(made.step.busy_ns, 0.75 * 100 + 0.25 * 400);
  EXPECT_EQ(made.step.copy_ns, 0.25 * 80);
  EXPECT_EQ(made.step.sync_ns, 0.75 * 40);
  EXPECT_EQ(made.run.total.gpu_time_ns, 3 * 100 + 400);
  ASSERT_EQ(made.kernels.size(), 2U);
  EXPECT_EQ(made.kernels[0].launches, 0.75);
  EXPECT_EQ(made.kernels[1].launches, 0.25);
  EXPECT_EQ(made.kernels[1].time_total_ns, 100);
  EXPECT_EQ(made.layers[1].calls, 1.5);
  EXPECT_EQ(made.layers[1].time_busy_ns, 75);
  ASSERT_EQ(made.copies.size(), 1U);
  EXPECT_EQ(made.copies[0].bytes, 1024);
}

TEST_F(ReportBuilder, OverheadIsPerPhaseAgainstWarmUp) {
  profile.count_step(1);
  begin(1, kWarmup);
  end(kWarmup, true, 1000, 2000);
  begin(2, kHw1);
  end(kHw1, true, 3000, 6000);
  time_window(3, 10000);
  const Report made = report();
  EXPECT_EQ(made.run.overhead.window_wall_ns.at("hw:1"), 3000);
  EXPECT_EQ(made.run.overhead.slowdown.at("hw:1"), 3);
  EXPECT_EQ(made.run.overhead.slowdown.at("time"), 1);
  EXPECT_FALSE(made.run.overhead.slowdown.contains("warmup"));
}

TEST_F(ReportBuilder, OverheadComparesStepsOfOneLaunchSequence) {
  profile.count_step(1);
  begin(1, kWarmup);
  end(kWarmup, true, 1000, 2000);
  begin(2, kWarmup);
  end(kWarmup, true, 3000, 13000, {}, 77);
  begin(3, kHw1);
  end(kHw1, true, 20000, 50000, {}, 77);
  begin(4, kFlops);
  end(kFlops, true, 60000, 70000, {}, 99);
  const Report made = report();
  EXPECT_EQ(made.run.overhead.slowdown.at("hw:1"), 3);
  EXPECT_FALSE(made.run.overhead.slowdown.contains("flops"));  // no such step was warmed up
}

TEST_F(ReportBuilder, BaseIsKeptAndItsLossesAreAdded) {
  LostCounts lost;
  lost.records = 3;
  profile.add_lost(lost);
  time_window(1, 1000);
  RunInfo base;
  base.hostname = "node7";
  base.notes = {"No permission."};
  base.lost.records = 4;
  const Report made = build_report(profile, base);
  EXPECT_EQ(made.run.hostname, "node7");
  EXPECT_EQ(made.run.notes.front(), "No permission.");
  EXPECT_EQ(made.run.lost.records, 7u);
}

TEST_F(ReportBuilder, AnEmptyProfileHasNoLaunchesAndAnEmptyReport) {
  EXPECT_FALSE(has_launches(profile));
  const Report made = report();
  EXPECT_TRUE(made.layers.empty());
  EXPECT_FALSE(made.run.total.flops.has_value());
  EXPECT_EQ(made.run.unit, Unit::run);
}

// Two steps of a model on one GPU or two: half of the FP32 roof by formula, a quarter as counted. A
// loss that no module computes has kernels, and no operators that are known.
TEST_F(ReportBuilder, UtilisationIsOfTheStepOnAllItsGpus) {
  const double roof = 108 * 64 * 2 * 1.41e9;  // FLOP/s
  for (const auto& [gpus, loss_ns] : {std::pair{1, 0U}, {2, 0U}, {1, 8U}, {1, 40U}}) {
    Profile of(layers, functions);
    const LayerId forward = layer({"net"}, Direction::forward),
                  again = layer({"net", "again"}, Direction::recompute);
    ModelDescription model;
    std::uint32_t correlation = 0;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      DeviceInfo device = a100();
      device.id = gpu;
      of.add_device(device);
      OperatorWork work;
      work.operators = 1;
      work.flops["fp32"] = roof * 500e-9;
      model.work[{gpu, forward}] = work;
      model.work[{gpu, again}] = work;  // computed again: no use
    }
    // Of two sizes, in the mean this.
    ModelDescription larger = model;
    for (auto& [where, work] : model.work) work.flops["fp32"] *= 0.5;
    for (auto& [where, work] : larger.work) work.flops["fp32"] *= 1.5;
    of.describe(std::move(model));
    of.describe(std::move(larger));
    of.set_metrics(kFlops, kFlopsMetrics);
    of.set_metrics(kHw1, kHwMetrics);
    const auto step = [&, gpus = gpus, loss_ns = loss_ns](WindowId id, Phase phase,
                                                          std::uint64_t start) {
      of.count_step(0);
      of.begin_window(id, phase);
      for (int gpu = 0; gpu < gpus; ++gpu) {
        for (const LayerId where : {forward, again}) {
          LaunchKey launched = key(where, "k");
          launched.device = gpu;
          of.add(LaunchEvent{launched, id, ++correlation, false});
          std::vector<double> values = {0, 0, roof * 125e-9 / 2};
          if (phase == kHw1) values = {1, 1, 200};
          if (is_counter(phase.kind)) of.add(phase, id, CounterSample{launched, values.data()});
          const std::uint64_t at = start + (where == forward ? 0 : 300);
          of.add(KernelRecord{at, at + 200, correlation, gpu, static_cast<std::uint32_t>(gpu), 0});
        }
      }
      if (loss_ns > 0) {
        const LaunchKey launched = key(layer({"loss"}, Direction::forward), "l");
        of.add(LaunchEvent{launched, id, ++correlation, false});
        std::vector<double> values = {0, 0, 0};
        if (phase == kHw1) values = {1, 1, 200};
        if (is_counter(phase.kind)) of.add(phase, id, CounterSample{launched, values.data()});
        of.add(KernelRecord{start + 220, start + 220 + loss_ns, correlation, 0, 0, 0});
      }
      WindowEnd end;
      end.window = end.step = id;
      end.phase = phase;
      end.start_ns = start;
      end.end_ns = start + 10;  // the host is far ahead
      end.launches = 1;
      of.end_window(end);
    };
    step(1, kFlops, 1000);
    step(2, kHw1, 2000);
    step(3, kTime, 3000);
    step(4, kTime, 4000);
    const Report made = kept(build_report(of, RunInfo{}));
    EXPECT_EQ(made.step.wall_mean_ns, 1000) << gpus;
    if (loss_ns > 20) {  // more than a twentieth of the model's time
      EXPECT_FALSE(made.step.mfu || made.step.model_flops);
      continue;
    }
    ASSERT_TRUE(made.step.mfu && made.step.hfu) << gpus;
    EXPECT_NEAR(*made.step.mfu, 0.5, 1e-9) << gpus;
    ASSERT_TRUE(made.step.model_flops) << gpus;
    EXPECT_NEAR(*made.step.model_flops, gpus * roof * 500e-9, 1) << gpus;
    EXPECT_NEAR(*made.step.hfu, 0.25, 1e-9) << gpus;
  }
}

// Records of a window may come when the next one is open, whose launches are of the same graph.
TEST_F(ReportBuilder, GraphsOfTwoWindowsInARowCountOnce) {
  profile.count_step(0);
  profile.count_step(0);
  GraphShape shape;
  const LaunchKey kernel = key(layer({"net"}), "k");
  shape.kernels = 1;
  shape.known = {{kernel, 1}};
  shape.layer = kernel.layer;
  GraphLaunch graph;
  graph.graph = profile.add_graph(shape);
  graph.key = key(kernel.layer, "graph");
  const auto launch_in = [&](WindowId id) {
    begin(id, kTime);
    graph.window = id;
    graph.correlation = static_cast<std::uint32_t>(id);
    profile.add(graph);
  };
  launch_in(1);
  end(kTime, true, 1000, 2000);
  launch_in(2);
  for (const WindowId id : {1, 2}) {
    GraphKernelRecord record;
    record.record = {id * 1000ULL, id * 1000ULL + 50, static_cast<std::uint32_t>(id), 0, 0, 0};
    record.key = kernel;
    record.placed = true;
    profile.add(record);
  }
  end(kTime, true, 2000, 3000);
  const Report made = report();
  EXPECT_EQ(kernel_named(made, "k").launches, 1);
  EXPECT_EQ(kernel_named(made, "k").time_total_ns, 50);
}

}  // namespace
}  // namespace gable::tests
