// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xla/xla_work.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/import/xla/xla_work_case.h"

namespace gable {
namespace {

class XlaKernels : public XlaWorkCase {};

XlaTexts described(std::string details) {
  XlaTexts texts;
  texts.kernel = std::move(details);
  return texts;
}

TEST_F(XlaKernels, HaveTheShapeThatTheirDetailsTell) {
  kernel("gemm", 10,
         described("regs:32 static_shared:1024 dynamic_shared:512 grid:128,2,3 block:256,4,5"));
  kernel("half", 20, described("grid:128,2,3"));
  kernel("", 30, described("block:256,4,5"), 3);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(), (Texts{"gemm 10-12, 0", "half 20-22, 0", "(unnamed) 30-32, 0"}));
  const ImportedKernel gemm = *imported.kernels.first();
  const LaunchShape& shape = imported.shapes[gemm.shape];
  EXPECT_EQ(shape.grid, (Dim3{128, 2, 3}));
  EXPECT_EQ(shape.block, (Dim3{256, 4, 5}));
  EXPECT_EQ(shape.dynamic_shared, 0u);
  EXPECT_EQ(imported.resources.find(gemm.function, gemm.shape), (KernelResources{32, 1536}));
  const ImportedKernel half = *imported.kernels.next();
  EXPECT_EQ(imported.shapes[half.shape], LaunchShape{});
  EXPECT_EQ(imported.resources.find(half.function, half.shape), KernelResources{});
  const ImportedKernel unnamed = *imported.kernels.next();
  EXPECT_EQ(imported.shapes[unnamed.shape], LaunchShape{});
  EXPECT_EQ(unnamed.device, 3);
  EXPECT_EQ(work().devices(), (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(imported.times_from, Texts{"JAX's or TensorFlow's profiler (a.pb)"});
  EXPECT_TRUE(imported.notes.empty());
  EXPECT_TRUE(imported.steps.empty());
}

TEST_F(XlaKernels, TakeResourcesWithinTheirRanges) {
  struct Case {
    const char* details;
    KernelResources resources;
  };
  const std::vector<Case> cases = {
      {"regs:255 static_shared:1073741823 dynamic_shared:1073741823", {255, 2147483646}},
      {"regs:256 static_shared:1 dynamic_shared:1", {}},
      {"regs:255 static_shared:1073741824 dynamic_shared:1", {}},
      {"regs:255 static_shared:1 dynamic_shared:1073741824", {}},
      {"static_shared:1 dynamic_shared:1", {}},
      {"regs:8 dynamic_shared:1", {}},
      {"regs:8 static_shared:1", {}}};
  for (std::size_t i = 0; i < cases.size(); ++i)
    kernel("k" + std::string(i, 'x'), 10 + static_cast<std::int64_t>(i),
           described(cases[i].details));
  ASSERT_EQ(finish(), "");
  const ImportedKernel* each = imported.kernels.first();
  for (const Case& expected : cases) {
    EXPECT_EQ(imported.resources.find(each->function, each->shape), expected.resources)
        << expected.details;
    each = imported.kernels.next();
  }
}

TEST_F(XlaKernels, CopiesHaveSizesAndKinds) {
  XlaTexts texts;
  const auto copy = [&](const char* name, std::string details, std::int64_t start) {
    texts.copy = std::move(details);
    work().gpu_work(XlaLane::stream, 2, 0, name, texts, {start, start + 3});
  };
  texts.hlo_op = "copy.1";
  copy("MemcpyH2D", "kind_src:pinned size:4096 num_bytes:1", 30);
  copy("Memset", "num_bytes:128", 20);
  copy("MemcpyD2H", "size:x", 10);
  kernel("gemm", 40);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(), Texts{"gemm 40-42, 0"});
  ASSERT_EQ(imported.copies.size(), 3u);
  const ImportedCopy first = *imported.copies.first();
  EXPECT_EQ(first.record.start_ns, 30u);
  EXPECT_EQ(first.record.end_ns, 33u);
  EXPECT_EQ(first.record.device, 2);
  EXPECT_EQ(first.record.kind, CopyKind::host_to_device);
  EXPECT_EQ(first.record.host, HostMemory::pinned);
  EXPECT_EQ(first.record.bytes, 4096u);
  EXPECT_EQ(imported.layers.shown(first.layer), "copy.1");
  EXPECT_TRUE(first.placed);
  EXPECT_EQ(first.place, 0u);
  EXPECT_EQ(first.step, 0u);
  const ImportedCopy second = *imported.copies.next();
  EXPECT_EQ(second.record.kind, CopyKind::memset);
  EXPECT_EQ(second.record.bytes, 128u);
  EXPECT_EQ(second.place, 1u);
  const ImportedCopy third = *imported.copies.next();
  EXPECT_EQ(third.record.kind, CopyKind::device_to_host);
  EXPECT_EQ(third.record.host, HostMemory::unknown);
  EXPECT_EQ(third.record.bytes, std::nullopt);
  EXPECT_EQ(third.place, 2u);
  EXPECT_EQ(work().devices(), std::vector<std::int32_t>{0}) << "of kernels alone";
}

TEST_F(XlaKernels, WhatIsNoWorkIsLeftOut) {
  for (const char* name :
       {"MemoryAlloc", "MemoryFree", "MemoryResidency", "Overhead", "UnifiedMemory"})
    kernel(name, 10);
  kernel("Overhead", 20, described("regs:8"));
  work().gpu_work(XlaLane::overhead, 0, 0, "flush", {}, {30, 31});
  work().gpu_work(XlaLane::overhead, 0, 0, "late", described("regs:8"), {40, 41});
  XlaTexts copy;
  copy.copy = "size:4";
  work().gpu_work(XlaLane::overhead, 0, 0, "flush", copy, {50, 51});
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(), (Texts{"Overhead 20-22, 0", "late 40-41, 0"}));
  EXPECT_EQ(imported.copies.size(), 1u);
}

TEST_F(XlaKernels, WholeGraphsAreCounted) {
  XlaTexts graph;
  graph.whole_graph = true;
  kernel("whole", 10, graph);
  graph.kernel = "regs:8";
  kernel("node", 20, graph);
  ASSERT_EQ(finish(), "");
  EXPECT_EQ(kernels(), Texts{"node 20-22, 0"});
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_TRUE(imported.notes[0].starts_with("1 launch ")) << imported.notes[0];
}

TEST_F(XlaKernels, SeveralWholeGraphsAreCounted) {
  XlaTexts graph;
  graph.whole_graph = true;
  kernel("whole", 10, graph);
  kernel("whole", 15, graph);
  kernel("gemm", 20);
  ASSERT_EQ(finish(), "");
  EXPECT_TRUE(imported.notes.at(0).starts_with("2 launches ")) << imported.notes.at(0);
}

TEST_F(XlaKernels, AreInTheLayerOfModuleScopeAndOperator) {
  XlaTexts texts;
  texts.hlo_module = "jit_step";
  texts.name = "jit(step)/jvp(MLP)/Dense_0";
  texts.hlo_op = "dot.4";
  kernel("a", 10, texts);
  kernel("b", 20, texts);
  texts.name = "jit(step)/transpose(jvp(MLP))/Dense_0";
  kernel("c", 30, texts);
  texts.name = "Loss";
  kernel("d", 40, texts);
  texts.hlo_op = "";
  kernel("e", 50, texts);
  texts.hlo_module = "jit_init";
  kernel("f", 60, texts);
  kernel("g", 70);
  ASSERT_EQ(finish(), "");
  Texts layers;
  std::vector<Direction> directions;
  for (const auto* each = imported.kernels.first(); each != nullptr;
       each = imported.kernels.next()) {
    layers.push_back(imported.layers.shown(each->layer));
    directions.push_back(imported.layers.node(each->layer).direction);
  }
  EXPECT_EQ(layers, (Texts{"jit_step/MLP/Dense_0/dot.4", "jit_step/MLP/Dense_0/dot.4",
                           "jit_step/MLP/Dense_0/dot.4", "jit_step/Loss/dot.4", "jit_step/Loss",
                           "jit_init/Loss", "(no layer)"}));
  EXPECT_EQ(directions, (std::vector<Direction>{
                            Direction::forward, Direction::forward, Direction::backward,
                            Direction::none, Direction::none, Direction::none, Direction::none}));
}

TEST_F(XlaKernels, ANameHasOneNumber) {
  EXPECT_EQ(work().number("a"), 0u);
  EXPECT_EQ(work().number("b"), 1u);
  EXPECT_EQ(work().number("a"), 0u);
}

TEST_F(XlaKernels, WithoutThemAFileIsRefused) {
  XlaTexts copy;
  copy.copy = "size:4";
  kernel("MemcpyH2D", 10, copy);
  const auto refusal = [this](bool other, const std::string& why) {
    return finish({"a.pb", "an XPlane file", other, why, "; it has x"});
  };
  EXPECT_TRUE(refusal(false, "").starts_with("a.pb is an XPlane file ")) << refusal(false, "");
  EXPECT_NE(refusal(false, "").find("only the host was traced; it has x."), std::string::npos);
  EXPECT_NE(refusal(true, "").find("another kind of device; it has x."), std::string::npos);
  EXPECT_NE(refusal(true, "no driver").find(": no driver; it has x."), std::string::npos);
}

}  // namespace
}  // namespace gable
