// SPDX-License-Identifier: Apache-2.0
// Calls that GPU work came from are never dropped; others are, as long as there is room to tell.
#include "tools/calls/work_numbers.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

constexpr std::uint64_t kPiece = 1u << 15;  // keys of one piece

TEST(WorkNumbers, TellCallsOfWorkFromOthers) {
  WorkNumbers numbers;
  EXPECT_FALSE(numbers.may_have(0));
  for (const std::uint64_t key : {0ull, 1ull, 32767ull, 32768ull, (7ull << 32) | 5, ~0ull})
    numbers.add(key);
  for (const std::uint64_t key : {0ull, 1ull, 32767ull, 32768ull, (7ull << 32) | 5, ~0ull})
    EXPECT_TRUE(numbers.may_have(key)) << key;
  for (const std::uint64_t key :
       {2ull, 32766ull, 32769ull, 5ull, (7ull << 32) | 4, ~0ull - 1, 1ull << 63})
    EXPECT_FALSE(numbers.may_have(key)) << key;
}

TEST(WorkNumbers, DropNoneWhereKeysLieTooFarApart) {
  WorkNumbers numbers(2);
  numbers.add(3);
  numbers.add(kPiece + 4);
  EXPECT_TRUE(numbers.may_have(3));
  EXPECT_FALSE(numbers.may_have(4));
  for (std::uint64_t piece = 2; piece < 100; ++piece) numbers.add(piece * kPiece + 5);
  for (const std::uint64_t key :
       {std::uint64_t{3}, std::uint64_t{4}, 50 * kPiece + 5, 1000 * kPiece})
    EXPECT_TRUE(numbers.may_have(key)) << key;
}

}  // namespace
}  // namespace gable
