// SPDX-License-Identifier: Apache-2.0
// The table as a user sees it.
#include "tools/show/table.h"

#include <sstream>

#include "analysis/base/display.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class Table : public ProfileTest {
 protected:
  RunInfo info;

  Table() {
    info.pid = 4711;
    info.source = Source::playback;
    info.complete = true;
    profile.add_device(a100());
    profile.set_metrics(kHw1, kHwMetrics);
    profile.set_metrics(kFlops, kFlopsMetrics);
  }
  // One launch of `launched` in a window of each phase: FLOP in ffma, bytes in reads, time.
  void measured(const LaunchKey& launched, double flop, double bytes, std::uint64_t ns) {
    sample_.push_back({launched, flop, bytes, ns});
  }
  Report made(std::uint64_t steps = 10) {
    WindowId id = 0;
    begin(++id, kHw1);
    for (const auto& s : sample_) sample(kHw1, s.key, {s.bytes / 32, 0, static_cast<double>(s.ns)});
    end(kHw1);
    begin(++id, kFlops);
    for (const auto& s : sample_) sample(kFlops, s.key, {0, 0, s.flop / 2});
    end(kFlops);
    begin(++id, kTime);
    std::uint64_t now = 1000;
    for (const auto& s : sample_) {
      timed(s.key, now, now + s.ns);
      now += s.ns;
    }
    end(kTime);
    for (std::uint64_t i = 0; i < steps; ++i) profile.count_step(1);
    return kept(build_report(profile, info));
  }
  static std::string shown(const std::vector<Report>& reports, std::size_t columns = 100,
                           const std::string& next = {}) {
    TableOptions options;
    options.columns = columns;
    options.next_command = next;
    return render_table(reports, options);
  }
  // On one line, with single spaces.
  static std::string text_of(const Report& report) {
    std::istringstream words(shown({report}));
    std::string text;
    for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
    return text;
  }

 private:
  struct Sample {
    LaunchKey key;
    double flop, bytes;
    std::uint64_t ns;
  };
  std::vector<Sample> sample_;
};

std::string line(const std::string& text, std::size_t number) {
  std::istringstream lines(text);
  std::string found;
  for (std::size_t i = 0; i <= number; ++i) std::getline(lines, found);
  return found;
}

