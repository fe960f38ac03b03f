// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/json_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/tools/streams/drip_source.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using Token = JsonStream::Token;

// A value as it is read: objects by key(), arrays by element().
void write_value(JsonStream& json, std::string& out) {
  const Token token = json.next();
  switch (token) {
    case Token::object:
      out += "{";
      while (json.key()) {
        out += std::string(json.key_text()) + "=";
        write_value(json, out);
        out += ";";
      }
      out += "}";
      return;
    case Token::array:
      out += "[";
      while (json.element()) {
        write_value(json, out);
        out += ",";
      }
      out += "]";
      return;
    case Token::text:
      out += "'" + std::string(json.text()) + "'";
      return;
    case Token::number:
      out += "#" + std::string(json.text());
      return;
    case Token::literal:
      out += json.text();
      return;
    default:
      out += "?";
  }
}

// The value, or how it is refused.
std::string value_of(const std::string& text, std::size_t piece) {
  std::string out;
  try {
    DripSource source(text, piece);
    JsonStream json(source);
    write_value(json, out);
    if (json.next() != Token::end) out += " and more";
  } catch (const WrongUse& problem) {
    return problem.what();
  }
  return out;
}

void expect_value(const std::string& text, const std::string& expected) {
  for (const std::size_t piece : kPieces)
    EXPECT_EQ(value_of(text, piece), expected) << text << " by " << piece;
}
void expect_refused(const std::string& text, const std::string& where, const std::string& why) {
  for (const std::size_t piece : kPieces) {
    const std::string said = value_of(text, piece);
    EXPECT_TRUE(said.starts_with("a.txt:" + where + ": ")) << text << ": " << said;
    EXPECT_NE(said.find(why), std::string::npos) << text << ": " << said;
  }
}

TEST(JsonStream, ValuesOfEveryType) {
  expect_value("{}", "{}");
  expect_value(" [ ] ", "[]");
  expect_value("{\"a\":1,\"b\":[true,false,null],\"c\":{\"d\":\"e\"}}",
               "{a=#1;b=[true,false,null,];c={d='e';};}");
  expect_value("\t{\r\n\"a\" : \"b\" , \"c\" : -1.5e+7 }\n", "{a='b';c=#-1.5e+7;}");
  expect_value("\xEF\xBB\xBF[1]", "[#1,]");
  expect_value("[1,2,]", "[#1,#2,]");
  expect_value("{\"a\":1, }", "{a=#1;}");
  expect_value("[NaN,Infinity,-Infinity,nan,inf,-inf]", "[NaN,Infinity,-Infinity,nan,inf,-inf,]");
  expect_value("7", "#7");
  expect_value("", "?");
  expect_value("1 2", "#1 and more");
}

TEST(JsonStream, NumbersAreJsons) {
  for (const char* text : {"0", "-0", "19", "1.5", "1e5", "1E-5", "1.25e+05", "9"})
    expect_value(text, std::string("#") + text);
  for (const char* text :
       {"-", "1.", ".5", "1e", "1e+", "+1", "1.5.5", "1a", "-a", "True", "nul", "a", "1e5.5", "*"})
    expect_refused(std::string("[\n") + text + "]", "2", "this is not JSON");
}

