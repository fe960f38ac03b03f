// SPDX-License-Identifier: Apache-2.0
// What commands refuse before they read a file: exit code 2, and a sentence that names what is
// wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "tests/unit/tools/run_gable.h"

namespace gable::tests {
namespace {

struct Case {
  const char* words;
  const char* says;
};

void expect_refused(std::initializer_list<Case> cases) {
  for (const auto& [words, says] : cases) {
    const Ran ran = run_gable(words);
    EXPECT_EQ(ran.code, 2) << words;
    EXPECT_EQ(ran.out, "") << words;
    EXPECT_NE(ran.err.find(says), std::string::npos) << words << ": " << ran.err;
  }
}

TEST(Refusals, Predict) {
  expect_refused({
      {"predict", "--gpu"},
      {"predict --gpu A100-40GB", "one of"},
      {"predict x --gpu A100-40GB --model resnet50", "one of"},
      {"predict x --gpu A100-40GB --flops 0 --bytes 1", "one of"},
      {"predict x --gpu A100-40GB --bytes 0", "one of"},
      {"predict x --gpu A100-40GB --batch 3", "--batch"},
      {"predict --gpu A100-40GB --model resnet50 --sequence 5", "--sequence"},
      {"predict x --gpu A100-40GB --efficiency 0.5", "--efficiency"},
      {"predict x --gpu A100-40GB --overhead 5", "--overhead"},
      {"predict x --gpu A100-40GB --training", "--training"},
      {"predict --gpu A100-40GB --model llama2-7b-decode --training", "--training"},
      {"predict --gpu A100-40GB --model resnet50 --top 5", "--top"},
      {"predict --gpu A100-40GB --flops 1e9", "--bytes"},
      {"predict --gpu A100-40GB --flops 1e9 --bytes 0", "--bytes"},
      {"predict --gpu A100-40GB --flops -1 --bytes 1", "--flops"},
      {"predict --gpu A100-40GB --flops inf --bytes 1", "--flops"},
      {"predict --gpu A100-40GB --flops 1 --bytes inf", "--flops"},
      {"predict --gpu A100-40GB --flops 1e9 --bytes 1e6 --efficiency 0", "--efficiency"},
      {"predict --gpu A100-40GB --flops 1e9 --bytes 1e6 --efficiency 1.01", "--efficiency"},
      {"predict --gpu A100-40GB --flops 1e9 --bytes 1e6 --overhead -1", "--overhead"},
      {"predict --gpu A100-40GB --flops 1e9 --bytes 1e6 --overhead inf", "--overhead"},
      {"predict --gpu A100-40GB --flops 1e9 --bytes 1e6 --precision fp12", "'fp12'"},
      {"predict --gpu A100-40GB --flops 1e9 --bytes 1e6 --html x.html", "--html"},
      {"predict --gpu '' --flops 1e9 --bytes 1e6", "--gpu"},
      {"predict --gpu Z99 --flops 1e9 --bytes 1e6", "'Z99'"},
      {"predict --gpu ./none.json --flops 1e9 --bytes 1e6", "none.json"},
      {"predict --gpu A100-40GB --model resnet50 --batch 0", "'0'"},
      {"predict --gpu A100-40GB --model resnet50 --batch 65537", "'65537'"},
      {"predict --gpu A100-40GB --model resnet50 --batch 8,1x", "'1x'"},
      {"predict --gpu A100-40GB --model resnet50 --batch x", "'x'"},
      {"predict --gpu A100-40GB --model resnet50 --batch ''", "--batch"},
      {"predict --gpu A100-40GB --model none", "'none'"},
      {"predict --gpu A100-40GB --model llama2-7b-prefill --sequence 0", "--sequence"},
      {"predict --gpu A100-40GB --model llama2-7b-prefill --sequence 10000001", "--sequence"},
      {"predict x --gpu A100-40GB --top 0", "--top"},
      {"predict x --gpu A100-40GB --top 1000001", "--top"},
  });
}

TEST(Refusals, CommandsThatCompareReports) {
  expect_refused({
      {"merge", "FILE"},
      {"merge a", "--output"},
      {"merge gable-none -o b", "gable-none"},
      {"diff a", "needs B"},
      {"diff a b --sort x", "'x'"},
      {"diff a b --top 0", "--top"},
      {"diff a b --top 1000001", "--top"},
      {"diff gable-none b", "gable-none"},
      {"check a", "--baseline"},
      {"check a --baseline b --gate -1", "10000"},
      {"check a --baseline b --gate 10001", "10000"},
      {"check a --baseline b --gate nan", "10000"},
      {"check a --baseline b --what x", "'x'"},
      {"check a --baseline b --what ''", "--what"},
      {"check b --baseline gable-none --gate 10000", "gable-none"},
      {"check a a --baseline b", "a"},
      {"report a --sort x", "'x'"},
      {"report a --level l3", "'l3'"},
      {"report a --depth 1 --kernels", "--depth"},
      {"report a --depth 1 --csv -", "--depth"},
      {"report a --depth 1 --html -", "--depth"},
      {"report a --depth 1 --svg -", "--depth"},
      {"report a --depth 1 --markdown -", "--depth"},
      {"report a --depth 1001", "--depth"},
      {"report a --top 0", "--top"},
      {"report a --trace x --csv y", "--trace"},
      {"report a --trace x --html y", "--trace"},
      {"report a b --trace x", "--trace"},
      {"report gable-none --trace x", "gable-none"},
      {"report gable-none", "gable-none"},
  });
}

TEST(Refusals, Import) {
  expect_refused({
      {"import", "--output"},
      {"import -o x.json", "--ncu, --nsys, --kineto, --xplane or --proton FILE"},
      {"import --ncu gable-none -o x.json", "gable-none"},
      {"import --ncu a --gpu Z99 -o x.json", "'Z99'"},
      {"import --ncu a --gpu '' -o x.json", "''"},
      {"import --ncu a --gpu ./none.json -o x.json", "none.json"},
      {"import --ncu a --step-range '[' -o x.json", "--step-range"},
      {"import --ncu a --step-range '' -o x.json", "--step-range"},
      {"import --ncu a --ncu a -o x.json", "a"},
      {"import --ncu a --ranks -o x.json", "--ranks"},
      {"import --ncu a -o /nonexistent/folder/x.json", "/nonexistent/folder"},
  });
}

TEST(Refusals, Window) {
  expect_refused({
      {"window 0", "4711"},
      {"window 4194305", "4711"},
      {"window 4194304", "Process 4194304"},
      {"window 5 --steps 0", "--steps"},
      {"window x", "PID"},
  });
}

#if GABLE_HAVE_INJECT

TEST(Refusals, Doctor) {
  expect_refused({
      {"doctor --metrics mix", "--chip"},
      {"doctor --markdown", "--chip"},
      {"doctor --chip all", "--markdown"},
      {"doctor --chip GH100 --markdown", "--chip all"},
      {"doctor --chip all --markdown --metrics mix", "--metrics"},
  });
}

#endif

#if GABLE_HAVE_INJECT && defined(GABLE_CUPTI_LIBRARY)

Ran plan_of(const std::string& metrics, const std::string& chip = "GH100") {
  return run_gable("doctor --cupti '" GABLE_CUPTI_LIBRARY "' --chip " + chip + " --metrics " +
                   metrics);
}

TEST(Doctor, PlansWhatAChipIsAskedFor) {
  const Ran good = plan_of("sm__cycles_elapsed.max", "gh100");
  EXPECT_EQ(good.code, 0);
  EXPECT_EQ(good.err, "");
  EXPECT_EQ(good.out.rfind("GH100: 1 pass, in", 0), 0u) << good.out;
  EXPECT_NE(good.out.find("sm__cycles_elapsed.max"), std::string::npos);
  const Ran some = plan_of("sm__cycles_elapsed.max,foo__bar.sum");
  EXPECT_EQ(some.code, 2);
  EXPECT_EQ(some.out.rfind("GH100: 1 pass, in", 0), 0u) << some.out;
  const Ran none = plan_of("foo__bar.sum");
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("foo__bar.sum"), std::string::npos);
  EXPECT_EQ(none.err.find("no counters"), std::string::npos) << none.err;
  const Ran other = plan_of("sm__cycles_elapsed.max", "ZZ1");
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("'ZZ1'"), std::string::npos);
}

