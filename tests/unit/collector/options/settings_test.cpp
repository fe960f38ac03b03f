// SPDX-License-Identifier: Apache-2.0
// The launcher hands its options to the library as one line of text: nothing may be lost or changed
// on the way.
#include "collector/options/settings.h"

#include <gtest/gtest.h>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace gable {
namespace {

void expect_equal(const Settings& a, const Settings& b) {
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.phase_hw, b.phase_hw);
  EXPECT_EQ(a.phase_flops, b.phase_flops);
  EXPECT_EQ(a.phase_time, b.phase_time);
  EXPECT_EQ(a.wait, b.wait);
  EXPECT_EQ(a.warmup, b.warmup);
  EXPECT_EQ(a.active, b.active);
  EXPECT_EQ(a.repeat, b.repeat);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.window, b.window);
  EXPECT_EQ(a.step_range, b.step_range);
  EXPECT_EQ(a.fold, b.fold);
  EXPECT_EQ(a.kernels, b.kernels);
  EXPECT_EQ(a.include, b.include);
  EXPECT_EQ(a.exclude, b.exclude);
  EXPECT_EQ(a.ranges, b.ranges);
  EXPECT_EQ(a.scope, b.scope);
  EXPECT_EQ(a.replay, b.replay);
  EXPECT_EQ(a.metrics, b.metrics);
  EXPECT_EQ(a.budget, b.budget);
  EXPECT_EQ(a.every_s, b.every_s);
  EXPECT_EQ(a.layers, b.layers);
  EXPECT_EQ(a.then, b.then);
  EXPECT_EQ(a.max_keys, b.max_keys);
  EXPECT_EQ(a.no_command, b.no_command);
  EXPECT_EQ(a.record, b.record);
  EXPECT_EQ(a.cupti, b.cupti);
  EXPECT_EQ(a.manifest, b.manifest);
  EXPECT_EQ(a.playback, b.playback);
}

struct OneSetting {
  std::string name;
  std::function<void(Settings&)> change;
  std::string text;  // what to_options makes of it
};

class SettingsOneByOne : public testing::TestWithParam<OneSetting> {};

TEST_P(SettingsOneByOne, ChangesNothingElse) {
  Settings changed;
  GetParam().change(changed);
  const std::string text = to_options(changed);
  EXPECT_EQ(text, GetParam().text);
  const ParsedOptions parsed = parse_options(text);
  EXPECT_EQ(parsed.error, "");
  expect_equal(parsed.settings, changed);
}

