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

// The critic of a GAN learns five times, then its generator.
TEST(StepForecast, ExpectsWhatComesAfterARow) {
  StepForecast forecast;
  const std::uint64_t critic = 1, generator = 2;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) forecast.ended(critic);
    forecast.ended(generator);
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(forecast.next(), critic) << i;
    forecast.ended(critic);
  }
  EXPECT_EQ(forecast.next(), generator);
}

TEST(StepForecast, BelievesWhatCameLast) {
  StepForecast forecast;
  for (const std::uint64_t sequence : {1, 2, 9, 1, 3, 8, 1}) forecast.ended(sequence);
  EXPECT_EQ(forecast.next(), 3u);
}

TEST(StepForecast, RemembersSoManyRowsOnly) {
  StepForecast forecast;
  for (std::uint64_t sequence = 1; sequence <= StepForecast::kMostRows; ++sequence)
    forecast.ended(sequence);
  forecast.ended(StepForecast::kMostRows - 1);
  EXPECT_EQ(forecast.next(), std::nullopt);
  forecast.ended(1);
  EXPECT_EQ(forecast.next(), 2u);
}

}  // namespace
}  // namespace gable
