// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/step_forecast.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(StepForecast, KnowsNothingOfLaunchesThatNothingFollowed) {
  StepForecast forecast;
  EXPECT_EQ(forecast.next(), std::nullopt);
  forecast.ended(1);
  EXPECT_EQ(forecast.next(), std::nullopt);
}

TEST(StepForecast, ExpectsARepetition) {
  StepForecast forecast;
  forecast.ended(1);
  forecast.ended(1);
  EXPECT_EQ(forecast.next(), 1u);
}

TEST(StepForecast, ExpectsWhatTakesTurns) {
  StepForecast forecast;
  for (const std::uint64_t sequence : {1, 2, 3, 1}) forecast.ended(sequence);
  EXPECT_EQ(forecast.next(), 2u);
  forecast.ended(2);
  EXPECT_EQ(forecast.next(), 3u);
}

TEST(StepForecast, BelievesWhatCameLast) {
  StepForecast forecast;
  for (const std::uint64_t sequence : {1, 2, 1, 3, 1}) forecast.ended(sequence);
  EXPECT_EQ(forecast.next(), 3u);
}

TEST(StepForecast, RemembersSoManySequencesOnly) {
  StepForecast forecast;
  for (std::uint64_t sequence = 0; sequence < 2 * StepForecast::kMostSequences; ++sequence)
    forecast.ended(sequence);
  forecast.ended(StepForecast::kMostSequences);
  EXPECT_EQ(forecast.next(), std::nullopt);
  forecast.ended(0);
  EXPECT_EQ(forecast.next(), 1u);
}

}  // namespace
}  // namespace gable