TEST(JsonStream, EscapesAreResolved) {
  expect_value(R"("\"\\\/\b\f\n\r\t")", "'\"\\/\b\f\n\r\t'");
  expect_value(R"("a\u0041\u00e9b")",
               "'aA\xC3\xA9"
               "b'");
  expect_value(R"("\u007f\u0080\u07ff\u0800\uffff")",
               "'\x7f\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF'");
  expect_value(R"("\u00Af\u00fA\u0099")", "'\xC2\xAF\xC3\xBA\xC2\x99'");
  expect_value(R"("\ud83d\ude00")", "'\xF0\x9F\x98\x80'");
  expect_value(R"("\ud800\udc00\udbff\udfff")", "'\xF0\x90\x80\x80\xF4\x8F\xBF\xBF'");
  // Half a character stands for an unknown one.
  expect_value(R"("\ud83dx\udc00y\udfff\ue000\ud7ff")",
               "'\xEF\xBF\xBDx\xEF\xBF\xBDy\xEF\xBF\xBD\xEE\x80\x80\xED\x9F\xBF'");
  expect_value(R"("\ud83d\n")", "'\xEF\xBF\xBD\n'");
  expect_value(R"("\udbff")", "'\xEF\xBF\xBD'");
  expect_value(R"({"a\tb":"c\\"})", "{a\tb='c\\';}");
  for (const char* text : {R"("\x")", R"("\u00g0")", R"("\u00/0")", R"("\u00:0")", R"("\u00@0")",
                           R"("\u00`0")", R"("\u")"})
    expect_refused(text, "1", "an escape is not one of JSON's");
  expect_refused(R"("\ud83d\u0041")", "1", "half a character");
  expect_refused(R"("\ud83d\udbff")", "1", "half a character");
  expect_refused(R"("\ud83d\ue000")", "1", "half a character");
}

TEST(JsonStream, WhatIsCutOffIsRefused) {
  for (const char* text : {"[\n\"a", "[\n\"a\\", "[\n\"\\u00", "[\n\"\\ud83d"})
    expect_refused(text, "2", "ends within a text");
  for (const char* text : {"\n[", "\n[1", "\n{", "\n{\"a\":1", "\n[1,[2]"})
    expect_refused(text, "2", "ends within brackets");
}

TEST(JsonStream, BracketsAndSeparatorsHaveToFit) {
  expect_refused("[1 2]", "1", "a comma is missing");
  expect_refused("{\"a\" 1}", "1", "a colon is missing");
  expect_refused("{1:2}", "1", "a key is missing");
  expect_refused("{\"a\":1,,}", "1", "a key is missing");
  expect_refused("[1}", "1", "a bracket closes none");
  expect_refused("{\"a\":1]", "1", "a bracket closes none");
  expect_refused("[1,,]", "1", "this is not JSON");
}

TEST(JsonStream, BracketsMayBe256Deep) {
  expect_value(std::string(256, '[') + std::string(256, ']'), [] {
    std::string out(256, '[');
    for (int i = 0; i < 255; ++i) out += "],";
    return out + "]";
  }());
  expect_refused(std::string(257, '['), "1", "too deep");
}

TEST(JsonStream, ValuesCanBeSkipped) {
  for (const char* skipped :
       {"1", "true", "\"a\"", "\"\\\"]\"", "\"\\\\\"", "\"a\\\\\\\"b\"", "[]", "{}",
        "[1,[2,{\"a\":\"]\\\"}\"}],\"}\"]", "{\"a\":[1],\"b\":{}}", "\"\""}) {
    for (const std::size_t piece : kPieces) {
      DripSource source(std::string("[") + skipped + ",\"x\"]", piece);
      JsonStream json(source);
      ASSERT_EQ(json.next(), Token::array);
      ASSERT_TRUE(json.element());
      json.skip();
      ASSERT_TRUE(json.element()) << skipped;
      EXPECT_EQ(json.next(), Token::text) << skipped;
      EXPECT_EQ(json.text(), "x") << skipped;
      EXPECT_FALSE(json.element());
      EXPECT_EQ(json.next(), Token::end);
    }
  }
}

TEST(JsonStream, TheRestOfWhatHasBegunCanBeSkipped) {
  for (const std::size_t piece : kPieces) {
    DripSource source("[[1,{\"a\":2}],7,8]", piece);
    JsonStream json(source);
    ASSERT_EQ(json.next(), Token::array);
    ASSERT_TRUE(json.element());
    json.skip_rest(json.next());
    ASSERT_TRUE(json.element());
    json.skip_rest(json.next());  // a number is whole
    ASSERT_TRUE(json.element());
    EXPECT_EQ(json.next(), Token::number);
    EXPECT_EQ(json.text(), "8");
    EXPECT_FALSE(json.element());
  }
}

TEST(JsonStream, WhatIsSkippedHasToBeWhole) {
  const auto refusal = [](const std::string& text, std::size_t piece) -> std::string {
    DripSource source(text, piece);
    JsonStream json(source);
    try {
      json.skip();
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  };
  for (const std::size_t piece : kPieces) {
    EXPECT_NE(refusal("\"a", piece).find("within a text"), std::string::npos);
    EXPECT_NE(refusal("\"a\\\"", piece).find("within a text"), std::string::npos);
    EXPECT_NE(refusal("\"a\\", piece).find("within a text"), std::string::npos);
    EXPECT_NE(refusal("[1,{}", piece).find("within brackets"), std::string::npos);
    EXPECT_NE(refusal("[1}", piece).find("closes none"), std::string::npos);
    EXPECT_NE(refusal("{1]", piece).find("closes none"), std::string::npos);
    EXPECT_NE(refusal(std::string(257, '{'), piece).find("too deep"), std::string::npos);
    EXPECT_EQ(refusal(std::string(256, '[') + std::string(256, ']'), piece), "");
  }
}

TEST(JsonStream, LinesAreCountedAcrossBuffers) {
  // 64 bytes are counted at once, and buffers have 256 KiB.
  const std::string long_text(300'000, 'a');
  std::string text = "[\n\"" + long_text + "\",\n";
  for (int i = 0; i < 200; ++i) text += "\n";
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4093}}) {
    const std::string said = value_of(text + "x" + std::string(400'000, '\n') + "]", piece);
    EXPECT_TRUE(said.starts_with("a.txt:203: ")) << said.substr(0, 80);
    const std::string late = value_of(text + "1" + std::string(400'000, '\n') + "y", piece);
    EXPECT_TRUE(late.starts_with("a.txt:400203: ")) << late.substr(0, 80);
    EXPECT_EQ(value_of(text + "1]", piece), "['" + long_text + "',#1,]");
  }
  DripSource source("\n\n7\n", 1);
  JsonStream json(source);
  EXPECT_EQ(json.line(), 1u);
  (void)json.next();
  EXPECT_EQ(json.line(), 3u);
  EXPECT_EQ(json.name(), "a.txt");
}

TEST(JsonStream, LongTextsWithEscapesStayWhole) {
  std::string text, expected;
  for (int i = 0; i < 60'000; ++i) {
    text += "abcd\\n";
    expected += "abcd\n";
  }
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4093}}) {
    EXPECT_EQ(value_of("{\"" + text + "\":\"" + text + "\"}", piece),
              "{" + expected + "='" + expected + "';}");
  }
  EXPECT_NE(value_of("\"" + std::string(17u << 20, 'a'), 1u << 20).find("longer than 16 MB"),
            std::string::npos);
}

TEST(JsonStream, WhatIsBehindAValueIsNotHeld) {
  const std::string blank(17u << 20, ' ');
  EXPECT_EQ(value_of("[1," + blank + "\"a\"," + blank + "2]", 1u << 20), "[#1,'a',#2,]");
}

TEST(JsonStream, AKeyOutlivesItsValuesBytes) {
  DripSource source("{\"key\":" + std::string(300'000, ' ') + "7}", 4093);
  JsonStream json(source);
  ASSERT_EQ(json.next(), Token::object);
  ASSERT_TRUE(json.key());
  EXPECT_EQ(json.next(), Token::number);
  EXPECT_EQ(json.key_text(), "key");
}

}  // namespace
}  // namespace gable
