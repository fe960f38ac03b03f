// SPDX-License-Identifier: Apache-2.0
#include "tools/import/xplane/xplane_message.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/import/xplane/xplane_encoder.h"
#include "tools/base/wrong_use.h"

namespace gable::xplane {
namespace {

class XplaneMessage : public testing::Test {
 protected:
  TextSource source_{"", "a.pb"};
  MessageStream in_{source_};
};

TEST_F(XplaneMessage, AStatHasOneOfSeveralValues) {
  const Stat real_one = read_stat(number(1, 7) + real(2, 1.5) + unknown_fields(), in_);
  EXPECT_EQ(real_one.id, 7);
  EXPECT_EQ(real_one.kind, Stat::Kind::real);
  EXPECT_EQ(real_one.real, 1.5);
  EXPECT_EQ(real_one.whole, 0);

  const Stat plain = read_stat(number(4, 5) + number(1, 8), in_);
  EXPECT_EQ(plain.id, 8);
  EXPECT_EQ(plain.kind, Stat::Kind::whole);
  EXPECT_EQ(plain.whole, 5);
  EXPECT_EQ(plain.real, 0);

  const Stat below = read_stat(number(3, -1), in_);
  EXPECT_EQ(below.kind, Stat::Kind::whole);
  EXPECT_EQ(below.whole, -1);
  EXPECT_EQ(below.id, 0);

  const std::string message = data(5, "abc") + number(1, 9);  // a text is a piece of its message
  const Stat text = read_stat(message, in_);
  EXPECT_EQ(text.id, 9);
  EXPECT_EQ(text.kind, Stat::Kind::text);
  EXPECT_EQ(text.text, "abc");

  const Stat reference = read_stat(number(7, -1) + number(1, 10), in_);
  EXPECT_EQ(reference.id, 10);
  EXPECT_EQ(reference.kind, Stat::Kind::reference);
  EXPECT_EQ(reference.reference, UINT64_MAX);
}

TEST_F(XplaneMessage, AStatOfAnotherTypeIsNone) {
  for (const std::string& message :
       {number(2, 5), number(5, 5), data(3, "5"), data(4, "5"), data(7, "5"), data(6, "5"),
        number(6, 5), number(8, 5), unknown_fields()}) {
    const Stat stat = read_stat(message + number(1, 4), in_);
    EXPECT_EQ(stat.id, 4);
    EXPECT_EQ(stat.kind, Stat::Kind::none);
    EXPECT_EQ(stat.real, 0);
    EXPECT_EQ(stat.whole, 0);
    EXPECT_EQ(stat.reference, 0u);
    EXPECT_EQ(stat.text, "");
  }
}

TEST_F(XplaneMessage, AnEventStartsAnew) {
  Event event;
  const std::string message = unknown_fields() + number(1, 7) + number(2, 11) + number(3, 13) +
                              data(4, text_stat(1, "a")) + data(4, text_stat(2, "b"));
  read_event(message, in_, event);
  EXPECT_EQ(event.id, 7);
  EXPECT_TRUE(event.has_offset);
  EXPECT_EQ(event.offset_ps, 11);
  EXPECT_EQ(event.duration_ps, 13);
  ASSERT_EQ(event.stats.size(), 2u);
  EXPECT_EQ(event.stats[0].text, "a");
  EXPECT_EQ(event.stats[1].id, 2);

  read_event(number(5, 4) + number(1, 8), in_, event);
  EXPECT_EQ(event.id, 8);
  EXPECT_FALSE(event.has_offset);
  EXPECT_EQ(event.offset_ps, 0);
  EXPECT_EQ(event.duration_ps, 0);
  EXPECT_TRUE(event.stats.empty());

  read_event("", in_, event);
  EXPECT_EQ(event.id, 0);
  EXPECT_TRUE(event.has_offset);

  // Of an offset and a number of occurrences the last counts.
  read_event(number(5, 4) + number(2, 6), in_, event);
  EXPECT_TRUE(event.has_offset);
  EXPECT_EQ(event.offset_ps, 6);
}

TEST_F(XplaneMessage, AnEntryOfATableHasAName) {
  const std::string value = unknown_fields() + number(1, 6) + data(2, "gemm") +
                            data(5, text_stat(1, "a")) + data(5, text_stat(2, "b"));
  const std::string entry = unknown_fields() + number(1, 6) + data(2, value);
  const Metadata metadata = read_metadata(entry, in_);
  EXPECT_EQ(metadata.id, 6);
  EXPECT_EQ(metadata.name, "gemm");
  ASSERT_EQ(metadata.stats.size(), 2u);
  EXPECT_EQ(metadata.stats[0], text_stat(1, "a"));
  EXPECT_EQ(metadata.stats[1], text_stat(2, "b"));

  const std::string bare = data(2, "");
  EXPECT_EQ(read_metadata(bare, in_).id, 0);
  EXPECT_EQ(read_metadata(bare, in_).name, "");
}

TEST_F(XplaneMessage, WhatIsDamagedIsRefused) {
  Event event;
  EXPECT_THROW((void)read_stat(varint(1 << 3), in_), WrongUse);
  EXPECT_THROW(read_event(varint(4 << 3 | 2) + varint(9), in_, event), WrongUse);
  EXPECT_THROW(read_event(data(4, varint(1 << 3)), in_, event), WrongUse);
  EXPECT_THROW((void)read_metadata(data(2, varint(2 << 3 | 2)), in_), WrongUse);
}

}  // namespace
}  // namespace gable::xplane
