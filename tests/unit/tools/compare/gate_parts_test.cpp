// SPDX-License-Identifier: Apache-2.0
// What `gable check` looks at beside times, and the borders of what grew alike.
#include <gtest/gtest.h>

#include "tools/compare/gate.h"

namespace gable::tests {
namespace {

ComparedRow part_of(const std::string& name, const Maybe& before, const Maybe& after) {
  ComparedRow row;
  row.name = name;
  row.time_ns = {before, after};
  row.noise_ns = 0;
  row.share = 0.5;
  return row;
}

Comparison whole(const Maybe& before, const Maybe& after) {
  Comparison comparison;
  comparison.wholes = {part_of("w", before, after)};
  return comparison;
}

TEST(GateParts, NamesAndWhatTheyNeed) {
  struct Case {
    Gated what;
    const char* name;
    bool work, clock;
    const char* shown;
  };
  for (const Case& each : {Case{Gated::step, "step", true, true, "2.50 us"},
                           {Gated::idle, "idle", true, true, "2.50 us"},
                           {Gated::exposed, "exposed", true, true, "2.50 us"},
                           {Gated::time, "time", true, true, "2.50 us"},
                           {Gated::dram, "dram", true, false, "2.50 kB"},
                           {Gated::flops, "flops", false, false, "2.50 kFLOP"},
                           {Gated::roof, "roof", false, true, "249960 %"},
                           {Gated::coverage, "coverage", false, false, "2500"}}) {
    EXPECT_EQ(gated_name(each.what), each.name);
    EXPECT_EQ(needs_equal_work(each.what), each.work) << each.name;
    EXPECT_EQ(needs_equal_clock(each.what), each.clock) << each.name;
    EXPECT_EQ(shown_value(2499.6, each.what), each.shown);
  }
  EXPECT_EQ(shown_value(std::nullopt, Gated::coverage), "-");
  EXPECT_EQ(gate_text(2.5), "2.5 %");
}

TEST(GateParts, EachNumberByItsOwnValueAndRange) {
  ComparedRow row = part_of("w", 100, 200);
  row.dram = {10, 20};
  row.flops = {1, 3};
  row.fraction = {0.8, 0.4};
  Comparison comparison;
  comparison.wholes = {row};
  const auto verdict = [&](Gated what) {
    return gate(comparison, {.what = {what}}).findings.at(0).verdict;
  };
  for (const Gated what : {Gated::time, Gated::dram, Gated::flops, Gated::roof})
    EXPECT_EQ(verdict(what), GateVerdict::worse);
  comparison.wholes[0].range.time_ns = 100;
  comparison.wholes[0].range.dram = 10;
  comparison.wholes[0].range.flops = 2;
  comparison.wholes[0].range.fraction = 0.4;
  for (const Gated what : {Gated::time, Gated::dram, Gated::flops, Gated::roof})
    EXPECT_EQ(verdict(what), GateVerdict::unclear) << gated_name(what);
  comparison.wholes[0].range.time_ns = 99;
  comparison.wholes[0].range.dram = 9;
  comparison.wholes[0].range.flops = 1.9;
  comparison.wholes[0].range.fraction = 0.39;
  for (const Gated what : {Gated::time, Gated::dram, Gated::flops, Gated::roof})
    EXPECT_EQ(verdict(what), GateVerdict::worse) << gated_name(what);
  const std::string line = gate(comparison, {.what = {Gated::roof}}).findings[0].line(5);
  EXPECT_NE(line.find("differ by 39.0 %"), std::string::npos) << line;
  const std::string dram = gate(comparison, {.what = {Gated::dram}}).findings[0].line(5);
  EXPECT_NE(dram.find("differ by 9.00 B"), std::string::npos) << dram;
}

TEST(GateParts, TheStepsRanges) {
  Comparison comparison = whole(100, 100);
  comparison.step.wall_ns = comparison.step.gpu_ns = {1000, 1200};
  comparison.step.idle_ns = {100, 300};
  comparison.step.exposed_ns = {0, 200};
  const auto verdicts = [&] {
    std::vector<GateVerdict> found;
    for (const Gated what : {Gated::step, Gated::idle, Gated::exposed})
      found.push_back(gate(comparison, {.what = {what}}).findings.at(0).verdict);
    return found;
  };
  const auto worse = GateVerdict::worse, unclear = GateVerdict::unclear;
  EXPECT_EQ(verdicts(), (std::vector{worse, worse, worse}));
  comparison.step.noise_ns = 200;
  EXPECT_EQ(verdicts(), (std::vector{unclear, unclear, unclear}));
  comparison.step.noise_ns.reset();
  comparison.step.wall_range = 200;
  EXPECT_EQ(verdicts(), (std::vector{unclear, worse, worse}));
  comparison.step.wall_range.reset();
  comparison.step.idle_range = 200;
  EXPECT_EQ(verdicts(), (std::vector{worse, unclear, worse}));
  comparison.step.idle_range.reset();
  comparison.step.exposed_range = 200;
  EXPECT_EQ(verdicts(), (std::vector{worse, worse, unclear}));
  comparison.step.on_host = true;
  EXPECT_NE(gate(comparison, {.what = {Gated::step}}).findings.at(0).name, "whole program");
  comparison.step.wall_ns = {0, 0};  // nothing to be a share of
  EXPECT_TRUE(gate(comparison, {}).findings.empty());
}

TEST(GateParts, NamedLayersLeaveTheStepOutUnlessAsked) {
  LayerRow net;
  net.path = {"net"};
  Comparison comparison = whole(100, 300);
  comparison.step.wall_ns = comparison.step.gpu_ns = {1000, 2000};
  comparison.trees = {part_of("net", 10, 20), part_of("gone", 10, 20)};
  comparison.trees[0].layer_row = &net;
  comparison.layers = {part_of("net", 10, 20), part_of("other", 10, 20)};
  comparison.layers[0].layer_row = &net;
  GateOptions options;
  options.what = {Gated::step, Gated::time};
  options.layers = {Pattern::parse("net").pattern};
  EXPECT_EQ(gate(comparison, options).findings.size(), 1u);
  options.asked = true;
  EXPECT_EQ(gate(comparison, options).findings.size(), 2u);
  // Of a row of a named layer beside its tree, only the tree is looked at.
  EXPECT_EQ(gate(comparison, options).compared, 2u);
  // What got lost of a named layer is enough.
  comparison.trees[0].dram = {5, std::nullopt};
  options.what = {Gated::coverage, Gated::time};
  const auto result = gate(comparison, options);
  EXPECT_EQ(result.findings.size(), 2u);
}

TEST(GateParts, WhatGotLostIsCountedByItsKind) {
  Comparison comparison = whole(100, 100);
  comparison.step.gpu_ns = {10, std::nullopt};
  comparison.step.idle_ns = {10, std::nullopt};
  comparison.step.wall_ns = {10, 10};
  ComparedRow again = part_of("again", 10, std::nullopt);
  again.counts_again = true;  // its time is that of others
  ComparedRow gone = part_of("gone", 10, std::nullopt);
  gone.match = Match::gone;
  comparison.layers = {again, gone};
  const auto result = gate(comparison, {.what = {Gated::coverage}});
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].values.a, 3.0);
  EXPECT_EQ(result.findings[0].values.b, 1.0);
  EXPECT_EQ(result.findings[0].more.find("1 idle, 1 step; "), 0u) << result.findings[0].more;
}

