// SPDX-License-Identifier: Apache-2.0
#include "tools/import/records/same_kernels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

using Names = std::vector<std::string>;

class SameKernelsOf : public testing::Test {
 protected:
  void of(const Names& ones, const Names& others) {
    std::set<FunctionId> one, other;
    for (const std::string& name : ones) one.insert(table_.intern(name));
    for (const std::string& name : others) other.insert(table_.intern(name));
    same_ = std::make_unique<SameKernels>(table_, one, other);
  }
  bool same(const std::string& a, const std::string& b) {
    return same_->of(table_.intern(a)) == same_->of(table_.intern(b));
  }
  bool unclear(const std::string& name) { return same_->is_unclear(table_.intern(name)); }

 private:
  FunctionTable table_;
  std::unique_ptr<SameKernels> same_;
};

TEST_F(SameKernelsOf, SpellingsOfOneNameAreOneKernel) {
  of({"void k<(int)4>(const float *)", "gemm"}, {"k<4>(float const*)", "gemm", "other"});
  EXPECT_TRUE(same("void k<(int)4>(const float *)", "k<4>(float const*)"));
  EXPECT_FALSE(same("gemm", "other"));
  EXPECT_FALSE(same("gemm", "k<4>(float const*)"));
  for (const char* name : {"gemm", "other", "k<4>(float const*)"}) EXPECT_FALSE(unclear(name));
}

TEST_F(SameKernelsOf, ArgumentsTellAnInstanceWhateverItsParametersAre) {
  of({"k<4>(T1)", "k<8>(T1)", "f(int)"}, {"k<4>(float)", "k<8>(float)", "f(long)"});
  EXPECT_TRUE(same("k<4>(T1)", "k<4>(float)"));
  EXPECT_TRUE(same("k<8>(T1)", "k<8>(float)"));
  EXPECT_FALSE(same("k<4>(T1)", "k<8>(float)"));
  EXPECT_FALSE(same("f(int)", "f(long)"));
  EXPECT_FALSE(unclear("k<4>(T1)"));
  EXPECT_FALSE(unclear("f(int)"));
}

TEST_F(SameKernelsOf, LambdasAreOneWhereEachSideHasOne) {
  of({"k<4, f(int)::[lambda(int) (instance 1)]>(T1)"},
     {"k<4, f(T1)::[lambda(int) (instance 1)]>(T2)"});
  EXPECT_TRUE(same("k<4, f(int)::[lambda(int) (instance 1)]>(T1)",
                   "k<4, f(T1)::[lambda(int) (instance 1)]>(T2)"));
}

TEST_F(SameKernelsOf, ABareNameStandsForTheOnlyOneOfItsName) {
  of({"k", "ns::f<1>(int)", "a::g"}, {"ns::k<float>(int)", "f", "b::g<1>(int)"});
  EXPECT_TRUE(same("k", "ns::k<float>(int)"));
  EXPECT_TRUE(same("ns::f<1>(int)", "f"));
  EXPECT_FALSE(same("a::g", "b::g<1>(int)"));
  for (const char* name : {"k", "f", "a::g", "b::g<1>(int)"}) EXPECT_FALSE(unclear(name)) << name;
}

TEST_F(SameKernelsOf, ABareNameOfSeveralIsUnclear) {
  of({"k", "other"}, {"k<1>(int)", "k<2>(int)", "other"});
  EXPECT_FALSE(same("k", "k<1>(int)"));
  EXPECT_FALSE(same("k", "k<2>(int)"));
  EXPECT_TRUE(unclear("k"));
  EXPECT_TRUE(unclear("k<1>(int)"));
  EXPECT_TRUE(unclear("k<2>(int)"));
  EXPECT_FALSE(unclear("other"));
}

TEST_F(SameKernelsOf, WhatIsJoinedIsNotUnclear) {
  of({"k", "k<1>(int)"}, {"k<1>(int)", "k<2>(int)"});
  EXPECT_TRUE(unclear("k"));
  EXPECT_TRUE(unclear("k<2>(int)"));
  EXPECT_FALSE(unclear("k<1>(int)"));
  EXPECT_FALSE(same("k", "k<2>(int)"));
}

TEST_F(SameKernelsOf, FunctionsOfOneNameOnBothSidesStayThemselves) {
  of({"k<1>(int)", "k<1>(long)"}, {"k<1>(T1)"});
  EXPECT_FALSE(same("k<1>(int)", "k<1>(T1)"));
  EXPECT_FALSE(same("k<1>(long)", "k<1>(T1)"));
  for (const char* name : {"k<1>(int)", "k<1>(long)", "k<1>(T1)"}) EXPECT_TRUE(unclear(name));
}

TEST_F(SameKernelsOf, WhatIsJoinedByOneRuleIsNotJoinedByTheNext) {
  of({"k<1>(T1)"}, {"k<1>(int)", "k"});
  EXPECT_TRUE(same("k<1>(T1)", "k<1>(int)"));
  EXPECT_FALSE(same("k<1>(T1)", "k"));
}

}  // namespace
}  // namespace gable
