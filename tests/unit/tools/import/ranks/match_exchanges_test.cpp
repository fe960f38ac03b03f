// SPDX-License-Identifier: Apache-2.0
// Which kernels of different ranks are one collective. tests/import/ranks_test.py has whole files.
#include "tools/import/ranks/match_exchanges.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

struct Told {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> sequence = {}, step = {}, bytes = 100;
  Collective kind = Collective::all_reduce;
};

// A rank with one communicator.
RankExchanges rank_with(std::initializer_list<Told> all, std::uint64_t ranks = 2,
                        bool named = true) {
  RankExchanges rank;
  rank.rows.resize(1);
  ExchangeChannel& channel = rank.members.emplace_back()["0"];
  channel.ranks = ranks;
  channel.named = named;
  for (const Told& each : all) {
    Exchange& exchange = channel.exchanges.emplace_back();
    exchange.start_ns = each.start_ns;
    exchange.end_ns = each.end_ns;
    exchange.sequence = each.sequence;
    exchange.step = each.step;
    exchange.bytes = each.bytes;
    exchange.kind = each.kind;
    ++rank.rows[0].launches;
  }
  return rank;
}

struct Matched {
  std::vector<RankExchanges> ranks;
  std::vector<std::string> notes;
  [[nodiscard]] const RankExchanges::Row& row(std::size_t rank) const {
    return ranks[rank].rows[0];
  }
};

Matched matched(std::vector<RankExchanges> ranks) {
  std::vector<RankExchanges*> all;
  for (RankExchanges& rank : ranks) all.push_back(&rank);
  std::vector<std::string> notes = match_exchanges(all);
  return {std::move(ranks), std::move(notes)};
}

TEST(MatchExchanges, TheShortestOfAnInstanceIsTheTransfer) {
  const Matched all =
      matched({rank_with({{10, 110, 1}, {200, 240, 2}}), rank_with({{80, 110, 1}, {190, 240, 2}})});
  EXPECT_TRUE(all.notes.empty());
  EXPECT_EQ(all.row(0).known, 2u);
  EXPECT_EQ(all.row(0).wait_ns, 70u);
  EXPECT_EQ(all.row(1).wait_ns, 10u);
  EXPECT_EQ(all.row(0).others_wait_ns, 10) << "it came last in one, and the other waited";
  EXPECT_EQ(all.row(1).others_wait_ns, 70);
  EXPECT_EQ(all.row(0).transfer_ns, 30u + 40u);
  EXPECT_EQ(all.row(1).transfer_ns, 30u + 40u);
  EXPECT_EQ(all.row(0).ranks, 2u);
}

TEST(MatchExchanges, SequenceNumbersGoBeforeOrder) {
  const Matched all =
      matched({rank_with({{0, 100, 5}, {200, 300, 6}}), rank_with({{200, 260, 6}, {400, 410, 7}})});
  EXPECT_EQ(all.row(0).known, 1u);
  EXPECT_EQ(all.row(0).wait_ns, 40u);
  EXPECT_EQ(all.row(1).transfer_ns, 60u);
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_EQ(all.notes[0],
            "Waiting and transfer of 2 collective kernels are unknown: some ranks have another "
            "number of them, or other sizes, in the same place.");
}

TEST(MatchExchanges, KernelsOfOneCallKeepTheirOrder) {
  const Matched all = matched({rank_with({{0, 10, 1, {}, 100}, {20, 60, 1, {}, 900}}),
                               rank_with({{0, 8, 1, {}, 100}, {10, 40, 1, {}, 900}})});
  EXPECT_EQ(all.row(0).wait_ns, 2u + 10u);
  EXPECT_EQ(all.row(1).transfer_ns, 8u + 30u);
}

TEST(MatchExchanges, OtherKindsAndSizesAreNotOne) {
  const Matched sizes =
      matched({rank_with({{0, 10, 1, {}, 100}}), rank_with({{0, 10, 1, {}, 101}})});
  EXPECT_EQ(sizes.row(0).known, 0u);
  EXPECT_EQ(sizes.notes.size(), 1u);
  const Matched kinds =
      matched({rank_with({{0, 10, 1}}), rank_with({{0, 10, 1, {}, 100, Collective::all_gather}})});
  EXPECT_EQ(kinds.row(0).known, 0u);
  EXPECT_EQ(kinds.notes.size(), 1u);
}