INSTANTIATE_TEST_SUITE_P(
    Each, SettingsOneByOne,
    testing::Values(
        OneSetting{"none", [](Settings&) {}, ""},
        OneSetting{"output", [](Settings& s) { s.output = "x.json"; }, "--output=x.json"},
        OneSetting{"hw", [](Settings& s) { s.phase_flops = s.phase_time = false; }, "--phases=hw"},
        OneSetting{"flops", [](Settings& s) { s.phase_hw = s.phase_time = false; },
                   "--phases=flops"},
        OneSetting{"time", [](Settings& s) { s.phase_hw = s.phase_flops = false; },
                   "--phases=time"},
        OneSetting{"no_hw", [](Settings& s) { s.phase_hw = false; }, "--phases=flops,time"},
        OneSetting{"wait", [](Settings& s) { s.wait = 0; }, "--wait=0"},
        OneSetting{"warmup", [](Settings& s) { s.warmup = 1; }, "--warmup=1"},
        OneSetting{"active", [](Settings& s) { s.active = 4294967295U; }, "--active=4294967295"},
        OneSetting{"repeat", [](Settings& s) { s.repeat = 2; }, "--repeat=2"},
        OneSetting{"window", [](Settings& s) { s.window = 1; }, "--window=1"},
        OneSetting{"step_range", [](Settings& s) { s.step_range = "^step [0-9]+$"; },
                   "'--step-range=^step [0-9]+$'"},
        OneSetting{"fold",
                   [](Settings& s) {
                     s.fold = {"[a-z]", "batch \\d+"};
                   },
                   "'--fold=[a-z]' '--fold=batch \\d+'"},
        OneSetting{"kernels",
                   [](Settings& s) {
                     s.kernels = {"*gemm*", "regex:^(a|b)$"};
                   },
                   "'--kernel=*gemm*' '--kernel=regex:^(a|b)$'"},
        OneSetting{"include",
                   [](Settings& s) {
                     s.include = {"layer1", "*/conv[12]"};
                   },
                   "--include=layer1 '--include=*/conv[12]'"},
        OneSetting{"exclude", [](Settings& s) { s.exclude = {"regex:^fc$"}; },
                   "'--exclude=regex:^fc$'"},
        OneSetting{"ranges", [](Settings& s) { s.ranges = RangesBy::automatic; }, "--ranges=auto"},
        OneSetting{"scope", [](Settings& s) { s.scope = CounterScope::range; }, "--scope=range"},
        OneSetting{"replay", [](Settings& s) { s.replay = Replay::kernel; }, "--replay=kernel"},
        OneSetting{"metrics",
                   [](Settings& s) {
                     s.metrics = {"roofline", "dram__bytes.sum"};
                   },
                   "--metrics=roofline,dram__bytes.sum"},
        OneSetting{"budget", [](Settings& s) { s.budget = 2.5; }, "--budget=2.5%"},
        OneSetting{"every", [](Settings& s) { s.every_s = 5400; }, "--every=5400s"},
        OneSetting{"layers", [](Settings& s) { s.layers = ModuleLayers::off; }, "--layers=off"},
        OneSetting{"memory", [](Settings& s) { s.memory = true; }, "--memory=true"},
        OneSetting{"no_command", [](Settings& s) { s.no_command = true; }, "--no-command=true"},
        OneSetting{"record", [](Settings& s) { s.record = "r.jsonl"; }, "--record=r.jsonl"},
        OneSetting{"time_and_hw", [](Settings& s) { s.phase_flops = false; }, "--phases=hw,time"},
        OneSetting{"two",
                   [](Settings& s) {
                     s.wait = 3;
                     s.active = 2;
                   },
                   "--wait=3 --active=2"},
        OneSetting{"then", [](Settings& s) { s.then = Then::stop; }, "--then=stop"},
        OneSetting{"ranks", [](Settings& s) { s.ranks = "0::8"; }, "--ranks=0::8"},
        OneSetting{"max_keys", [](Settings& s) { s.max_keys = 7; }, "--max-keys=7"},
        OneSetting{"cupti", [](Settings& s) { s.cupti = "/opt/a b/libcupti.so.13"; },
                   "'--cupti=/opt/a b/libcupti.so.13'"},
        OneSetting{"manifest", [](Settings& s) { s.manifest = "/tmp/m"; }, "--manifest=/tmp/m"},
        OneSetting{"playback", [](Settings& s) { s.playback = "-x"; }, "--playback=-x"}),
    [](const auto& one) { return one.param.name; });

TEST(Settings, EveryCharacterSurvivesTheWay) {
  Settings odd;
  odd.step_range = "it's \"a\" $HOME `x` a\tb\nc # ;|&<>~!";
  for (int byte = 1; byte < 256; ++byte) odd.output += static_cast<char>(byte);
  odd.fold = {"'", "\"", "a\\\\b", "--active=9", "-k"};
  odd.manifest = "\\";
  const ParsedOptions parsed = parse_options(to_options(odd));
  EXPECT_EQ(parsed.error, "");
  expect_equal(parsed.settings, odd);
}

TEST(Settings, ReadsWhatAPersonWouldType) {
  const ParsedOptions parsed = parse_options(
      "  -o 'my report.json'\t--phases time,hw --step-range \"it's \\\"x\\\"\" -k gemm -k a\\ b\n"
      "--active 3 --active=5 ");
  EXPECT_EQ(parsed.error, "");
  Settings expected;
  expected.output = "my report.json";
  expected.phase_flops = false;
  expected.step_range = "it's \"x\"";
  expected.kernels = {"gemm", "a b"};
  expected.active = 5;  // the last one counts
  expect_equal(parsed.settings, expected);
}

struct WrongText {
  std::string text, error;
};

class SettingsWrong : public testing::TestWithParam<WrongText> {};

TEST_P(SettingsWrong, IsOneSentenceAndTheDefaults) {
  const ParsedOptions parsed = parse_options("--active 9 " + GetParam().text);
  EXPECT_EQ(parsed.error, GetParam().error);
  expect_equal(parsed.settings, Settings());
}

const std::string kNumber = " takes a whole number from ";
const std::string kTime = "--every takes a time from 1s to 365d such as 30s, 10m, 1h or 1d, not ";
const std::string kShare = " takes the share of the run that measuring may add, such as 3%, ";

