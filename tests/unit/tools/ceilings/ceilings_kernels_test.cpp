// SPDX-License-Identifier: Apache-2.0
// The kernels of `gable ceilings` do the work that they are said to do, and can be assembled for
// the chips that they are for.
#include "tools/ceilings/ceilings_kernels.h"
#include "tools/ceilings/ceilings_latency.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

namespace gable::tests {
namespace {

// Of the loop, which runs `iterations` times.
std::string body_of(const RoofKernel& kernel) {
  const std::size_t begin = kernel.ptx.find("again_:\n");
  const std::size_t end = kernel.ptx.find("  sub.u32 n, n, 1;\n");
  EXPECT_TRUE(begin != std::string::npos && end != std::string::npos) << kernel.symbol;
  return kernel.ptx.substr(begin, end - begin);
}

// Operations, or bytes, of one thread by one line of PTX; 0 for all that is no work. From the PTX
// ISA: m, n and k are in a matrix instruction's name, a warp has 32 threads, a warp group 128.
double work_of(const std::string& line) {
  const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
  int m = 0, n = 0, k = 0;
  const std::size_t shape = line.find("aligned.m");
  if (has("mma.sync") || has("wgmma.mma_async")) {
    EXPECT_EQ(std::sscanf(line.c_str() + shape, "aligned.m%dn%dk%d", &m, &n, &k), 3) << line;
    return 2.0 * m * n * k / (has("wgmma") ? 128 : 32);
  }
  const int lanes = has("f16x2") ? 2 : 1;
  if (has("  fma.rn")) return 2.0 * lanes;
  if (has("  mul.rn") || has("  add.rn")) return 1.0 * lanes;
  if (has("global") && has(".v4.u32")) return 16;
  return 0;
}

std::size_t lines_of_work(const RoofKernel& kernel) {
  std::istringstream body(body_of(kernel));
  std::size_t lines = 0;
  for (std::string line; std::getline(body, line);) lines += work_of(line) > 0 ? 1 : 0;
  return lines;
}

TEST(RoofKernels, DoTheOperationsThatTheirRateIsMadeOf) {
  for (const RoofKernel& kernel : roof_kernels()) {
    std::istringstream body(body_of(kernel));
    double counted = 0;
    for (std::string line; std::getline(body, line);) counted += work_of(line);
    EXPECT_EQ(counted, kernel.operations) << kernel.symbol;
    EXPECT_GT(counted, 0) << kernel.symbol;
  }
}

TEST(RoofKernels, FusedAndOtherChainsAreKeptApart) {
  for (const RoofKernel& kernel : roof_kernels()) {
    if (kernel.how.rfind("chains", 0) != 0) continue;
    const bool fused = kernel.roof.find("_no_fma") == std::string::npos;
    EXPECT_EQ(body_of(kernel).find("fma.rn") != std::string::npos, fused) << kernel.symbol;
    EXPECT_EQ(body_of(kernel).find("mul.rn") != std::string::npos, !fused) << kernel.symbol;
  }
}

TEST(RoofKernels, OfAChipAreOneForEachRoof) {
  std::set<std::string> symbols;
  for (const RoofKernel& kernel : roof_kernels()) {
    EXPECT_TRUE(symbols.insert(kernel.symbol).second) << kernel.symbol;
    EXPECT_NE(kernel.ptx.find(".entry " + kernel.symbol + "("), std::string::npos);
  }
  const auto names = [](int capability) {
    std::string list;
    std::set<std::string> seen;
    for (const RoofKernel* kernel : roof_kernels_of(capability)) {
      const bool memory = kernel->kind == CeilingKind::memory;
      EXPECT_TRUE(seen.insert(kernel->roof).second || memory) << capability << kernel->roof;
      if (!memory && kernel->roof.find("_tensor") != std::string::npos)
        list += kernel->roof.substr(0, kernel->roof.find('_')) + " ";
    }
    EXPECT_TRUE(seen.contains("fp32") && seen.contains("dram") && seen.contains("l2") &&
                seen.contains("l1"));
    return list;
  };
  EXPECT_EQ(names(70), "");
  EXPECT_EQ(names(75), "fp16 int8 ");
  EXPECT_EQ(names(80), "fp64 tf32 bf16 fp16 int8 ");
  EXPECT_EQ(names(86), "tf32 bf16 fp16 int8 ");
  EXPECT_EQ(names(89), "tf32 bf16 fp16 fp8 int8 ");
  EXPECT_EQ(names(90), "fp64 tf32 bf16 fp16 fp8 int8 ");
  EXPECT_EQ(names(100), "fp64 ");
  EXPECT_EQ(names(120), "tf32 bf16 fp16 fp8 int8 fp6 fp4 ");
}

#ifdef GABLE_PTXAS
// How many instructions of 16 byte a kernel has in an assembled module (a 64-bit ELF file).
std::size_t instructions(const std::string& path, const std::string& symbol) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Elf64_Ehdr head{};
  if (bytes.size() < sizeof head) return 0;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto section = [&](std::size_t index) {
    Elf64_Shdr found{};
    const std::size_t at = head.e_shoff + index * sizeof found;
    if (at + sizeof found <= bytes.size()) std::memcpy(&found, bytes.data() + at, sizeof found);
    return found;
  };
  const Elf64_Shdr names = section(head.e_shstrndx);
  for (std::size_t i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr each = section(i);
    if (bytes.c_str() + names.sh_offset + each.sh_name == ".text." + symbol)
      return each.sh_size / 16;
  }
  return 0;
}

// What the assembler says of itself, with the names of its chips: older ones lack the newest.
std::string help_of_assembler() {
  std::string text;
  FILE* pipe = popen(GABLE_PTXAS " --help", "r");
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) pclose(pipe);
  return text;
}
#endif