TEST(MatchExchanges, OrderAloneNeedsClocksThatAgree) {
  const auto shifted = [](std::uint64_t by) {
    return matched({rank_with({{0, 10'000}, {50'000, 60'000}}),
                    rank_with({{by, by + 10'000}, {50'000 + by, 60'000 + by}})});
  };
  EXPECT_EQ(shifted(20'000).row(0).known, 2u) << "10 us is what clocks may be apart";
  EXPECT_EQ(shifted(20'001).row(0).known, 0u);
  EXPECT_NE(shifted(20'001).notes.at(0).find("clocks do not agree"), std::string::npos);
}

TEST(MatchExchanges, WhereOnlyOneRankHasSequenceNumbersStepsDecide) {
  const Matched all =
      matched({rank_with({{0, 100, 5, 3}}), rank_with({{900'000, 900'030, {}, 3}})});
  EXPECT_EQ(all.row(0).wait_ns, 70u);
}

TEST(MatchExchanges, RanksWithoutAFile) {
  const Matched all = matched({rank_with({{0, 10, 1}}, 3), rank_with({{0, 10, 1}}, 3)});
  EXPECT_EQ(all.row(0).known, 0u);
  EXPECT_NE(all.notes.at(0).find("not all ranks of their group have a file"), std::string::npos);
}

TEST(MatchExchanges, AGroupWithoutANameIsThatOfAllOrUnknown) {
  std::vector<RankExchanges> four(4, rank_with({{0, 10}}, 2, false));
  EXPECT_EQ(matched(four).row(0).known, 0u) << "which two belong together nobody knows";
  std::vector<RankExchanges> of_all(4, rank_with({{0, 10}}, 4, false));
  EXPECT_EQ(matched(of_all).row(0).known, 1u);
}

TEST(MatchExchanges, KernelsWithoutDuration) {
  const Matched all = matched({rank_with({{5, 5, 1}}), rank_with({{0, 5, 1}})});
  EXPECT_EQ(all.row(0).transfer_ns, 0u);
  EXPECT_EQ(all.row(1).wait_ns, 5u);
}

TEST(MatchExchanges, WhatIsOutsideOfStepsDoesNotCount) {
  std::vector<RankExchanges> ranks = {rank_with({{0, 10, {}, {}}, {20, 30, {}, 4}}),
                                      rank_with({{0, 25, {}, 4}})};
  ranks[0].members[0]["0"].exchanges[0].counts = false;
  const Matched all = matched(ranks);
  EXPECT_TRUE(all.notes.empty());
  EXPECT_EQ(all.row(1).wait_ns, 15u);
  EXPECT_EQ(all.row(0).known, 1u);
}

TEST(MatchExchanges, OneKernelThatStaysUnknownIsOne) {
  std::vector<RankExchanges> ranks = {rank_with({{0, 10, 1}}, 3), rank_with({}, 3)};
  const Matched all = matched(std::move(ranks));
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_NE(all.notes[0].find("of 1 collective kernel are"), std::string::npos) << all.notes[0];
}

TEST(MatchExchanges, MoreMembersThanRanksHaveAnotherNumber) {
  const Matched all = matched({rank_with({{0, 10, 1}}, 1), rank_with({{0, 10, 1}}, 1)});
  EXPECT_EQ(all.row(0).known, 0u);
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_NE(all.notes[0].find("another number of them"), std::string::npos);
}

TEST(MatchExchanges, AllRanksMayBeSaidByTheWorldsSize) {
  const auto known = [](std::uint64_t world, std::uint64_t other) {
    std::vector<RankExchanges> ranks = {rank_with({{0, 10}}, 0, false),
                                        rank_with({{0, 10}}, 0, false)};
    ranks[0].world_size = world;
    ranks[1].world_size = other;
    const Matched all = matched(std::move(ranks));
    EXPECT_EQ(all.row(0).ranks, all.row(0).known == 0 ? 0u : 2u);
    return all.row(0).known;
  };
  EXPECT_EQ(known(2, 2), 1u);
  EXPECT_EQ(known(1, 1), 1u) << "as many as there are";
  EXPECT_EQ(known(3, 2), 0u);
  EXPECT_EQ(known(2, 3), 0u);
}

TEST(MatchExchanges, SeveralThatComeLastShareWhatOthersWaited) {
  std::vector<RankExchanges> ranks = {rank_with({{0, 100, 1}}, 4), rank_with({{40, 100, 1}}, 4),
                                      rank_with({{70, 100, 1}}, 4), rank_with({{70, 100, 1}}, 4)};
  ranks[1].members[0]["0"].exchanges[0].counts = true;
  const Matched all = matched(std::move(ranks));
  EXPECT_EQ(all.row(0).wait_ns, 70u);
  EXPECT_EQ(all.row(1).wait_ns, 30u);
  EXPECT_EQ(all.row(2).others_wait_ns, (70 + 30) / 2);
  EXPECT_EQ(all.row(3).others_wait_ns, (70 + 30) / 2);
  EXPECT_EQ(all.row(0).others_wait_ns, 0);
}

TEST(MatchExchanges, WithoutNamesOfGroupsFourThatEndApartCouldBeTwo) {
  // The ends of the last are `apart` later; each transfer takes 100 us.
  const auto known = [](std::uint64_t apart, std::size_t members, std::size_t of_20) {
    std::vector<RankExchanges> ranks;
    for (std::size_t i = 0; i < members; ++i) {
      RankExchanges& rank = ranks.emplace_back(rank_with({}, 0, false));
      for (std::uint64_t n = 0; n < 20; ++n) {
        Exchange& exchange = rank.members[0]["0"].exchanges.emplace_back();
        const std::uint64_t late = i == 0 && n < of_20 ? apart : 0;
        exchange.start_ns = n * 1'000'000 + late;
        exchange.end_ns = n * 1'000'000 + 100'000 + late;
        exchange.kind = Collective::all_reduce;
        ++rank.rows[0].launches;
      }
    }
    return matched(std::move(ranks)).row(0).known;
  };
  EXPECT_EQ(known(25'000, 4, 20), 20u) << "a quarter of the transfer";
  EXPECT_EQ(known(25'001, 4, 20), 0u);
  EXPECT_EQ(known(25'001, 4, 1), 20u) << "of one in 20 it does not matter";
  EXPECT_EQ(known(25'001, 4, 2), 0u);
  EXPECT_EQ(known(25'001, 3, 20), 20u) << "three are no two groups";
}

TEST(MatchExchanges, OfShortOnesEndsMayBe20UsApart) {
  const auto known = [](std::uint64_t apart) {
    std::vector<RankExchanges> ranks;
    for (std::size_t i = 0; i < 4; ++i)
      ranks.push_back(rank_with({{i == 0 ? apart : 0, 15'000 + (i == 0 ? apart : 0)}}, 0, false));
    return matched(std::move(ranks)).row(0).known;
  };
  EXPECT_EQ(known(20'000), 1u);
  EXPECT_EQ(known(20'001), 0u);
}

TEST(MatchExchanges, InTheStepOfTheSameNumberTheFirstIsWithTheFirst) {
  const Matched all = matched({rank_with({{0, 10, {}, 1}, {20, 50, {}, 1}, {60, 70, {}, 2}}, 2),
                               rank_with({{0, 8, {}, 1}, {20, 40, {}, 1}, {60, 75, {}, 3}}, 2)});
  EXPECT_EQ(all.row(0).known, 2u);
  EXPECT_EQ(all.row(0).wait_ns, 2u + 10u);
  EXPECT_EQ(all.row(1).others_wait_ns, 2u + 10u);
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_NE(all.notes[0].find("of 2 collective kernels"), std::string::npos);
}

TEST(MatchExchanges, WhatHasNoNumberIsNotThatOfNumberZero) {
  std::vector<RankExchanges> ranks = {rank_with({{0, 10, {}, {}}, {20, 30, {}, 0}}),
                                      rank_with({{0, 25, {}, 0}})};
  ranks[0].members[0]["0"].exchanges[0].counts = false;
  EXPECT_EQ(matched(std::move(ranks)).row(0).known, 1u);
}

}  // namespace
}  // namespace gable
