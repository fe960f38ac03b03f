// SPDX-License-Identifier: Apache-2.0
// What `gable check` calls worse: beyond the gate, and for times beyond the noise.
#include "tools/compare/gate.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

ComparedRow row_of(const char* name, Maybe before, Maybe after, Maybe noise = 0.0) {
  ComparedRow row;
  row.name = name;
  row.time_ns = {before, after};
  row.noise_ns = noise;
  row.share = 0.5;
  return row;
}

GateResult gated(const ComparedRow& whole, double percent = 5,
                 std::vector<Gated> what = {Gated::time}) {
  Comparison comparison;
  comparison.wholes = {whole};
  GateOptions options;
  options.percent = percent;
  options.what = std::move(what);
  return gate(comparison, options);
}

TEST(GateOf, WhatIsAtTheGatePassesAndWhatIsBeyondDoesNot) {
  EXPECT_TRUE(gated(row_of("w", 100, 105)).findings.empty());
  EXPECT_TRUE(gated(row_of("w", 100, 50)).findings.empty());
  const auto worse = gated(row_of("w", 100, 105.1));
  ASSERT_EQ(worse.findings.size(), 1u);
  EXPECT_EQ(worse.compared, 1u);
  EXPECT_EQ(worse.findings[0].verdict, GateVerdict::worse);
  EXPECT_EQ(worse.findings[0].name, "whole program");
  EXPECT_EQ(worse.count(GateVerdict::worse), 1u);
  EXPECT_EQ(worse.count(GateVerdict::unclear), 0u);
  EXPECT_TRUE(gated(row_of("w", 100, 110), 10).findings.empty());
  EXPECT_EQ(gated(row_of("w", 100, 101), 0).findings.size(), 1u);
  EXPECT_EQ(gated(row_of("w", 0, 1)).findings.size(), 1u);  // more than any share
  EXPECT_TRUE(gated(row_of("w", 0, 0)).findings.empty());
}

TEST(GateOf, WithinTheNoiseNothingIsClear) {
  EXPECT_EQ(gated(row_of("w", 100, 110, 10)).findings.at(0).verdict, GateVerdict::unclear);
  EXPECT_EQ(gated(row_of("w", 100, 110, 9.9)).findings.at(0).verdict, GateVerdict::worse);
  EXPECT_EQ(gated(row_of("w", 100, 110, std::nullopt)).findings.at(0).verdict, GateVerdict::worse);
}

TEST(GateOf, BytesAndFlopsMayNotGrowAndTheFractionMayNotFall) {
  ComparedRow row = row_of("w", 100, 100);
  row.dram = {100, 110};
  row.flops = {100, 120};
  row.fraction = {0.5, 0.4};
  const auto all = gated(row, 5, {Gated::time, Gated::dram, Gated::flops, Gated::roof});
  ASSERT_EQ(all.findings.size(), 3u);
  EXPECT_EQ(all.compared, 4u);
  // The largest change first; a fifth each of the first two.
  EXPECT_EQ(all.findings[2].what, Gated::dram);
  row.noise_ns = 1e9;  // noise is of times alone
  for (const auto& finding : gated(row, 5, {Gated::dram, Gated::flops, Gated::roof}).findings)
    EXPECT_EQ(finding.verdict, GateVerdict::worse);
  row.fraction = {0.4, 0.5};
  row.dram = {110, 100};
  row.flops = {0, 1};
  EXPECT_EQ(gated(row, 5, {Gated::dram, Gated::flops, Gated::roof}).findings.size(), 1u);
  row.fraction = {0, 0.5};
  EXPECT_TRUE(gated(row, 5, {Gated::roof}).findings.empty());
}

TEST(GateOf, WhatTheBaselineAloneKnowsIsSaid) {
  Comparison comparison;
  comparison.wholes = {row_of("w", 100, 100)};
  comparison.layers = {row_of("lost", 100, std::nullopt), row_of("new", std::nullopt, 100)};
  const auto result = gate(comparison, {.what = {Gated::time}});
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].verdict, GateVerdict::unknown);
  EXPECT_EQ(result.findings[0].name, "lost");
  EXPECT_EQ(result.compared, 1u);
  const auto nothing = gated(row_of("w", 100, std::nullopt));
  EXPECT_TRUE(nothing.findings.empty());
  EXPECT_EQ(nothing.obstacles,
            std::vector<std::string>{"No layer's time is known in both reports: profile again so "
                                     "that both know it, or leave time out of --what."});
}