TEST(LaunchLatencyKernel, CanBeAssembled) {
#ifndef GABLE_PTXAS
  GTEST_SKIP() << "there is no ptxas here";
#else
  const std::string path = ::testing::TempDir() + "gable-latency.ptx";
  const std::string known = help_of_assembler();
  std::ofstream(path) << latency_ptx();
  for (const int capability : {75, 80, 86, 89, 90, 100, 120}) {
    const std::string chip = "sm_" + std::to_string(capability);
    if (known.find(chip) == std::string::npos) continue;
    const std::string command =
        std::string(GABLE_PTXAS) + " -arch=" + chip + " " + path + " -o " + path + ".cubin";
    ASSERT_EQ(std::system(command.c_str()), 0) << chip;
    EXPECT_GT(instructions(path + ".cubin", kLatencyKernel), 0u) << chip;
  }
#endif
}

// About 90 runs of the assembler, 5 s together: each kernel for each chip that it is for.
TEST(RoofKernels, CanBeAssembled) {
#ifndef GABLE_PTXAS
  GTEST_SKIP() << "there is no ptxas here";
#else
  const std::string path = ::testing::TempDir() + "gable-roof.ptx";
  const std::string assembled = path + ".cubin";
  const std::string known = help_of_assembler();
  ASSERT_NE(known.find("sm_80"), std::string::npos) << known;
  for (const int capability : {75, 80, 86, 89, 90, 100, 120}) {
    if (known.find("sm_" + std::to_string(capability)) == std::string::npos) continue;
    for (const RoofKernel* kernel : roof_kernels_of(capability)) {
      if (kernel->level == MemoryLevel::l2) continue;  // the DRAM's, by another name
      std::ofstream(path) << kernel->ptx;
      const bool own = kernel->target.back() == 'a';
      const std::string chip = own ? kernel->target : "sm_" + std::to_string(capability);
      const std::string command =
          std::string(GABLE_PTXAS) + " -arch=" + chip + " " + path + " -o " + assembled;
      ASSERT_EQ(std::system(command.c_str()), 0) << kernel->symbol << " for " << chip;
      // Nothing of the loop was found to be needless.
      EXPECT_GE(instructions(assembled, kernel->symbol), lines_of_work(*kernel))
          << kernel->symbol << " for " << chip;
    }
  }
#endif
}

}  // namespace
}  // namespace gable::tests
