// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/wide_text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace gable {
namespace {

TEST(WideText, BecomesUtf8) {
  EXPECT_EQ(utf8_of(nullptr, 10), "");
  EXPECT_EQ(utf8_of(L"", 10), "");
  EXPECT_EQ(utf8_of(L"step", 10), "step");
  EXPECT_EQ(utf8_of(L"\x7f\x80", 10), "\x7f\xc2\x80");
  EXPECT_EQ(utf8_of(L"\x7ff\x800", 10), "\xdf\xbf\xe0\xa0\x80");
  EXPECT_EQ(utf8_of(L"\xffff\x10000", 10), "\xef\xbf\xbf\xf0\x90\x80\x80");
  EXPECT_EQ(utf8_of(L"\x10ffff", 10), "\xf4\x8f\xbf\xbf");
}

TEST(WideText, WhatIsNoCharacterIsReplaced) {
  for (const std::uint32_t odd : {0xd800u, 0xdbffu, 0xdfffu, 0x110000u}) {
    const wchar_t text[] = {static_cast<wchar_t>(odd), L'a', 0};
    EXPECT_EQ(utf8_of(text, 10),
              "\xef\xbf\xbd"
              "a")
        << odd;
  }
  EXPECT_EQ(utf8_of(L"\xd7ff", 10), "\xed\x9f\xbf");
  EXPECT_EQ(utf8_of(L"\xe000", 10), "\xee\x80\x80");
}

TEST(WideText, IsCutBetweenCharacters) {
  EXPECT_EQ(utf8_of(L"abc", 3), "abc");
  EXPECT_EQ(utf8_of(L"abc", 2), "ab");
  EXPECT_EQ(utf8_of(L"a\x20ac", 4), "a\xe2\x82\xac");
  EXPECT_EQ(utf8_of(L"a\x20ac", 3), "a");
  EXPECT_EQ(utf8_of(L"a", 0), "");
}

}  // namespace
}  // namespace gable
