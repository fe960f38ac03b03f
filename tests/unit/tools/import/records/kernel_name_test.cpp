// SPDX-License-Identifier: Apache-2.0
// Names of kernels in pairs: as nsys and ncu write them, and as PyTorch's profiler does.
#include "tools/import/records/kernel_name.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(KernelNames, PartsOfAName) {
  const KernelName name = kernel_name(
      "void at::native::(anonymous namespace)::k<4, std::array<char*, 1ul> >(int, float const*)");
  EXPECT_EQ(name.instance, "at::native::@::k<4,std::array<char*,1>>");
  EXPECT_EQ(name.parameters, "(int,float const*)");
  EXPECT_EQ(name.function, "at::native::@::k");
  EXPECT_EQ(name.last_part(), "k");
  EXPECT_TRUE(name.has_arguments);
  EXPECT_FALSE(name.is_bare());
  EXPECT_EQ(name.without_lambdas, "");
}

TEST(KernelNames, WithoutArgumentsAndParametersAreBare) {
  for (const char* text : {"volta_sgemm_128x64_nn", "ns::k", "void k"})
    EXPECT_TRUE(kernel_name(text).is_bare()) << text;
  for (const char* text : {"k()", "k<1>", "k<1>(int)"})
    EXPECT_FALSE(kernel_name(text).is_bare()) << text;
}

TEST(KernelNames, OneNameInTwoSpellings) {
  const auto whole = [](const char* text) {
    const KernelName name = kernel_name(text);
    return name.instance + name.parameters;
  };
  EXPECT_EQ(whole("void k<(int)4, (bool)1>(const float *, unsigned int)"),
            whole("k<4, true>(float const*, unsigned int)"));
  EXPECT_EQ(whole("void k<(unsigned int)4>(const ns::A<const int *> &)"),
            whole("k<4u>(ns::A<int const*> const&)"));
  EXPECT_EQ(whole("void k<f(int)::[lambda(const float *) (instance 2)]>()"),
            whole("void k<f(int)::{lambda(float const*)#2}>()"));
  EXPECT_EQ(whole("void <unnamed>::k<(int)-1>()"), whole("void (anonymous namespace)::k<-1>()"));
  EXPECT_NE(whole("k(int)"), whole("k(long)"));
  EXPECT_NE(whole("void k<float>(T1)"), whole("void k<double>(T1)"));
}

TEST(KernelNames, ArgumentsWithALambdaAreLeftOpen) {
  EXPECT_EQ(
      kernel_name("void k<128, f<int>(T1)::[lambda(int) (instance 1)], float>(T2)").without_lambdas,
      "k<128,*,float>");
}

// No text breaks it.
TEST(KernelNames, WhateverItIs) {
  for (const char* text :
       {"", ")", "(", "<", "a<b", "a(b", "operator()", "const", "<const", "k<const a<", "[lambda",
        "(int)", "(instance 1)]", "a>b", "a->b<c->d>", "k<(int)"})
    (void)kernel_name(text).last_part();
  const std::string deep(40000, '<');
  EXPECT_EQ(kernel_name(deep).instance, deep);
}

}  // namespace
}  // namespace gable