INSTANTIATE_TEST_SUITE_P(
    Each, SettingsWrong,
    testing::Values(
        WrongText{"--step-range '('",
                  "--step-range takes a regular expression, and '(' is not one: unmatched "
                  "parenthesis, or a sign such as * that stands alone."},
        WrongText{"--step-range " + std::string(30000, '('),
                  "--step-range takes a regular expression of at most 4096 characters and 100 "
                  "nested parentheses."},
        WrongText{"--step-range ''", "--step-range takes a regular expression, not an empty text."},
        WrongText{"--fold '('",
                  "--fold takes a regular expression, and '(' is not one: unmatched "
                  "parenthesis, or a sign such as * that stands alone."},
        WrongText{"--fold a --fold '['",
                  "--fold takes a regular expression, and '[' is not one: unmatched bracket."},
        WrongText{"-k regex:[",
                  "--kernel takes a regular expression, and '[' is not one: unmatched bracket."},
        WrongText{"--phases hw,cycles",
                  "--phases takes a list of hw, flops and time such as hw,time; 'cycles' is none "
                  "of them."},
        WrongText{"--phases ''",
                  "--phases takes a list of hw, flops and time such as hw,time; '' is none of "
                  "them."},
        WrongText{"--repeat 0", "--repeat" + kNumber + "1 to 1000, not '0'."},
        WrongText{"--repeat 1001", "--repeat" + kNumber + "1 to 1000, not '1001'."},
        WrongText{"--wait -1", "--wait" + kNumber + "0 to 4294967295, not '-1'."},
        WrongText{"--window 1e3", "--window" + kNumber + "1 to 4294967295, not '1e3'."},
        WrongText{"--ranks 0:8:0",
                  "--ranks takes ranks such as 0,7 or slices of them such as 0:8 (0 to 7) or 0::8 "
                  "(every eighth), not '0:8:0'."},
        WrongText{"--max-keys 4294967296",
                  "--max-keys" + kNumber + "1 to 4294967295, not '4294967296'."},
        WrongText{"--ranges both", "--ranges takes 'user' or 'auto', not 'both'."},
        WrongText{"--scope step", "--scope takes 'kernel' or 'range', not 'step'."},
        WrongText{"--replay all", "--replay takes 'none' or 'kernel', not 'all'."},
        WrongText{"--scope range --replay kernel",
                  "--scope range counts the launches of a layer together and takes no --replay "
                  "kernel, which counts each alone: leave one of them out."},
        WrongText{"--ranges auto --scope range",
                  "--scope range counts the launches of a layer together and takes no --ranges "
                  "auto, which counts each alone: leave one of them out."},
        WrongText{"--scope range --record r",
                  "--scope range counts the launches of a layer together and takes no --record, "
                  "which keeps what each counted alone: leave one of them out."},
        WrongText{"--metrics roofline,,mix",
                  "--metrics takes names separated by commas such as roofline,dram__bytes.sum; '' "
                  "is not a name."},
        WrongText{"--metrics 'a b'",
                  "--metrics takes names separated by commas such as roofline,dram__bytes.sum; 'a "
                  "b' is not a name."},
        WrongText{"--metrics cahce",
                  "--metrics takes the sets roofline, mix, warps and cache, and CUPTI's metrics, "
                  "which are named like dram__bytes.sum; 'cahce' is neither."},
        WrongText{"--budget 0", "--budget" + kShare + "not '0'."},
        WrongText{"--budget 3%%", "--budget" + kShare + "not '3%%'."},
        WrongText{"--budget nan", "--budget" + kShare + "not 'nan'."},
        WrongText{"--every 60", kTime + "'60'."}, WrongText{"--every 0s", kTime + "'0s'."},
        WrongText{"--every 366d", kTime + "'366d'."}, WrongText{"--every 1.5h", kTime + "'1.5h'."},
        WrongText{"--every h", kTime + "'h'."},
        WrongText{"--every 4294967296s", kTime + "'4294967296s'."},
        WrongText{"--every 1h --then stop",
                  "--every measures again and again, and --then stop ends the program after its "
                  "first queue: leave one of them out."},
        WrongText{"--layers on", "--layers takes 'auto' or 'off', not 'on'."},
        WrongText{"--then exit", "--then takes 'continue' or 'stop', not 'exit'."},
        WrongText{"--output ''", "--output takes a file name, not an empty text."},
        WrongText{"--acive 3", "There is no option '--acive'; gable env --help lists the options."},
        WrongText{"python", "There is no option 'python'; gable env --help lists the options."},
        WrongText{"--help", "There is no option '--help'; gable env --help lists the options."},
        WrongText{"--step-range", "--step-range needs a value."},
        WrongText{"-o 'a", "A quote is left open in the options --active 9 -o 'a."}),
    [](const auto& one) { return "N" + std::to_string(one.index); });