TEST(GateOf, SmallLayersAndThoseOfOneReportAreNotLookedAt) {
  Comparison comparison;
  comparison.wholes = {row_of("w", 100, 100)};
  comparison.layers = {row_of("large", 10, 20), row_of("small", 10, 20), row_of("edge", 10, 20),
                       row_of("added", 10, 20), row_of("gone", 10, 20),  row_of("again", 10, 20)};
  comparison.layers[1].share = 0.00099;
  comparison.layers[2].share = 0.001;
  comparison.layers[3].match = Match::added;
  comparison.layers[4].match = Match::gone;
  comparison.layers[5].counts_again = true;
  const auto result = gate(comparison, {});
  EXPECT_EQ(result.small, 1u);
  std::vector<std::string> names;
  for (const auto& finding : result.findings) names.push_back(finding.name);
  EXPECT_EQ(names, (std::vector<std::string>{"large", "edge"}));
}

TEST(GateOf, WorseOnesFirstAndThenByChange) {
  Comparison comparison;
  comparison.wholes = {row_of("w", 100, 100)};
  comparison.layers = {row_of("unclear", 10, 40, 100), row_of("a", 10, 12), row_of("b", 10, 13),
                       row_of("lost", 10, std::nullopt)};
  std::vector<std::string> names;
  for (const auto& finding : gate(comparison, {.what = {Gated::time}}).findings)
    names.push_back(finding.name);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "a", "unclear", "lost"}));
}

TEST(GateOf, NamedLayersAreLookedAtWithWhatIsBelowThem) {
  LayerRow net, conv, other;
  net.path = {"net"};
  conv.path = {"net", "conv"};
  conv.dotted = "model.conv";
  other.path = {"other"};
  const auto of = [](const char* name, const LayerRow& layer) {
    ComparedRow row = row_of(name, 10, 20);
    row.layer_row = &layer;
    return row;
  };
  Comparison comparison;
  comparison.wholes = {row_of("w", 100, 300)};
  comparison.trees = {of("net", net), of("net/conv", conv), of("other", other)};
  comparison.layers = {of("net", net), of("net/conv", conv), of("other", other)};
  const auto names = [&](const char* pattern) {
    GateOptions options;
    options.layers = {Pattern::parse(pattern).pattern};
    std::vector<std::string> found;
    for (const auto& finding : gate(comparison, options).findings) found.push_back(finding.name);
    return found;
  };
  EXPECT_EQ(names("net"), (std::vector<std::string>{"net", "net/conv"}));
  EXPECT_EQ(names("model.conv"), std::vector<std::string>{"net/conv"});
  EXPECT_EQ(names("conv"), std::vector<std::string>{"net/conv"});
  EXPECT_EQ(names("other"), std::vector<std::string>{"other"});
}

Comparison with_step(Maybe wall_a, Maybe wall_b, Maybe idle_a, Maybe idle_b) {
  Comparison comparison;
  comparison.wholes = {row_of("w", 100, 100)};
  comparison.step.wall_ns = comparison.step.gpu_ns = {wall_a, wall_b};
  comparison.step.idle_ns = {idle_a, idle_b};
  return comparison;
}

std::vector<std::string> lines_of(const GateResult& result) {
  std::vector<std::string> lines;
  for (const GateFinding& finding : result.findings) lines.push_back(finding.line(5));
  return lines;
}

TEST(GateOf, AStepThatTakesTwiceAsLongIsWorseThoughItsKernelsDoNot) {
  const auto result = gate(with_step(1000, 2000, 100, 1100), {});
  EXPECT_EQ(lines_of(result),
            (std::vector<std::string>{
                "whole program: step 1.00 us -> 2.00 us, +100 % (gate 5 %, noise unknown)",
                "whole program: idle 100 ns -> 1.10 us, +100 % of the step (gate 5 %)"}));
  EXPECT_EQ(result.count(GateVerdict::worse), 2u);
  EXPECT_EQ(result.compared, 3u);
  EXPECT_TRUE(gate(with_step(1000, 1049, 100, 149), {}).findings.empty());
  // Idle time is a share of the step: from 10 to 20 ns of 1,000 is nothing.
  EXPECT_TRUE(gate(with_step(1000, 1010, 10, 20), {}).findings.empty());
  EXPECT_TRUE(gate(with_step(1000, 2000, 100, 1100), {.what = {Gated::time}}).findings.empty());
}

