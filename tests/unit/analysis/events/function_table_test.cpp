// SPDX-License-Identifier: Apache-2.0
// Functions by their symbols: each once, for ever, and no more than there is room for.
#include "analysis/events/function_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "analysis/base/text.h"

namespace gable {
namespace {

TEST(FunctionTableOf, ASymbolIsOnce) {
  FunctionTable functions;
  EXPECT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions.symbol(FunctionTable::kOther), "(other)");
  EXPECT_EQ(functions.intern("(other)"), FunctionTable::kOther);
  const FunctionId conv = functions.intern("_Z4convPKfPf");
  EXPECT_EQ(functions.intern("_Z4convPKfPf"), conv);
  EXPECT_NE(functions.intern("_Z4reluPf"), conv);
  EXPECT_EQ(functions.symbol(conv), "_Z4convPKfPf");
  EXPECT_EQ(functions.name(conv), "conv(float const*, float*)");
  EXPECT_EQ(functions.symbol(99), "(other)");
  EXPECT_EQ(functions.size(), 3u);
}

TEST(FunctionTableOf, PlacesAreKnownBeforeAndAfterTheFunctionIs) {
  FunctionTable table;
  table.set_place("early", "a.py:1");
  const FunctionId early = table.intern("early"), late = table.intern("late");
  table.set_place("late", "a.py:2");
  table.set_place("late", "a.py:2");
  EXPECT_EQ(table.place(early), "a.py:1");
  EXPECT_EQ(table.place(late), "a.py:2");
  EXPECT_EQ(table.size(), 3u) << "one of the two, and (other)";
  table.set_place("late", "b.py:2");
  EXPECT_EQ(table.place(late), "") << "it is not known which";
  table.set_place("late", "a.py:2");
  EXPECT_EQ(table.place(late), "");
  EXPECT_EQ(table.place(FunctionTable::kOther), "");
  EXPECT_EQ(table.place(99), "");
}

TEST(FunctionTableOf, WhatThereIsNoRoomForIsOther) {
  FunctionTable functions(3);
  const FunctionId a = functions.intern("a"), b = functions.intern("b");
  EXPECT_NE(a, FunctionTable::kOther);
  EXPECT_NE(b, FunctionTable::kOther);
  EXPECT_EQ(functions.intern("c"), FunctionTable::kOther);
  EXPECT_EQ(functions.intern("a"), a);
  EXPECT_EQ(functions.size(), 3u);
}

// 16 MiB in all; of each symbol 8 KiB.
TEST(FunctionTableOf, LongSymbolsAreCutAndTheirSumIsBounded) {
  FunctionTable functions;
  const std::string most(8192, 'x');
  EXPECT_EQ(functions.symbol(functions.intern(most)), most);
  EXPECT_LE(functions.symbol(functions.intern(most + "y")).size(), 8192u);
  FunctionTable full;
  std::size_t kept = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string symbol = std::to_string(i);
    symbol.resize(8192, '.');
    kept += full.intern(symbol) != FunctionTable::kOther ? 1 : 0;
  }
  EXPECT_EQ(kept, 2048u);
}

// Of lambdas in a template the ends differ, of instances something in the middle.
TEST(FunctionTableOf, LongNamesThatDifferStayDifferent) {
  FunctionTable functions;
  std::set<std::string> names;
  for (const char* middle : {"float", "half"}) {
    for (int lambda = 0; lambda < 12; ++lambda) {
      const std::string name = "kernel<" + std::string(300, 'a') + middle + std::string(300, 'b') +
                               "::{lambda(int)#" + std::to_string(lambda) + "}>(int)";
      const std::string shown = functions.name(functions.intern(name));
      EXPECT_LE(shown.size(), kMaxNameBytes);
      EXPECT_EQ(shown.find("kernel<aaa"), 0u);
      EXPECT_NE(shown.find("::{lambda(int)#" + std::to_string(lambda) + "}>(int)"),
                std::string::npos);
      names.insert(shown);
    }
  }
  EXPECT_EQ(names.size(), 24u);
  // Symbols that are too long to be kept, too.
  const std::string symbol(9000, 'y');
  EXPECT_NE(functions.intern(symbol + "1"), functions.intern(symbol + "2"));
  EXPECT_EQ(functions.intern(symbol + "1"), functions.intern(symbol + "1"));
  const std::string umlauts = std::string(600, 'z') + std::string(79, ' ') + "\xC3\xA4" +
                              std::string(159, 'z');  // cut within a character
  EXPECT_TRUE(is_clean_name(functions.name(functions.intern(umlauts))));
}

TEST(FunctionTableOf, WhatDoesNotFitIsCounted) {
  FunctionTable few(3, 1000);
  EXPECT_NE(few.intern("a"), FunctionTable::kOther);
  EXPECT_EQ(few.folded(), 0u);
  EXPECT_EQ(few.intern(std::string(1000, 'b')), FunctionTable::kOther);
  EXPECT_NE(few.intern("c"), FunctionTable::kOther);
  EXPECT_EQ(few.intern("d"), FunctionTable::kOther);
  EXPECT_EQ(few.folded(), 2u);
}

TEST(FunctionTableOf, ThereAre65536FunctionsUnlessMoreAreAllowed) {
  EXPECT_EQ(FunctionTable::kOther, 0u);
  FunctionTable functions;
  for (int i = 1; i < 65536; ++i) ASSERT_NE(functions.intern(std::to_string(i)), 0u);
  EXPECT_EQ(functions.intern("more"), FunctionTable::kOther);
  EXPECT_EQ(functions.size(), 65536u);
  EXPECT_EQ(functions.symbol(65536), "(other)");
  FunctionTable none(0);
  EXPECT_EQ(none.intern("a"), FunctionTable::kOther);
  EXPECT_EQ(none.size(), 1u);
}

// Ten bytes in all: the last that fits fills them.
TEST(FunctionTableOf, BytesAreCountedToTheLast) {
  FunctionTable functions(9, 10);
  EXPECT_EQ(functions.intern("seven.."), 1u);
  EXPECT_EQ(functions.intern("four"), FunctionTable::kOther);
  EXPECT_EQ(functions.intern("one"), 2u);
  EXPECT_EQ(functions.intern("x"), FunctionTable::kOther);
  EXPECT_EQ(functions.folded(), 2u);
}

TEST(FunctionTableOf, ThreadsThatAskForTheSameGetTheSame) {
  FunctionTable functions;
  std::vector<std::vector<FunctionId>> found(4);
  std::vector<std::thread> threads;
  threads.reserve(found.size());
  for (auto& ids : found)
    threads.emplace_back([&functions, &ids] {
      for (int i = 0; i < 500; ++i) ids.push_back(functions.intern("f" + std::to_string(i)));
    });
  for (auto& thread : threads) thread.join();
  for (const auto& ids : found) EXPECT_EQ(ids, found[0]);
  EXPECT_EQ(functions.size(), 501u);
}

}  // namespace
}  // namespace gable