TEST(Settings, WhatIsNotSaidIsAsTheManualSays) {
  const Settings usual;
  EXPECT_EQ(usual.output, "gable-%h-%p.json");
  EXPECT_TRUE(usual.phase_hw && usual.phase_flops && usual.phase_time);
  EXPECT_FALSE(usual.wait || usual.warmup || usual.active || usual.budget || usual.ranges ||
               usual.every_s);
  EXPECT_EQ(usual.repeat, 1u);
  EXPECT_EQ(usual.window, 200u);
  EXPECT_EQ(usual.max_keys, 20000u);
  EXPECT_FALSE(usual.no_command || usual.memory);
}

TEST(Settings, NumbersReachToTheirBorders) {
  const auto parsed = parse_options(
      "--wait 0 --warmup 0 --active 1 --repeat 1000 --window 1 --max-keys 1 --budget 1000");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.settings.wait, 0u);
  EXPECT_EQ(parsed.settings.warmup, 0u);
  EXPECT_EQ(parsed.settings.active, 1u);
  EXPECT_EQ(parsed.settings.repeat, 1000u);
  EXPECT_EQ(parsed.settings.window, 1u);
  EXPECT_EQ(parsed.settings.max_keys, 1u);
  EXPECT_EQ(parsed.settings.budget, 1000);
  for (const std::string below : {"--active", "--repeat", "--window", "--max-keys"})
    EXPECT_NE(parse_options(below + " 0").error, "") << below;
  for (const std::string option : {"--wait", "--warmup", "--active", "--window", "--max-keys"})
    EXPECT_EQ(parse_options(option + " 4294967295").error, "") << option;
}

TEST(Settings, ABudgetIsAPositiveShare) {
  EXPECT_EQ(parse_options("--budget 3%").settings.budget, 3);
  EXPECT_EQ(parse_options("--budget 3").settings.budget, 3);
  EXPECT_EQ(parse_options("--budget 0.5%").settings.budget, 0.5);
  EXPECT_EQ(parse_options("--budget 1e-3").settings.budget, 0.001);
  for (const std::string wrong : {"1000.5", "0%", "-1", "%", "3x", "inf"})
    EXPECT_NE(parse_options("--budget " + wrong).error, "") << wrong;
}

TEST(Settings, ATimeHasAUnit) {
  for (const auto& [text, seconds] : std::map<std::string, std::uint32_t>{
           {"1s", 1}, {"90s", 90}, {"10m", 600}, {"1h", 3600}, {"365d", 31'536'000}})
    EXPECT_EQ(parse_options("--every " + text).settings.every_s, seconds) << text;
}

TEST(Settings, AMetricIsTakenOnce) {
  const auto parsed = parse_options("--metrics cache,a__b.sum,cache --metrics mix,a__b.sum");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.settings.metrics, (std::vector<std::string>{"cache", "a__b.sum", "mix"}));
  EXPECT_NE(parse_options("--metrics a__b,").error, "");
  EXPECT_NE(parse_options("--metrics ''").error, "");
}

TEST(Settings, AnExpressionBeginsWithItsPrefix) {
  const auto parsed = parse_options("-k 'a regex:[' --include b --exclude c");
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.settings.kernels, std::vector<std::string>{"a regex:["});
  EXPECT_NE(parse_options("--include regex:[").error, "");
  EXPECT_NE(parse_options("--exclude ''").error, "");
  EXPECT_NE(parse_options("--fold ''").error, "");
  EXPECT_NE(parse_options("--record ''").error, "");
}

TEST(Settings, WhatGoesTogether) {
  for (const std::string good : {"--scope range --ranges user", "--scope kernel --replay kernel",
                                 "--ranges auto --replay kernel --record r", "--scope range"})
    EXPECT_EQ(parse_options(good).error, "") << good;
}

}  // namespace
}  // namespace gable
