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

TEST(KernelNames, InstancesOfManySpellings) {
  struct Case {
    const char *text, *instance, *parameters;
  };
  for (const auto& [text, instance, parameters] : {
           Case{"k<true, false>()", "k<1,0>", "()"},
           Case{"k<(bool)true, (bool)false>()", "k<1,0>", "()"},
           Case{"k<4ul, 4UL, 4L, 4l, 4u>()", "k<4,4,4,4,4>", "()"},
           Case{"k<(unsigned long)-1>()", "k<-1>", "()"},
           Case{"k<(ns)1>()", "k<(ns)1>", "()"},
           Case{"k<f(int), 1>()", "k<f(int),1>", "()"},
           Case{"k(int) const", "k", "(int)"},
           Case{"void ns::k(const int)", "ns::k", "(int const)"},
           Case{"k(const unsigned int *, const a::b<const int> &)", "k",
                "(unsigned int const*,a::b<int const>const&)"},
           Case{"k(const ::a::b *)", "k", "(::a::b const*)"},
           Case{"k(const a<int>::b *)", "k", "(a<int>::b const*)"},
           Case{"k(int const*, const)", "k", "(int const*,const)"},
           Case{"k(const f(int)::g *)", "k", "(f(int)::g const*)"},
           Case{"`anonymous namespace'::k()", "@::k", "()"},
           Case{"{anonymous}::_NV_ANON_NAMESPACE::k()", "@::@::k", "()"},
           Case{"A::operator()(int)", "A::operator()", "(int)"},
           Case{"A::~B(int)", "A::~B", "(int)"},
           Case{"unsigned int k(int)", "k", "(int)"},
           Case{"a_b$c.d(int)", "a_b$c.d", "(int)"},
           Case{"k<a->b>(int)", "k<a->b>", "(int)"},
           Case{"k<{lambda(int)#1}, [x]>(int)", "k<{lambda(int)#1},[x]>", "(int)"},
           Case{"k(a(b)c", "k", "(a(b)c"},
       }) {
    EXPECT_EQ(kernel_name(text).instance, instance) << text;
    EXPECT_EQ(kernel_name(text).parameters, parameters) << text;
  }
}

TEST(KernelNames, FunctionsLoseArgumentsAndReturnTypes) {
  struct Case {
    const char *text, *function, *last;
    bool has_arguments;
  };
  for (const auto& [text, function, last, has_arguments] :
       {Case{"std::array<int, 4> ns::k(int)", "ns::k", "k", false},
        Case{"void ns<1>::k<2>(int)", "ns::k", "k", true}, Case{"k", "k", "k", false}}) {
    EXPECT_EQ(kernel_name(text).function, function) << text;
    EXPECT_EQ(kernel_name(text).last_part(), last) << text;
    EXPECT_EQ(kernel_name(text).has_arguments, has_arguments) << text;
  }
}

TEST(KernelNames, OnlyArgumentsWithLambdasAreOpen) {
  const auto open = [](const char* text) { return kernel_name(text).without_lambdas; };
  EXPECT_EQ(open("k<1, 2>(int)"), "");
  EXPECT_EQ(open("void n::k<a<1, 2>, [lambda() (instance 1)]>(int)"), "n::k<a<1,2>,*>");
  EXPECT_EQ(open("k<[lambda() (instance 1)], 3>::f<4>(int)"), "k<*,3>::f<4>");
  EXPECT_EQ(open("k<a<[lambda() (instance 1)]>>(int)"), "k<*>");
}

TEST(KernelNames, LongOnesAreTakenAsTheyAre) {
  const std::string most = "k<" + std::string(32764, 'x') + "> ", more = most + " ";
  ASSERT_EQ(most.size(), 32768u - 0);
  EXPECT_EQ(kernel_name(most).function, "k");
  EXPECT_EQ(kernel_name(more).function, more);
  EXPECT_TRUE(kernel_name(more).has_arguments);
  EXPECT_EQ(kernel_name(more).parameters, "");
}

}  // namespace
}  // namespace gable