TEST_F(Table, ASmallReport) {
  // Roofs of 1 ms each: 19.49184 GFLOP at FP32, 1.5552 GB at DRAM.
  measured(key(layer({"Net", "conv"}, Direction::forward), "conv"), 19.49184e9, 0.15552e9,
           1'250'000);
  measured(key(layer({"Net", "norm"}, Direction::forward), "norm"), 0.1e9, 1.5552e9, 2'000'000);
  measured(key(layer({"Net", "tiny"}, Direction::backward), "tiny"), 0, 0.15552e9, 750'000);
  EXPECT_EQ(shown({made()}, 100, "gable report x.json"),
            R"([playback] a program on NVIDIA A100-SXM4-40GB
196 GFLOP, 18.7 GB DRAM, 10.5 FLOP/B, 40.0 ms GPU, 4.90 TFLOP/s (extrapolated)
1 of 10 steps seen was measured and stands for all of them; later steps are not counted
Roofs: theoretical at 1.41 GHz, the highest clock

3 of 3 layers, largest saving first; saving per step:
layer     direction    time  TFLOP/s  GB/s  FLOP/B  bound    of roof   saving
Net/norm  forward    50.0 %    0.050   778   0.064  memory    50.0 %  1.00 ms
Net/tiny  backward   18.8 %        0   207       0  small     13.3 %   650 us
Net/conv  forward    31.2 %     15.6   124     125  compute   80.0 %   250 us

Nothing was lost.
What would help most (one item's saving may be part of another's):
- up to 1.09 ms: 31.2 % of the GPU time is FP32 work on CUDA cores; its roof is compute, not memory.
  Let matrix products and convolutions use tensor cores: TF32 (CUBLAS_TF32_TENSOR_OP_MATH in
  cuBLAS), BF16 or FP16. Layers: Net/conv (forward). Kernels: conv.
- up to 1.00 ms: 50.0 % of the GPU time is memory-bound kernels below 75.0 % of the memory roof.
  Use each byte better: tile for cache or shared memory, load wider. gable profile --metrics cache
  shows hit rates and sectors per load. Layers: Net/norm (forward). Kernels: norm.
- up to 650 us: 18.8 % of the GPU time is kernels with small grids, below 25.0 % of both roofs.
  Give each kernel more to do at once: a larger batch, independent work on several streams, split-K
  or another algorithm for small sizes. Layers: Net/tiny (backward). Kernels: tiny.
Note: How long a step takes on the GPU is unknown: it lasts until the next step's first kernel, and
no two consecutive steps were timed. Let the program run for one more step.
Note: Tensor cores were not fully counted for 3 kernels: their FLOPs are those of the CUDA cores
plus what was counted.
Next: gable report x.json
)");
}

TEST_F(Table, AStepsTimeIsTakenApart) {
  const LaunchKey decode = key(layer({"decode"}), "k");
  profile.count_step(1);
  begin(1, kTime);
  record(launch(decode), 1000, 701000);
  profile.add(TokenCount{decode.layer, 1, 8, 1});
  profile.add(CopyCall{decode.layer, 1, next_correlation});
  profile.add(CopyRecord{
      800000, 850000, 64, next_correlation++, 0, CopyKind::memset, 0, false, 0, {}, false});
  profile.add(LayerSpan{decode.layer, 1, 0, 0, 0, 120000});
  end(kTime, true, 1000, 601000, {}, 1);
  std::string text = shown({kept(build_report(profile, info))});
  EXPECT_EQ(line(text, 3),
            "A step: unknown on the GPU, busy 700 us, copies 50.0 us, host 600 us, waits 120 us");
  EXPECT_EQ(line(text, 4),
            "decode: 600 us a token on the host, 13.3 ktokens/s (8 sequences, 1 forward timed)");
  begin(2, kTime);
  record(launch(decode), 1001000, 1701000);
  end(kTime, true, 1001000, 1601000, {}, 1);
  text = shown({kept(build_report(profile, info))});
  EXPECT_EQ(line(text, 3),
            "A step: 1.00 ms, GPU busy 700 us, idle 300 us (30.0 %), copies 25.0 us, host 600 us, "
            "waits 60.0 us");
  EXPECT_EQ(line(text, 4),
            "decode: 1.00 ms a token, 8.00 ktokens/s (8 sequences, 1 forward timed)");
}

// The program waited for all of it: its time is the GPU's, although no further step was seen.
TEST_F(Table, SaysWhatMeasuringAddedToARunOnAGpu) {
  measured(key(layer({"Net", "conv"}, Direction::forward), "conv"), 19.49184e9, 0.15552e9,
           1'250'000);
  Report report = made();
  report.run.overhead.added_ns = 1.25e9;
  report.run.overhead.added_percent = 3;
  EXPECT_EQ(shown({report}).find("Measuring added"), std::string::npos);  // from playback
  report.run.source = Source::cupti;
  EXPECT_NE(shown({report}).find("\nMeasuring added at most 1.25 s (3.00 % of the time up to its "
                                 "last window)\n"),
            std::string::npos)
      << shown({report});
  report.run.overhead.added_ns.reset();
  EXPECT_EQ(shown({report}).find("Measuring added"), std::string::npos);
}

TEST_F(Table, AStepAloneIsAsLongAsTheHostsWhereTheGpuIsDone) {
  profile.count_step(1);
  begin(1, kTime);
  record(launch(key(layer({"a"}), "k")), 1200, 701200);
  end(kTime, true, 1000, 1001000, {}, 1);
  EXPECT_EQ(line(shown({kept(build_report(profile, info))}), 3),
            "A step: unknown on the GPU, busy 700 us, host 1.00 ms");  // it may be the first of all
  profile.count_step(1);
  EXPECT_EQ(line(shown({kept(build_report(profile, info))}), 3),
            "A step: 1.00 ms, GPU busy 700 us, idle 300 us (30.0 %), host 1.00 ms");
}

// GPUs that the process sees and does not use do not count.
TEST_F(Table, GpusOfAStepAreThoseThatRanSomething) {
  const LaunchKey kernel = key(layer({"a"}), "k");
  profile.count_step(1);
  begin(1, kTime);
  record(launch(kernel), 1000, 701000);
  end(kTime, true, 1000, 3000, {}, 1);
  begin(2, kTime);
  record(launch(kernel), 1001000, 1701000);
  end(kTime, true, 3000, 5000, {}, 1);
  Report report = kept(build_report(profile, info));
  report.devices.push_back(report.devices.front());
  report.devices.back().id = 1;
  EXPECT_EQ(line(shown({report}), 3),
            "A step: 1.00 ms, GPU busy 700 us, idle 300 us (30.0 %), host 2.00 us");
  report.layers.push_back(report.layers.front());
  report.layers.back().device = 1;
  EXPECT_EQ(line(shown({report}), 3),
            "A step: 1.00 ms, a GPU busy 700 us, all idle 300 us (30.0 %), host 2.00 us");
}

TEST_F(Table, AProgramThatRunsAheadHasTheGpusStep) {
  const LaunchKey kernel = key(layer({"a"}), "k");
  profile.count_step(1);
  begin(1, kTime);
  record(launch(kernel), 1000, 701000);
  end(kTime, true, 1000, 3000, {}, 1);
  begin(2, kTime);
  record(launch(kernel), 701000, 1401000);
  end(kTime, true, 3000, 5000, {}, 1);
  EXPECT_EQ(line(shown({kept(build_report(profile, info))}), 3),
            "A step: 700 us, GPU busy 700 us, host 2.00 us");
}

TEST_F(Table, WhatIsUnknownIsADashAndSaidBelow) {
  begin(1, kTime);
  timed(key(layer({"a"}), "k"), 100, 1100);
  timed(key(layer({"b"}), "k"), 2000, 5000);
  end(kTime);
  info.source = Source::cupti;
  const Report report = kept(build_report(profile, info));
  EXPECT_EQ(shown({report}),
            R"(a program on NVIDIA A100-SXM4-40GB
FLOP unknown, DRAM bytes unknown, - FLOP/B, 4.00 us GPU, - FLOP/s (measured)
every launch was timed
Roofs: theoretical at 1.41 GHz, the highest clock

2 of 2 layers, longest first; saving per run:
layer    time  TFLOP/s  GB/s  FLOP/B  bound    of roof  saving
b      75.0 %        -     -       -  unknown        -       -
a      25.0 %        -     -       -  unknown        -       -

Unknown: all FLOPs, all bytes.
Note: The launch latency is unknown, and so is which short kernels it limits: no launch found its
GPU idle while times were taken.
)");
}

TEST_F(Table, TheFirstThreeNotesAreSaid) {
  measured(key(layer({"a"}), "k"), 1e9, 1e9, 1'000'000);
  Report report = made();
  report.run.notes = {"One.", "Two.", "Three."};
  EXPECT_NE(shown({report}).find("\nNote: One.\nNote: Two.\nNote: Three.\n"), std::string::npos);
  EXPECT_EQ(shown({report}).find("more note"), std::string::npos);
  report.run.notes.emplace_back("Four.");
  EXPECT_NE(shown({report}).find("\nAnd 1 more note: on the page, and in the report.\n"),
            std::string::npos);
  EXPECT_EQ(shown({report}).find("Four."), std::string::npos);
  report.run.notes.emplace_back("Five.");
  EXPECT_NE(shown({report}).find("\nAnd 2 more notes: "), std::string::npos);
  EXPECT_NE(shown({report, report}).find("\nAnd 2 more notes: on the page, and in the reports.\n"),
            std::string::npos);
}

TEST_F(Table, OfSeveralProcessesEachNoteIsSaidOnce) {
  measured(key(layer({"a"}), "k"), 1e9, 1e9, 1'000'000);
  Report first = made(), second = made();
  first.run.notes = {"Of both.", "Of the first."};
  second.run.notes = {"Of the second.", "Of both."};
  const std::string all =
      "\nNote: Of both.\nNote: In 1 of 2 processes: Of the first.\n"
      "Note: In 1 of 2 processes: Of the second.\n";
  EXPECT_NE(shown({first, second}).find(all), std::string::npos);

  TableOptions options;
  options.printed_notes = false;
  EXPECT_EQ(render_table({first, second}, options).find("Note:"), std::string::npos)
      << "processes without a rank print their own";
  first.run.rank = 0;
  second.run.rank = 1;
  const std::string quiet = "Note: In 1 of 2 processes: Of the second.\n";
  EXPECT_EQ(render_notes({first, second}, options), quiet);
  EXPECT_NE(render_table({first, second}, options).find("\n" + quiet), std::string::npos);
  EXPECT_EQ(render_notes({second}, options), "Note: Of the second.\nNote: Of both.\n")
      << "without the first rank nobody has printed them";
}

TEST_F(Table, TensorCoreWorkIsInferredAndNeverAnIdleLayer) {
  measured(key(layer({"conv3"}), "xmma_fprop_tf32f32_tilesize128x128x16"), 0, 1e6, 300'000);
  measured(key(layer({"fc1"}), "ampere_sgemm_128x64_tn"), 9667346432, 1e6, 817'000);
  const Report report = made();
  const std::string text = shown({report});
  EXPECT_EQ(
      kernel_named(report, "xmma_fprop_tf32f32_tilesize128x128x16").counters.at(kFlopsMetrics[2]),
      0);
  EXPECT_NE(text.find("conv3  26.9 %  tensor?  3.33       -  unknown        -       -"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("fc1    73.1 %     11.8"), std::string::npos) << text;
  EXPECT_NE(text.find("\ntensor?: work on tensor cores, by a kernel's name or instructions; it was "
                      "not counted.\n"),
            std::string::npos)
      << text;
  EXPECT_NE(line(text, 1).find("at least 96.7 GFLOP"), std::string::npos)
      << text;  // not passed off as all
  EXPECT_NE(line(text, 1).find("- FLOP/s"), std::string::npos) << text;
  EXPECT_TRUE(has_note(report, "1 kernel used tensor cores, as their names or instructions show"));
}

TEST_F(Table, KernelsAreShownWhereThereIsNoLayer) {
  measured(key(0, "first_kernel(float*)"), 1e9, 1e6, 100'000);
  measured(key(0, "second_kernel(float*)"), 1e9, 1e6, 900'000);
  const std::string text = shown({made()});
  EXPECT_EQ(line(text, 5), "2 of 2 kernels, largest saving first; saving per step:");
  EXPECT_EQ(line(text, 6).rfind("kernel ", 0), 0u) << text;
  EXPECT_EQ(line(text, 7).rfind("second_kernel(float*)  90.0 %", 0), 0u) << text;
}

TEST_F(Table, WhatWasLostIsNamed) {
  measured(key(layer({"a"}), "k"), 1e9, 1e6, 100'000);
  measured(key(layer({"b"}), "k"), 1e9, 1e6, 100'000);
  info.lost = {1, 2, 3, 4, 5, 6, 7};
  info.complete = false;
  const std::string text = shown({made()});
  EXPECT_EQ(text.rfind("[playback] [unfinished] ", 0), 0u) << text;
  EXPECT_NE(text.find("\nLost: 1 record, 2 counter ranges, 3 zero timestamps, 4 windows, 5 "
                      "unattributed launches, 6 f"),
            std::string::npos)
      << text;
  EXPECT_NE(shown({made()}, 200).find("6 folded keys, 7 folded layers.\n"), std::string::npos);
}

TEST_F(Table, NoLineIsWiderThanTheTerminal) {
  const std::string deep =
      "a_long_name_of_a_module_that_goes_on_and_on_and_on_and_on_and_on_and_on";
  for (int i = 0; i < 15; ++i)
    measured(
        key(layer({deep, "層層層層層層層層層層層層層層層層層", "part" + std::to_string(i)}), deep),
        1e9, 1e6, std::uint64_t{100'000} + static_cast<std::uint64_t>(i));
  const std::string text = shown({made()});
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each);) EXPECT_LE(display_width(each), 100u) << each;
  EXPECT_NE(text.find("10 of 15 layers"), std::string::npos);
  EXPECT_NE(text.find("…"), std::string::npos);
  EXPECT_NE(text.find("/part14 "), std::string::npos) << text;  // what tells rows apart stays
}

TEST_F(Table, SeveralProcessesHaveOneTable) {
  measured(key(layer({"a"}), "k"), 1e9, 1e6, 300'000);
  measured(key(layer({"b"}), "k"), 1e9, 1e6, 100'000);
  Report first = made(), second = first;
  first.run.rank = 0;
  second.run.pid = 99;
  const std::string text = shown({first, second});
  EXPECT_EQ(line(text, 2).rfind("2 processes; ", 0), 0u) << text;
  EXPECT_NE(line(text, 1).find("40.0 GFLOP"), std::string::npos) << text;  // 2 x 10 steps x 2 GFLOP
  EXPECT_NE(text.find("rank 0"), std::string::npos);
  EXPECT_NE(text.find(" 99 "), std::string::npos);
  EXPECT_NE(text.find("4 of 4 layers"), std::string::npos);
}

// What is missing has its remedy, and its number is that of the chip's plan.
TEST_F(Table, SaysHowManyStepsAreEnough) {
  measured(key(layer({"a"}), "k"), 1e9, 1e6, 300'000);
  Report report = made(5);
  auto& steps = report.run.steps;
  steps.hw = 3;
  steps.flops = steps.time = 0;
  steps.needed = 14;  // nine hardware passes
  EXPECT_NE(text_of(report).find("let the program run longer: 14 steps of the same launches are "
                                 "enough, and it had 5."),
            std::string::npos);
  steps.seen = 20;  // they differed
  EXPECT_NE(text_of(report).find("run longer, by 3 steps or more."), std::string::npos);
  steps.seen = 5;
  steps.needed.reset();
  EXPECT_NE(text_of(report).find("run longer, by 3 steps or more."), std::string::npos);
  steps.flops = steps.time = 1;
  EXPECT_EQ(text_of(report).find("run longer"), std::string::npos);
}

TEST_F(Table, SaysHowManyStepsAreEnoughWhereNoneWasKnown) {
  measured(key(layer({"a"}), "k"), 1e9, 1e6, 300'000);
  Report report = made();
  auto& steps = report.run.steps;
  report.run.unit = Unit::run;
  steps.seen = 0;
  steps.hw = 3;
  steps.flops = steps.time = 0;
  steps.needed = 14;
  EXPECT_NE(text_of(report).find("(--step-range): 14 steps of the same launches are enough. "
                                 "--active 1 alone does not help."),
            std::string::npos);
}

TEST_F(Table, SaysHowManyStepsAreEnoughWhereNothingWasMeasured) {
  measured(key(layer({"a"}), "k"), 1e9, 1e6, 300'000);
  Report report = made(1);
  report.run.steps.hw = report.run.steps.flops = report.run.steps.time = 0;
  EXPECT_EQ(text_of(report).find("before anything was measured"), std::string::npos)
      << "no number of steps helps where everything was given up";
  report.run.steps.needed = 9;
  EXPECT_NE(text_of(report).find("before anything was measured. Let it run longer: 9 steps of the "
                                 "same launches are enough, and it had 1."),
            std::string::npos);
}

TEST_F(Table, WithoutAReportItSaysSo) { EXPECT_EQ(shown({}), "No process launched a kernel.\n"); }

}  // namespace
}  // namespace gable::tests
