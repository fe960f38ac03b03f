// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis/base/pattern.h"

namespace gable::tests {
namespace {

bool matches(const std::string& pattern, const std::string& text) {
  const auto parsed = Pattern::parse(pattern);
  EXPECT_EQ(parsed.error, "") << pattern;
  return parsed.pattern.matches(text);
}

TEST(Pattern, AGlobTakesTheWholeText) {
  EXPECT_TRUE(matches("ResNet/layer1", "ResNet/layer1"));
  EXPECT_FALSE(matches("ResNet", "ResNet/layer1"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(Pattern, ARegularExpressionHasBounds) {
  const auto nested = [](std::size_t depth) {
    return "regex:" + std::string(depth, '(') + "a" + std::string(depth, ')');
  };
  EXPECT_TRUE(matches(nested(100), "a"));
  EXPECT_TRUE(matches("regex:" + std::string(4096, 'a'), std::string(4096, 'a')));
  EXPECT_EQ(Pattern::parse(nested(30000)).error,
            "A regular expression may have at most 4096 characters and 100 nested parentheses; "
            "this one begins with \"((((((((((((((((((((\".");
  EXPECT_NE(Pattern::parse(nested(101)).error, "");
  EXPECT_NE(Pattern::parse("regex:" + std::string(4097, 'a')).error, "");
  std::string apart;
  for (int i = 0; i < 200; ++i) apart += "(a)";
  EXPECT_EQ(Pattern::parse("regex:" + apart).error, "");
}

TEST(Pattern, AStarIsAnyTextSlashesToo) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*conv*", "ResNet/layer1/0/conv1"));
  EXPECT_TRUE(matches("ResNet/*/conv1", "ResNet/layer1/0/conv1"));
  EXPECT_FALSE(matches("*conv", "conv1"));
  EXPECT_TRUE(matches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*b", std::string(4000, 'a')));  // in reasonable time
}

TEST(Pattern, OneCharacterMayHaveSeveralBytes) {
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_TRUE(matches("a?c",
                      "a\xE2\x82\xAC"
                      "c"));
  EXPECT_FALSE(matches("a?c", "ac"));
}

TEST(Pattern, Sets) {
  EXPECT_TRUE(matches("layer[1-3]", "layer2"));
  EXPECT_FALSE(matches("layer[1-3]", "layer4"));
  EXPECT_TRUE(matches("layer[!1-3]", "layer4"));
  EXPECT_TRUE(matches("a[]]b", "a]b"));
  EXPECT_TRUE(matches("a[bc", "a[bc"));  // a set that never ends is text
}

TEST(Pattern, ABackslashTakesTheNextCharacterAsItIs) {
  EXPECT_TRUE(matches("a\\*b", "a*b"));
  EXPECT_FALSE(matches("a\\*b", "axb"));
  EXPECT_TRUE(matches("a\\", "a\\"));
}

TEST(Pattern, RegularExpressionsMatchAnywhere) {
  EXPECT_TRUE(matches("regex:gemm|conv", "volta_sgemm_128"));
  EXPECT_FALSE(matches("regex:^gemm", "volta_sgemm_128"));
  EXPECT_TRUE(matches("regex:", "anything"));
}

TEST(Pattern, ABadExpressionIsOneSentence) {
  const auto parsed = Pattern::parse("regex:(");
  EXPECT_EQ(parsed.error,
            "\"(\" is not a regular expression: unmatched parenthesis, or a sign such as * that "
            "stands alone.");
  EXPECT_FALSE(parsed.pattern.matches("("));
}

TEST(Pattern, WhatIsWrongIsSaidInGablesOwnWords) {
  EXPECT_EQ(problem_of_regex("a+(b|c)"), "");
  EXPECT_EQ(problem_of_regex("[z-a]"), "a range in brackets ends before it begins");
#ifdef __GLIBCXX__  // libc++ counts repetitions and needs no memory for each
  EXPECT_EQ(problem_of_regex("(a{999}){999}"),
            "it repeats too much to be tried; use smaller numbers in braces");
#endif
  for (const char* counts : {"a{12222222222222222222220}", "a{1,9999999999}"}) {
    EXPECT_EQ(problem_of_regex(counts),
              "it repeats too much to be tried; use smaller numbers in braces");
    EXPECT_FALSE(Pattern::parse(std::string("regex:") + counts).error.empty());
  }
  EXPECT_EQ(problem_of_regex("\\{1234567890}"), "") << "no repetition";
  EXPECT_EQ(problem_of_regex("a\\"), "what follows a backslash is not a valid escape");
}

TEST(Pattern, ExpressionsLookAtABoundedPartOfLongTexts) {
  const std::string text = std::string(Pattern::kMaxText, 'a') + "b";
  EXPECT_FALSE(matches("regex:b", text));
  EXPECT_TRUE(matches("*b", text));
  EXPECT_FALSE(Pattern().matches("a"));
}

TEST(Pattern, SetsAtTheirBorders) {
  for (const char* text : {"a1", "a3"}) EXPECT_TRUE(matches("a[1-3]", text)) << text;
  for (const char* text : {"a0", "a4", "a", "a12"}) EXPECT_FALSE(matches("a[1-3]", text)) << text;
  EXPECT_FALSE(matches("layer[!1-3]", "layer1"));
  EXPECT_FALSE(matches("layer[^1-3]", "layer3"));
  EXPECT_TRUE(matches("layer[^1-3]", "layer0"));
  EXPECT_TRUE(matches("[a-]", "-"));  // a range without an end is its parts
  EXPECT_TRUE(matches("[a-]", "a"));
  EXPECT_FALSE(matches("[a-]", "b"));
  EXPECT_TRUE(matches("[!]]", "a"));
  EXPECT_FALSE(matches("[!]]", "]"));
  EXPECT_TRUE(matches("[abc]x", "bx"));
  EXPECT_FALSE(matches("[abc]x", "dx"));
  EXPECT_TRUE(matches("[!a]", "\xE2\x82\xAC"));  // a character of several bytes
  EXPECT_TRUE(matches("[", "["));
  EXPECT_TRUE(matches("a[!", "a[!"));
  EXPECT_TRUE(matches("[a-c-e]", "e"));
}

TEST(Pattern, StarsAreTriedFurtherToTheRight) {
  EXPECT_TRUE(matches("a*b", "ab"));
  EXPECT_TRUE(matches("a*bc", "abbc"));
  EXPECT_TRUE(matches("**", "a"));
  EXPECT_TRUE(matches("a*", "a"));
  EXPECT_FALSE(matches("a*b", "abc"));
  EXPECT_FALSE(matches("a*b", "a"));
  EXPECT_TRUE(matches("*[12]?", "ab2c"));
  EXPECT_TRUE(matches("*\\*", "ab*"));
  EXPECT_FALSE(matches("a\\b", "a\\b"));
  EXPECT_FALSE(matches("ab", "a"));
  EXPECT_FALSE(matches("a?", "a"));
  EXPECT_FALSE(matches("?", "ab"));
}

// In parentheses within each other; those that a backslash takes as they are do not count.
TEST(Pattern, DepthIsThatOfOpenParentheses) {
  const std::string most(100, '('), ends(100, ')');
  EXPECT_FALSE(is_oversized_regex(most + ends));
  EXPECT_FALSE(is_oversized_regex(most + "\\(" + ends));
  EXPECT_FALSE(is_oversized_regex(most + ends + "(a)"));
  EXPECT_FALSE(is_oversized_regex(most + ")" + "(" + ends));
  EXPECT_TRUE(is_oversized_regex(most + "\\\\(" + ends));
  EXPECT_TRUE(is_oversized_regex(")" + most + "(" + ends));
  EXPECT_FALSE(is_oversized_regex(std::string(4096, 'a')));
  EXPECT_TRUE(is_oversized_regex(std::string(4097, 'a')));
  EXPECT_EQ(Pattern::kMaxText, 4096u);
}

TEST(Pattern, EachProblemHasItsWords) {
  EXPECT_NE(problem_of_regex("[a").find("bracket"), std::string::npos);
  EXPECT_NE(problem_of_regex("a{").find("brace"), std::string::npos);
  EXPECT_NE(problem_of_regex("a{x}").find("{2,5}"), std::string::npos);
  EXPECT_NE(problem_of_regex("(a)\\2").find("group"), std::string::npos);
  EXPECT_NE(problem_of_regex("[[:none:]]").find("class"), std::string::npos);
}

}  // namespace
}  // namespace gable::tests