#endif

TEST(Predict, NumbersByHandOnTwoGpus) {
  const Ran ran = run_gable(
      "predict --gpu A100-40GB,nvidia-a100-40gb,V100 --flops 1e12 --bytes 1e9 --overhead 5");
  EXPECT_EQ(ran.code, 0);
  // 1e12 FLOP at 312 and at 125 TFLOP/s, and 5 us.
  for (const char* piece : {"[predicted] ", "fp16, every layer", "3.21 ms", "8.01 ms"})
    EXPECT_NE(ran.out.find(piece), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("A100-40GB"), ran.out.rfind("A100-40GB")) << "one board is one column";
  const Ran half = run_gable(
      "predict --gpu A100-40GB --flops 1e12 --bytes 1e9 --precision fp32 "
      "--efficiency 0.5");
  EXPECT_NE(half.out.find("103 ms"), std::string::npos) << half.out;
  EXPECT_EQ(half.out.find("every layer"), std::string::npos);
  const Ran none = run_gable("predict --gpu GTX1080Ti --flops 1e12 --bytes 1e9 --precision fp8");
  EXPECT_NE(none.out.find("\nGTX1080Ti: no published fp8 peak"), std::string::npos) << none.out;
}

TEST(Predict, AModelsBatchesAreRows) {
  const Ran ran = run_gable("predict --gpu A100-40GB --model resnet50 --batch 1,65536 --csv -");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 3) << ran.out;
  const Ran large = run_gable("predict --gpu A100-40GB --model resnet50 --batch 65536 --training");
  EXPECT_NE(large.out.find("\n*: "), std::string::npos) << "it does not fit: " << large.out;
  EXPECT_NE(large.out.find(", training"), std::string::npos);
  const Ran small = run_gable("predict --gpu A100-40GB --model resnet50 --batch 1");
  EXPECT_EQ(small.out.find("\n*: "), std::string::npos);
  EXPECT_EQ(small.out.find("training"), std::string::npos);
}

TEST(Version, IsPrinted) {
  EXPECT_EQ(run_gable("--version").out.rfind("gable ", 0), 0u);
  for (const char* help : {"-h", "help"}) EXPECT_EQ(run_gable(help).code, 0) << help;
}

TEST(Version, AFullDiskIsSaid) {
  const Ran ran = run_shell("'" GABLE_PROGRAM "' --version >/dev/full");
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("Standard output"), std::string::npos);
  EXPECT_EQ(run_shell("'" GABLE_PROGRAM "' --version >&-").code, 0) << "who closes it wants none";
}

}  // namespace
}  // namespace gable::tests
