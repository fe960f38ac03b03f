// SPDX-License-Identifier: Apache-2.0
// Files as bytes: packed, in UTF-16, cut off, and what does not fit into memory.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "tests/unit/tools/streams/byte_files.h"
#include "tests/unit/tools/streams/drip_source.h"
#include "tools/base/wrong_use.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/spill_file.h"
#include "tools/streams/utf16_source.h"

namespace gable {
namespace {

using namespace std::string_literals;

std::string all_of(ByteSource& source, std::size_t piece = 5) {
  std::string text, bytes(piece, '\0');
  while (const std::size_t count = source.read(bytes.data(), piece)) text.append(bytes, 0, count);
  return text;
}

class OpenBytes : public tests::ByteFiles {
 protected:
  // The text, or how it is refused.
  static std::string read(const std::string& path, std::size_t piece = 5,
                          const std::string& name = {}) {
    Progress progress(false);
    try {
      return all_of(*open_bytes(path, progress, name), piece);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
  }
};

TEST_F(OpenBytes, GivesThemUnpacked) {
  EXPECT_EQ(read(file("a", "hello, file")), "hello, file");
  EXPECT_EQ(read(packed("b", "hello, file")), "hello, file");
  EXPECT_EQ(read(file("c", "h")), "h");
  EXPECT_EQ(read(file("d", "hello"), 1), "hello");
  EXPECT_EQ(read(packed("e", "\xFE\xFF\x00h\x00i"s)), "hi");
}

TEST_F(OpenBytes, CallsItByItsName) {
  Progress progress(false);
  const std::string path = file("a", "x");
  EXPECT_EQ(open_bytes(path, progress)->name(), path);
  EXPECT_EQ(open_bytes(path, progress, "shown")->name(), "shown");
}

TEST_F(OpenBytes, RefusesWhatHasNone) {
  EXPECT_EQ(read(file("a", "")), folder_.at("a") + " is empty.");
  EXPECT_NE(read(folder_.at("none")).find(folder_.at("none")), std::string::npos);
}

TEST_F(OpenBytes, RefusesWhatIsDamaged) {
  std::string noise;
  for (unsigned i = 0, value = 1; i < 5000; ++i, value = value * 1103515245 + 12345)
    noise += static_cast<char>(value >> 16);
  packed("a.gz", noise);
  std::string bytes = folder_.text_of("a.gz");
  EXPECT_EQ(read(file("cut", bytes.substr(0, bytes.size() - 100)), 10000, "shown"),
            "shown: the packed data ends too early: the file was cut off.");
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] + 1);
  EXPECT_EQ(read(file("bad", bytes), 10000, "shown"),
            "shown: cannot be unpacked or read (incorrect data check).");
}

TEST_F(OpenBytes, RefusesWhatUnpacksToFarTooMuch) {
  // 65 MiB, each packed by itself.
  packed("one", std::string(1u << 20, '\0'));
  const std::string bytes = folder_.text_of("one");
  std::string all;
  for (int i = 0; i < 65; ++i) all += bytes;
  const std::string said = read(file("a", all), 1u << 20, "shown");
  EXPECT_TRUE(said.starts_with("shown unpacks to more than 400 times its size")) << said.size();
}

TEST(Utf16, IsToldByItsMark) {
  EXPECT_TRUE(Utf16Source::begins("\xff\xfe"));
  EXPECT_TRUE(Utf16Source::begins("\xfe\xff"));
  EXPECT_FALSE(Utf16Source::begins("\xff\xff"));
  EXPECT_FALSE(Utf16Source::begins("\xff"));
  EXPECT_FALSE(Utf16Source::begins("h\0"s));
}

std::string utf8_of(const std::string& text, std::size_t piece) {
  try {
    Utf16Source source(std::make_unique<DripSource>(text, piece));
    EXPECT_EQ(source.name(), "a.txt");
    return all_of(source, 3);
  } catch (const WrongUse& problem) {
    return problem.what();
  }
}

TEST(Utf16, BecomesUtf8) {
  for (const std::size_t piece : kPieces) {
    EXPECT_EQ(utf8_of("\xff\xfeh\0\xe9\0\x3d\xd8\x00\xde!\0"s, piece),
              "h\xC3\xA9\xF0\x9F\x98\x80!");
    EXPECT_EQ(utf8_of("\xfe\xff\0h\xff\xff"s, piece), "h\xEF\xBF\xBF");
    EXPECT_EQ(utf8_of("\xff\xfe"s, piece), "");
    EXPECT_NE(utf8_of("\xff\xfeh\0i"s, piece).find("damaged"), std::string::npos);
    EXPECT_NE(utf8_of("\xff\xfeh\0\x3d\xd8"s, piece).find("damaged"), std::string::npos);
    EXPECT_NE(utf8_of("\xff\xfe\x00\xdch\0"s, piece).find("damaged"), std::string::npos);
  }
  std::string text = "\xff\xfe", expected;
  for (int i = 0; i < 100'000; ++i) {
    text += "\xff\xff"s;
    expected += "\xEF\xBF\xBF";
  }
  EXPECT_EQ(utf8_of(text, 1u << 20), expected);
  EXPECT_EQ(utf8_of(text, 4093), expected);
}

TEST(SpillFileOf, WhatWasAppendedIsReadBack) {
  SpillFile file;
  EXPECT_EQ(file.size(), 0u);
  file.append("hello", 5);
  file.append(", file", 6);
  EXPECT_EQ(file.size(), 11u);
  std::array<char, 4> read{};
  file.read(5, read.data(), 4);
  EXPECT_EQ(std::string(read.data(), 4), ", fi");
  try {
    file.read(8, read.data(), 4);
    ADD_FAILURE() << "read beyond its end";
  } catch (const WrongUse& problem) {
    EXPECT_NE(std::string(problem.what()).find("Input/output error"), std::string::npos)
        << problem.what();
  }
}

TEST(ProgressLine, HasWhatFitsIntoTheColumns) {
  EXPECT_EQ(progress_line(41, "run.sqlite", 80), "[#########...............]  41 %  run.sqlite");
  EXPECT_EQ(progress_line(100, "a", 80), "[" + std::string(24, '#') + "] 100 %  a");
  EXPECT_EQ(progress_line(101, "a", 80), "[" + std::string(24, '#') + "] 100 %  a");
  EXPECT_EQ(progress_line(0, "a", 80), "[" + std::string(24, '.') + "]   0 %  a");
  // Without the name, then with a shorter bar, then without it.
  EXPECT_EQ(progress_line(50, "12345678", 43), "[############............]  50 %  12345678");
  EXPECT_EQ(progress_line(50, "12345678", 42), "[############............]  50 %");
  EXPECT_EQ(progress_line(50, "a", 33), "[############............]  50 %");
  EXPECT_EQ(progress_line(50, "a", 32), "[###########............]  50 %");
  EXPECT_EQ(progress_line(50, "a", 13), "[##..]  50 %");
  EXPECT_EQ(progress_line(50, "a", 12), " 50 %");
  EXPECT_EQ(progress_line(50, "a", 6), " 50 %");
  EXPECT_EQ(progress_line(50, "a", 5), "");
  EXPECT_EQ(progress_line(50, "a", 1), "");
  EXPECT_EQ(progress_line(50, "a", 0), "");
}

}  // namespace
}  // namespace gable
