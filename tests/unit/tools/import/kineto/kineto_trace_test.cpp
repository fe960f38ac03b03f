// SPDX-License-Identifier: Apache-2.0
// What small traces of PyTorch's profiler say.
#include "tools/import/kineto/kineto_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using Texts = std::vector<std::string>;

std::string event(const std::string& category, const std::string& name, int start, int duration,
                  const std::string& args = {}, int thread = 1) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":)" +
         std::to_string(thread) + R"(,"ts":)" + std::to_string(start) + R"(,"dur":)" +
         std::to_string(duration) + R"(,"args":{)" + args + "}},";
}
std::string number(int correlation) {
  return R"("device":0,"stream":7,"context":1,"correlation":)" + std::to_string(correlation);
}
std::string launch(int start, int correlation) {
  return event("cuda_runtime", "cudaLaunchKernel", start, 1, number(correlation));
}
std::string kernel(const std::string& name, int start, int correlation,
                   const std::string& more = {}) {
  return event("kernel", name, start, 2, number(correlation) + more, 99);
}

class KinetoTrace : public testing::Test {
 protected:
  std::string read(const std::string& events, const std::string& more = {}) {
    const std::string text = R"({"schemaVersion":1,)" + more + R"("traceEvents":[)" + events + "]}";
    TextSource source(text, "dir/a.json");
    try {
      read_kineto_trace(source, imported);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  }
  // "layer: name start-end, step".
  Texts kernels() {
    Texts all;
    for (const auto* each = imported.kernels.first(); each != nullptr;
         each = imported.kernels.next())
      all.push_back(imported.layers.shown(each->layer) + ": " +
                    imported.functions.name(each->function) + ' ' + std::to_string(each->start_ns) +
                    '-' + std::to_string(each->end_ns) + ", " + std::to_string(each->step));
    return all;
  }
  Imported imported;
};

TEST_F(KinetoTrace, WorkIsInTheLayerAndStepOfItsCall) {
  EXPECT_EQ(read(event("user_annotation", "ProfilerStep#4", 10, 50) +
                 event("user_annotation", "ProfilerStep#x", 100, 50) +
                 event("python_function", "nn.Module: Net_0", 12, 30) +
                 event("python_function", "main.py: f", 12, 30) +
                 event("user_annotation", "loss", 110, 10) + launch(20, 1) + launch(115, 2) +
                 launch(70, 3) + kernel("a", 200, 1) + kernel("b", 300, 2) + kernel("c", 20, 3) +
                 kernel("d", 120, 9)),
            "");
  EXPECT_EQ(kernels(), (Texts{"(no layer): c 20000-22000, 0", "Net_0: a 200000-202000, 1",
                              "(no layer): d 120000-122000, 2", "loss: b 300000-302000, 2"}));
  ASSERT_EQ(imported.steps.size(), 2u);
  EXPECT_EQ(imported.steps[0].start_ns, 10000u);
  EXPECT_EQ(imported.steps[0].end_ns, 60000u);
  EXPECT_EQ(imported.steps[0].number, 4u);
  EXPECT_EQ(imported.steps[1].number, std::nullopt);
  EXPECT_EQ(imported.without_call, 1u);
  EXPECT_TRUE(imported.has_calls);
  EXPECT_EQ(imported.times_from, Texts{"PyTorch's profiler (a.json)"});
  EXPECT_TRUE(imported.notes.empty());
}

TEST_F(KinetoTrace, TimesBelow1AreMoved) {
  EXPECT_EQ(read(event("user_annotation", "ProfilerStep#4", -10, 50) + launch(-5, 1) +
                 event("user_annotation", "loss", -6, 3) + kernel("a", 0, 1)),
            "");
  EXPECT_EQ(kernels(), Texts{"loss: a 10001-12001, 1"});
  EXPECT_EQ(imported.steps[0].start_ns, 1u);
  EXPECT_EQ(imported.steps[0].end_ns, 50001u);
}

TEST_F(KinetoTrace, KernelsHaveShapesAndResources) {
  EXPECT_EQ(
      read(launch(1, 1) +
           kernel("a", 5, 1,
                  R"(,"grid":[1,2,3],"block":[4,5,6],"registers per thread":32,)"
                  R"("shared memory":64)") +
           kernel("b", 7, 1, R"(,"grid":[1,2,3],"registers per thread":32)") + kernel("", 9, 1)),
      "");
  EXPECT_EQ(kernels(), (Texts{"(no layer): a 5000-7000, 0", "(no layer): b 7000-9000, 0",
                              "(no layer): (unnamed) 9000-11000, 0"}));
  const ImportedKernel a = *imported.kernels.first();
  EXPECT_EQ(imported.shapes[a.shape].grid, (Dim3{1, 2, 3}));
  EXPECT_EQ(imported.shapes[a.shape].block, (Dim3{4, 5, 6}));
  EXPECT_EQ(imported.resources.find(a.function, a.shape), (KernelResources{32, 64}));
  EXPECT_EQ(a.stream, 7u);
  EXPECT_EQ(a.context, 1u);
  const ImportedKernel b = *imported.kernels.next();
  EXPECT_EQ(imported.shapes[b.shape], LaunchShape{});
  EXPECT_EQ(imported.resources.find(b.function, b.shape), KernelResources{});
}

TEST_F(KinetoTrace, CopiesHaveKindsAndSides) {
  struct Case {
    const char* name;
    CopyKind kind;
    HostMemory host;
  };
  const std::vector<Case> cases = {
      {"Memcpy HtoD (Pageable -> Device)", CopyKind::host_to_device, HostMemory::pageable},
      {"Memcpy DtoH (Device -> Pinned)", CopyKind::device_to_host, HostMemory::pinned},
      {"Memcpy DtoD (Device -> Device)", CopyKind::device_to_device, HostMemory::unknown},
      {"Memcpy PtoP (Managed)", CopyKind::peer, HostMemory::managed},
      {"Memcpy", CopyKind::other, HostMemory::unknown}};
  std::string events = launch(1, 1) + kernel("a", 5, 1);
  for (const Case& each : cases)
    events += event("gpu_memcpy", each.name, 6, 3, number(1) + R"(,"bytes":64)");
  EXPECT_EQ(read(events + event("gpu_memset", "Memset", 9, 1, number(8))), "");
  ASSERT_EQ(imported.copies.size(), 6u);
  const ImportedCopy* each = imported.copies.first();
  for (const Case& expected : cases) {
    EXPECT_EQ(each->record.kind, expected.kind) << expected.name;
    EXPECT_EQ(each->record.host, expected.host) << expected.name;
    EXPECT_EQ(each->record.bytes, 64u);
    EXPECT_EQ(each->record.start_ns, 6000u);
    EXPECT_EQ(each->record.end_ns, 9000u);
    EXPECT_TRUE(each->placed);
    each = imported.copies.next();
  }
  EXPECT_EQ(each->record.kind, CopyKind::memset);
  EXPECT_EQ(each->record.bytes, std::nullopt);
  EXPECT_FALSE(each->placed);
  EXPECT_EQ(each->place, 5u);
}

TEST_F(KinetoTrace, CollectivesHaveGroups) {
  const std::string group = R"(,"Collective name":"allreduce","dtype":"Float","In msg nelems":4,)"
                            R"("Process Group Ranks":"[0,1]","Seq":3,"Process Group Name":)";
  EXPECT_EQ(read(launch(1, 1) + kernel("a", 5, 1, group + R"("x")") +
                 kernel("b", 7, 1, group + R"("y")") + kernel("c", 9, 1, group + R"("x")") +
                 kernel("d", 11, 1, group + R"("")") + kernel("gemm", 13, 1) +
                 kernel("ncclDevKernel_AllReduce", 15, 1)),
            "");
  ASSERT_EQ(imported.messages.size(), 5u);
  const std::uint32_t groups[] = {1, 2, 1, 0, 0};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(imported.messages[i].group, groups[i]) << i;
  EXPECT_EQ(imported.messages[0].bytes, 16u);
  EXPECT_EQ(imported.messages[0].sequence, 3u);
  EXPECT_EQ(imported.messages[0].stream, 7u);
  EXPECT_TRUE(imported.messages[0].told);
  EXPECT_FALSE(imported.messages[4].told);
  EXPECT_EQ(imported.groups.size(), 2u);
  EXPECT_EQ(imported.kernels.first()->message, 1u);
}

TEST_F(KinetoTrace, WithoutDurationWorkIsLeftOut) {
  const std::string open = R"({"ph":"X","cat":"kernel","name":"b","pid":1,"tid":1,"ts":9},)";
  EXPECT_EQ(read(launch(1, 1) + kernel("a", 5, 1) + open), "");
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_TRUE(imported.notes[0].starts_with("1 kernel or copy has")) << imported.notes[0];
  EXPECT_EQ(imported.kernels.size(), 1u);
}

TEST_F(KinetoTrace, TheHeaderNamesRankAndGpu) {
  EXPECT_EQ(read(launch(1, 1) + kernel("a", 5, 1),
                 R"("deviceProperties":[{"id":0,"name":"NVIDIA H100"}],)"
                 R"("distributedInfo":{"rank":2,"world_size":4},)"),
            "");
  EXPECT_EQ(imported.rank, 2);
  EXPECT_EQ(imported.world_size, 4u);
  EXPECT_EQ(imported.devices.at(0).name, "NVIDIA H100");
  EXPECT_NE(read(launch(1, 1) + kernel("a", 5, 1), R"("distributedInfo":{"rank":2},)")
                .find("is of rank 2, and so is"),
            std::string::npos);
}

TEST_F(KinetoTrace, WhatIsNoSuchTraceIsRefused) {
  EXPECT_NE(read(launch(1, 1) + launch(3, 2)).find("but 2 calls that launch"), std::string::npos);
  EXPECT_NE(read("").find("ProfilerActivity.CUDA"), std::string::npos);
  const auto refusal = [this](const std::string& text) -> std::string {
    TextSource source(text, "a.json");
    try {
      read_kineto_trace(source, imported);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  };
  EXPECT_NE(refusal("{}").find("has no traceEvents"), std::string::npos);
  EXPECT_NE(refusal("7").find("not a trace"), std::string::npos);
  EXPECT_NE(refusal(R"({"traceEvents":7})").find("not a list"), std::string::npos);
  EXPECT_NE(refusal("[7] 8").find("something follows"), std::string::npos);
  EXPECT_NE(refusal("[7]").find("not a trace of"), std::string::npos);
}

TEST_F(KinetoTrace, TheRankIsReadAlone) {
  const auto rank = [](const std::string& text) {
    TextSource source(text, "a.json");
    return rank_of_trace(source);
  };
  EXPECT_EQ(rank(R"({"a":[1],"distributedInfo":{"rank":3},"b)"), 3);
  EXPECT_EQ(rank(R"({"a":1})"), std::nullopt);
  EXPECT_EQ(rank("[1]"), std::nullopt);
}

}  // namespace
}  // namespace gable