TEST(GateOf, CommunicationThatIsNoLongerHiddenIsWorse) {
  Comparison comparison = with_step(1000, 1000, 100, 100);
  comparison.step.exposed_ns = {0, 60};
  EXPECT_EQ(lines_of(gate(comparison, {})),
            std::vector<std::string>{"whole program: exposed communication 0 ns -> 60.0 ns, "
                                     "+6.00 % of the step (gate 5 %)"});
  comparison.step.exposed_ns = {0, 40};
  EXPECT_TRUE(gate(comparison, {}).findings.empty());
  // That a graph explained too little this time is no regression, unless one asks for it.
  comparison.step.exposed_ns = {10, std::nullopt};
  EXPECT_TRUE(gate(comparison, {}).findings.empty());
  const auto asked = gate(comparison, {.what = {Gated::exposed, Gated::step}, .asked = true});
  ASSERT_EQ(asked.obstacles.size(), 1u);
  EXPECT_EQ(asked.obstacles.front(),
            "The exposed time is unknown in one report or both: profile again so that both know "
            "it, or leave exposed out of --what.");
}

TEST(GateOf, WithoutStepsNothingIsSaidOfThemUnlessAsked) {
  const Comparison none = with_step(std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  EXPECT_TRUE(gate(none, {}).obstacles.empty());
  EXPECT_EQ(gate(none, {.what = {Gated::step}, .asked = true}).obstacles,
            std::vector<std::string>{"The step time is unknown in one report or both: profile "
                                     "again so that both know it, or leave step out of --what."});
}

TEST(GateOf, NumbersThatGotLostAreWorse) {
  Comparison comparison;
  comparison.wholes = {row_of("w", 100, 100)};
  for (int i = 0; i < 40; ++i) {
    ComparedRow row = row_of("layer", 10, 10);
    row.flops = row.dram = {5, 5};
    comparison.layers.push_back(row);
  }
  EXPECT_TRUE(gate(comparison, {}).findings.empty());
  // 6 of 121 are 4.96 %, 7 are 5.8 %.
  for (int i = 0; i < 6; ++i) comparison.layers[static_cast<std::size_t>(i)].dram.b.reset();
  EXPECT_TRUE(gate(comparison, {}).findings.empty());
  comparison.layers[6].flops.b.reset();
  EXPECT_EQ(lines_of(gate(comparison, {})),
            std::vector<std::string>{
                "whole program: coverage 121 -> 114 numbers, -5.79 % (gate 5 %); no longer known: "
                "6 dram, 1 flops; the first is of layer"});
  EXPECT_TRUE(gate(comparison, {.what = {Gated::time}}).findings.empty());
  // Of the whole program one is enough.
  for (ComparedRow& row : comparison.layers) row.flops = row.dram = {5, 5};
  comparison.wholes[0].dram = {5, std::nullopt};
  EXPECT_EQ(gate(comparison, {}).findings.at(0).what, Gated::coverage);
  EXPECT_EQ(gate(comparison, {}).findings.at(0).verdict, GateVerdict::worse);
}

TEST(GateOf, AnotherAmountOfWorkIsNoComparison) {
  Comparison comparison = with_step(100, 50, 0, 0);
  comparison.other_work = "B does half";
  const auto result = gate(comparison, {});
  ASSERT_EQ(result.obstacles.size(), 1u);
  EXPECT_EQ(result.obstacles[0],
            "B does half: profile the same batch and inputs, make a new baseline, or use "
            "--what flops,roof,coverage, which does not need equal work.");
  comparison.wholes[0].flops = {100, 50};
  comparison.wholes[0].fraction = {0.5, 0.5};
  const GateOptions no_work{.what = {Gated::flops, Gated::roof, Gated::coverage}, .asked = true};
  EXPECT_TRUE(gate(comparison, no_work).obstacles.empty());
  EXPECT_EQ(gate(comparison, {.what = {Gated::flops, Gated::time}}).obstacles.size(), 1u);
}

TEST(GateOf, TimesThatGrowAlikeAreOneFinding) {
  Comparison comparison = with_step(1000, 1090, std::nullopt, std::nullopt);
  comparison.wholes = {row_of("w", 100, 109)};
  for (int i = 0; i < 20; ++i) comparison.layers.push_back(row_of("l", 100, 108 + i % 4));
  const auto all = gate(comparison, {});
  ASSERT_TRUE(all.uniform);
  EXPECT_EQ(all.uniform->line(5),
            "everything takes 1.08 to 1.11 times as long: 22 numbers (gate 5 %)");
  EXPECT_EQ(all.uniform->verdict, GateVerdict::worse);
  for (const GateFinding& finding : all.findings) EXPECT_TRUE(finding.together) << finding.name;
  comparison.layers[0] = row_of("worst", 100, 300);
  comparison.layers[1] = row_of("as before", 100, 100);
  const auto most = gate(comparison, {});
  EXPECT_EQ(most.uniform->line(5),
            "nearly everything takes 1.08 to 1.11 times as long: 20 of 22 numbers (gate 5 %)");
  EXPECT_EQ(most.findings[0].name, "worst");
  EXPECT_FALSE(most.findings[0].together);
  for (int i = 0; i < 10; ++i)
    comparison.layers[static_cast<std::size_t>(i)] = row_of("as before", 100, 100);
  EXPECT_FALSE(gate(comparison, {}).uniform);
  // Nor where everything takes as long as before.
  for (ComparedRow& row : comparison.layers) row = row_of("as before", 100, 100);
  EXPECT_FALSE(gate(comparison, {}).uniform);
}

TEST(GateOf, Sentences) {
  auto finding = gated(row_of("w", 1000, 1100, 20)).findings.at(0);
  EXPECT_EQ(finding.line(5),
            "whole program: time 1.00 us -> 1.10 us, +10.0 % (gate 5 %, noise 20.0 ns)");
  finding.noise_ns = std::nullopt;
  finding.direction = Direction::backward;
  EXPECT_EQ(
      finding.line(2.5),
      "whole program (backward): time 1.00 us -> 1.10 us, +10.0 % (gate 2.5 %, noise unknown)");
  finding.what = Gated::roof;
  finding.values = {0.5, 0.25};
  finding.direction = Direction::none;
  EXPECT_EQ(finding.line(5), "whole program: roof 50.0 % -> 25.0 %, -50.0 % (gate 5 %)");
  finding.verdict = GateVerdict::unknown;
  finding.what = Gated::dram;
  finding.values = {1000, std::nullopt};
  EXPECT_EQ(finding.line(5).find("whole program: dram "), 0u);
  EXPECT_TRUE(finding.line(5).ends_with(": known only in the baseline"));
}

TEST(GateOf, TimesOfAThrottledRunAreNotCompared) {
  Comparison comparison;
  comparison.wholes = {row_of("w", 100, 200)};
  comparison.wholes[0].dram = comparison.wholes[0].flops = {100, 200};
  comparison.throttled = {"now.json throttled (power cap, 62 % of samples)"};
  for (const Gated what : {Gated::step, Gated::idle, Gated::exposed, Gated::time, Gated::roof}) {
    GateOptions options;
    options.what = {what};
    const auto result = gate(comparison, options);
    ASSERT_EQ(result.obstacles.size(), 1u) << gated_name(what);
    EXPECT_TRUE(result.obstacles[0].starts_with(
        "now.json throttled (power cap, 62 % of samples); its times are not compared"));
    EXPECT_TRUE(result.findings.empty());
  }
  for (const Gated what : {Gated::dram, Gated::flops}) {
    GateOptions options;
    options.what = {what};
    EXPECT_TRUE(gate(comparison, options).obstacles.empty()) << gated_name(what);
    EXPECT_EQ(gate(comparison, options).findings.size(), 1u);
  }
}

}  // namespace
}  // namespace gable