TEST(GateParts, FiveTimesCanGrowAlike) {
  const auto alike = [](const std::vector<double>& after) {
    Comparison comparison = whole(100, after[0]);
    for (std::size_t i = 1; i < after.size(); ++i)
      comparison.layers.push_back(part_of("l", 100, after[i]));
    return gate(comparison, {.what = {Gated::time}}).uniform;
  };
  EXPECT_FALSE(alike({120, 120, 120, 120}));
  ASSERT_TRUE(alike({120, 120, 120, 120, 120}));
  EXPECT_EQ(alike({120, 120, 120, 120, 120})->numbers, 5u);
  EXPECT_FALSE(alike({105, 105, 105, 105, 105}));  // at the gate
  EXPECT_TRUE(alike({105.1, 105.1, 105.1, 105.1, 105.1}));
  // 5 % around the median, nine in ten of the times.
  const auto band = alike({114.1, 125.9, 120, 120, 120, 120, 120, 120, 120, 113});
  ASSERT_TRUE(band);
  EXPECT_EQ(band->numbers, 9u);
  EXPECT_EQ(band->of, 10u);
  EXPECT_DOUBLE_EQ(band->least, 1.141);
  EXPECT_DOUBLE_EQ(band->most, 1.259);
  EXPECT_FALSE(alike({113.9, 125.9, 120, 120, 120, 120, 120, 120, 120, 113}));
  EXPECT_FALSE(alike({114.1, 126.1, 120, 120, 120, 120, 120, 120, 120, 113}));
  // Times of nothing say nothing.
  Comparison comparison = whole(100, 120);
  for (int i = 0; i < 4; ++i) comparison.layers.push_back(part_of("l", 0, 120));
  EXPECT_FALSE(gate(comparison, {.what = {Gated::time}}).uniform);
  comparison.layers.clear();
  for (int i = 0; i < 5; ++i) {
    comparison.layers.push_back(part_of("l", 100, 120));
    comparison.layers.back().noise_ns = 50;
  }
  comparison.wholes[0].noise_ns = 50;
  EXPECT_EQ(gate(comparison, {.what = {Gated::time}}).uniform->verdict, GateVerdict::unclear);
}

TEST(GateParts, ClocksThatAgreeAllowThrottledRuns) {
  Comparison comparison = whole(100, 200);
  comparison.throttled = {"a throttled"};
  EXPECT_EQ(gate(comparison, {}).obstacles.size(), 1u);
  comparison.clocks_agree = true;
  EXPECT_TRUE(gate(comparison, {}).obstacles.empty());
  comparison.obstacles = {"no"};
  EXPECT_EQ(gate(comparison, {}).obstacles, std::vector<std::string>{"no"});
  EXPECT_TRUE(gate(comparison, {}).findings.empty());
}

}  // namespace
}  // namespace gable::tests
