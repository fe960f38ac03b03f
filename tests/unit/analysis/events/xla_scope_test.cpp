// SPDX-License-Identifier: Apache-2.0
#include "analysis/events/xla_scope.h"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace gable {
namespace {

using Parts = std::vector<std::string_view>;

TEST(XlaScope, NamesLoseTheirTransformations) {
  EXPECT_EQ(xla_scope_parts("jit(step)/jit(main)/transpose(jvp(MLP))/Dense_0/dot_general[a=1]"),
            (Parts{"MLP", "Dense_0", "dot_general"}));
  EXPECT_EQ(xla_scope_parts("jit(step)/a/jit(relu)/max"), (Parts{"a", "relu", "max"}));
  EXPECT_EQ(xla_scope_parts("pjit(f)/jit(g)/x/jit(main)/y"), (Parts{"x", "y"}));
  EXPECT_EQ(xla_scope_parts("main/x"), (Parts{"main", "x"}));
  EXPECT_EQ(xla_scope_parts("jvp(f)/jit(g)/x"), (Parts{"f", "g", "x"}));
  EXPECT_EQ(xla_scope_parts("a//b()/c(d)e/f(g;h/i"), (Parts{"a", "c(d)e", "f(g"}));
  EXPECT_EQ(xla_scope_parts(""), Parts{});
}

TEST(XlaScope, TheRestOfOneHasNoProgramInFront) {
  EXPECT_EQ(xla_scope_parts("jit(relu)/max", false), (Parts{"relu", "max"}));
  EXPECT_EQ(xla_scope_parts("jit(main)/jit(relu)/max", false), (Parts{"relu", "max"}));
  EXPECT_EQ(xla_scope_parts("jvp(MLP)/Dense_0", false), (Parts{"MLP", "Dense_0"}));
}

TEST(XlaScope, TransformationsTellThePass) {
  EXPECT_EQ(xla_direction("jit(f)/transpose(jvp(MLP))/dot_general"), Direction::backward);
  EXPECT_EQ(xla_direction("jit(f)/jvp(MLP)/dot_general"), Direction::forward);
  EXPECT_EQ(xla_direction("jit(f)/transpose"), Direction::none);
  EXPECT_EQ(xla_direction(""), Direction::none);
}

}  // namespace
}  // namespace gable
