// SPDX-License-Identifier: Apache-2.0
#include "tools/show/shortened_names.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/base/display.h"

namespace gable {
namespace {

using Names = std::vector<std::string>;

TEST(ShortenedNames, WhatFitsStays) {
  EXPECT_EQ(shortened_names({"a/b", "a/c"}, 3), (Names{"a/b", "a/c"}));
}

TEST(ShortenedNames, NamesThatStayDifferentAreShortenedInTheMiddle) {
  EXPECT_EQ(shortened_names({"ResNet/layer1/0/conv1", "ResNet/layer1/0/conv2"}, 13),
            (Names{"ResN\u2026/0/conv1", "ResN\u2026/0/conv2"}));
}

TEST(ShortenedNames, NamesThatWouldLookAlikeShowWhereTheyDiffer) {
  const std::string seven = "Model/decoder/layers.7/feed_forward/linear",
                    twelve = "Model/decoder/layers.12/feed_forward/linear";
  EXPECT_EQ(shortened_names({seven, twelve, seven}, 22),
            (Names{"\u2026/layers.7\u2026ward/linear", "\u2026/layers.12\u2026ard/linear",
                   "\u2026/layers.7\u2026ward/linear"}));
  EXPECT_EQ(shortened_names({seven, twelve}, 12),
            (Names{"\u20267\u2026rd/linear", "\u202612\u2026d/linear"}));
  // One part of the path that is longer than the column.
  const std::string head(60, 'x'), tail(60, 'y');
  EXPECT_EQ(shortened_names({head + "one" + tail, head + "two" + tail}, 8),
            (Names{"\u2026oneyyy\u2026", "\u2026twoyyy\u2026"}));
  // One is the other's beginning.
  EXPECT_EQ(shortened_names({head + tail, head + tail + tail}, 8).size(), 2u);
}

TEST(ShortenedNames, AreNeverWiderThanTheColumn) {
  for (std::size_t columns = 0; columns < 40; ++columns)
    for (const std::string& each :
         shortened_names({"層/層層1層層/層層層", "層/層層2層層/層層層", "層/層層/層層層",
                          "aaaa/bbbb1/cccc/dddd", "aaaa/bbbb2/cccc/dddd"},
                         columns)) {
      EXPECT_LE(display_width(each), columns);
      EXPECT_EQ(one_line(each), each) << "whole characters";
    }
}

}  // namespace
}  // namespace gable
