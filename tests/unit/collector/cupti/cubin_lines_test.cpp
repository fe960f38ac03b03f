// SPDX-License-Identifier: Apache-2.0
// Where kernels are written, as the assembler leaves it in the GPU's code.
#include "collector/cupti/cubin_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>

namespace gable {
namespace {

using Lines = std::vector<KernelLine>;

TEST(CubinLines, WhatIsNoCodeHasNone) {
  EXPECT_TRUE(kernel_lines({}).empty());
  const std::string text = ".version 8.0\n.target sm_80\n";
  EXPECT_TRUE(
      kernel_lines({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}).empty());
}

TEST(CubinLines, AreShownWithoutTheFoldersOfOthers) {
  const auto shown = [](const char* file, const char* here = "/home/me/work") {
    return shown_line({"k", file, 12}, here);
  };
  EXPECT_EQ(shown("/home/me/work/kernels/add.py"), "kernels/add.py:12");
  EXPECT_EQ(shown("/home/me/worker/add.py"), "add.py:12") << "another folder";
  EXPECT_EQ(shown("/home/me/venv/lib/python3.11/site-packages/flash/ops/add.py"),
            "flash/ops/add.py:12");
  EXPECT_EQ(shown("/usr/lib/python3/dist-packages/flash/add.py"), "flash/add.py:12");
  EXPECT_EQ(shown("add.cu"), "add.cu:12");
  EXPECT_EQ(shown("/tmp/add.cu", "/"), "add.cu:12") << "the whole disk is no folder of a program";
}

#ifdef GABLE_PTXAS
// Two functions in two files, as Triton and nvcc write them: the line that is around an inlined
// function comes first.
constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "/home/me/kernels.py"
.file 2 "/home/me/more/other.py"
.visible .entry first(.param .u64 p) {
  .reg .b64 %a<3>;
  .reg .b32 %b<3>;
  .loc 1 12 0
  ld.param.u64 %a1, [p];
  .loc 2 700 5
  ld.global.u32 %b1, [%a1];
  .loc 1 14 5
  add.s32 %b2, %b1, 1;
  st.global.u32 [%a1], %b2;
  ret;
}
.visible .entry second(.param .u64 p) {
  .reg .b64 %a<2>;
  .loc 2 30000 0
  ld.param.u64 %a1, [p];
  st.global.u32 [%a1], 1;
  ret;
}
)";

std::vector<std::uint8_t> assembled(const char* chip, const std::string& ptx = kPtx) {
  const std::string path =
      ::testing::TempDir() + "gable-lines-" + std::to_string(getpid()) + ".ptx";
  std::ofstream(path) << ptx;
  const std::string command = std::string(GABLE_PTXAS) + " --generate-line-info -arch=" + chip +
                              " " + path + " -o " + path + ".cubin";
  if (std::system(command.c_str()) != 0) return {};
  std::ifstream file(path + ".cubin", std::ios::binary);
  std::vector<std::uint8_t> code{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  std::remove((path + ".cubin").c_str());
  return code;
}
#endif

TEST(CubinLines, OfEachFunctionTheOneWhereItBegins) {
#ifndef GABLE_PTXAS
  GTEST_SKIP() << "there is no ptxas here";
#else
  for (const char* chip : {"sm_80", "sm_90"}) {
    const auto code = assembled(chip);
    ASSERT_FALSE(code.empty());
    Lines lines = kernel_lines(code);
    std::sort(lines.begin(), lines.end(),
              [](const auto& a, const auto& b) { return a.symbol < b.symbol; });
    EXPECT_EQ(lines, (Lines{{"first", "/home/me/kernels.py", 12},
                            {"second", "/home/me/more/other.py", 30000}}))
        << chip;
    const std::string without =
        std::regex_replace(std::string(kPtx), std::regex("\\.(loc|file) [^\n]*"), "");
    const auto plain = assembled(chip, without);
    EXPECT_FALSE(plain.empty());
    EXPECT_TRUE(kernel_lines(plain).empty()) << "compiled without lines";
  }
#endif
}

// Nothing is read that is not there, and nothing is waited for that does not come.
TEST(CubinLines, DamagedCodeIsSurvived) {
#ifndef GABLE_PTXAS
  GTEST_SKIP() << "there is no ptxas here";
#else
  const auto code = assembled("sm_80");
  ASSERT_FALSE(code.empty());
  std::size_t found = 0;
  for (std::size_t size = 0; size < code.size(); ++size)
    found += kernel_lines({std::vector<std::uint8_t>(
                              code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size))})
                 .size();
  for (std::size_t i = 0; i < code.size(); ++i) {
    for (const int flip : {0xff, 0x80, 0x01}) {
      auto damaged = code;
      damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ flip);
      for (const KernelLine& line : kernel_lines(damaged))
        found += shown_line(line, "/home").size();
    }
  }
  EXPECT_GT(found, 0u) << "most damage is elsewhere";
#endif
}

}  // namespace
}  // namespace gable
