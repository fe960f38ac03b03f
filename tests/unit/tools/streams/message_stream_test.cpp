// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/message_stream.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/tools/streams/drip_source.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

using namespace std::string_literals;

// "field=number", "field:bytes", "field?" of others; fields 10 and above are entered.
void write_fields(MessageStream& in, std::string& out) {
  while (in.next()) {
    out += std::to_string(in.field());
    if (in.is_number()) {
      out += "=" + std::to_string(in.number());
    } else if (!in.has_bytes()) {
      out += "?";
    } else if (in.field() < 10) {
      out += ":" + std::string(in.bytes());
    } else {
      out += "(";
      in.enter();
      write_fields(in, out);
      in.leave();
      out += ")";
    }
    out += " ";
  }
}
std::string fields_of(const std::string& file, std::size_t piece) {
  DripSource source(file, piece);
  MessageStream in(source);
  std::string out;
  try {
    write_fields(in, out);
  } catch (const WrongUse& problem) {
    out += problem.what();
  }
  return out;
}
void expect_fields(const std::string& file, const std::string& expected) {
  for (const std::size_t piece : kPieces) EXPECT_EQ(fields_of(file, piece), expected) << piece;
}

TEST(MessageStream, FieldsOfEveryType) {
  expect_fields("", "");
  expect_fields("\x08\x05"s, "1=5 ");
  expect_fields(
      "\x08\x80\x01\x12\x02"
      "ab\x18\x00"s,
      "1=128 2:ab 3=0 ");
  expect_fields("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "1=18446744073709551615 ");
  expect_fields(
      "\x09"
      "12345678\x08\x01"s,
      "1? 1=1 ");
  expect_fields(
      "\x0d"
      "1234\x08\x01"s,
      "1? 1=1 ");
  expect_fields("\x0a\x00\x08\x01"s, "1: 1=1 ");
}

TEST(MessageStream, MessagesAreEnteredAndLeft) {
  expect_fields("\x52\x04\x08\x01\x10\x02\x08\x03"s, "10(1=1 2=2 ) 1=3 ");
  expect_fields("\x52\x06\x5a\x02\x08\x01\x10\x02\x52\x00"s, "10(11(1=1 ) 2=2 ) 10() ");
}

TEST(MessageStream, WhatIsLeftOfAMessageIsSkipped) {
  for (const std::size_t piece : kPieces) {
    DripSource source(
        "\x52\x06\x08\x01\x12\x02"
        "ab\x12\x01"
        "c\x10\x07"s,
        piece);
    MessageStream in(source);
    ASSERT_TRUE(in.next());
    in.enter();
    ASSERT_TRUE(in.next());
    EXPECT_EQ(in.number(), 1u);
    ASSERT_TRUE(in.next());
    EXPECT_TRUE(in.has_bytes());
    EXPECT_FALSE(in.is_number());
    in.leave();
    ASSERT_TRUE(in.next());  // its bytes are not taken
    EXPECT_EQ(in.field(), 2u);
    ASSERT_TRUE(in.next());
    EXPECT_EQ(in.field(), 2u);
    EXPECT_EQ(in.number(), 7u);
    EXPECT_FALSE(in.has_bytes());
    EXPECT_FALSE(in.next());
    EXPECT_FALSE(in.is_number());
    EXPECT_EQ(in.name(), "a.txt");
  }
}

TEST(MessageStream, BytesAreTakenOnce) {
  DripSource source(
      "\x12\x02"
      "ab"s,
      1);
  MessageStream in(source);
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.bytes(), "ab");
  EXPECT_EQ(in.bytes(), "");
  EXPECT_FALSE(in.next());
}

TEST(MessageStream, WhatIsNoMessageIsRefused) {
  const std::string field = "this is not a field of a protobuf message.";
  expect_fields("\x08\x01\x00"s, "1=1 a.txt: byte 3: " + field);
  expect_fields("\x0b"s, "a.txt: byte 1: " + field);
  expect_fields("\x0e"s, "a.txt: byte 1: " + field);
  // The largest number of a field, and one more.
  expect_fields("\xf8\xff\xff\xff\x0f\x01"s, "536870911=1 ");
  expect_fields("\x80\x80\x80\x80\x10\x01"s, "a.txt: byte 5: " + field);
  expect_fields("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,
                "a.txt: byte 1: this is not a number of a protobuf message.");
}

TEST(MessageStream, WhatIsCutOffIsRefused) {
  expect_fields("\x08"s, "a.txt: byte 1: the file ends within a number: it was cut off.");
  expect_fields("\x08\x80"s, "a.txt: byte 1: the file ends within a number: it was cut off.");
  expect_fields(
      "\x12\x03"
      "ab"s,
      "2a.txt: byte 2: the file ends within a message: it was cut off.");
  expect_fields(
      "\x09"
      "1234567"s,
      "1? a.txt: byte 8: the file ends within a message: it was cut off.");
}

TEST(MessageStream, AFieldEndsWithItsMessage) {
  const std::string longer = "a field is longer than the message that it is in.";
  expect_fields("\x52\x02\x12\x00"s, "10(2: ) ");
  expect_fields(
      "\x52\x02\x12\x01"
      "a"s,
      "10(a.txt: byte 4: " + longer);
  expect_fields("\x52\x01\x08\x01"s, "10(a.txt: byte 4: " + longer);
  expect_fields("\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f"s, "a.txt: byte 10: " + longer);
}

TEST(MessageStream, LongBytesAreHeldUpTo16MiB) {
  const auto file = [](std::size_t size, const std::string& length) {
    return "\x08\x01\x12"s + length + std::string(size, 'a') + "\x08\x02";
  };
  const std::string most = fields_of(file(16u << 20, "\x80\x80\x80\x08"s), 1u << 20);
  EXPECT_EQ(most.size(), 4 + 2 + (16u << 20) + 1 + 4);
  EXPECT_TRUE(most.ends_with("aa 1=2 "));
  EXPECT_EQ(fields_of(file(16, "\x81\x80\x80\x08"s), 1u << 20),
            "1=1 2a.txt: byte 7: a text or message of 16777217 bytes is longer than any in a "
            "profile.");
  // What is not asked for may be longer than a buffer.
  DripSource source("\x12\x80\x80\x20"s + std::string(512u << 10, 'a') + "\x08\x02\x00"s, 4093);
  MessageStream in(source);
  ASSERT_TRUE(in.next());
  ASSERT_TRUE(in.next());
  EXPECT_EQ(in.number(), 2u);
  try {
    (void)in.next();
    ADD_FAILURE() << "not refused";
  } catch (const WrongUse& problem) {
    EXPECT_NE(std::string(problem.what()).find("byte 524295:"), std::string::npos)
        << problem.what();
  }
}

}  // namespace
}  // namespace gable
