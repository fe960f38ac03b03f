// SPDX-License-Identifier: Apache-2.0
// Counter images are kept for other machines: one of a phase, so many and so large, and what was
// left out is counted.
#include "collector/counters/kept_images.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace gable {
namespace {

class KeptImagesOf : public testing::Test {
 protected:
  void keep(std::uint32_t group, std::size_t bytes = 8, double value = 1) {
    PassPlan plan;
    plan.phase = {PhaseKind::hw, static_cast<std::uint8_t>(group)};
    plan.metrics = {"a.sum", "b.sum"};
    plan.config_image = {7, 8, 9};
    const std::vector<std::uint8_t> image(bytes, static_cast<std::uint8_t>(group));
    const std::vector<RangeValues> ranges = {{"0", {value, 2}}};
    images_.keep({&plan, "GH100", 130000, image, ranges});
  }
  [[nodiscard]] ImagesRead read_back(const std::string& text) const {
    const std::string path = testing::TempDir() + "gable-kept-" + std::to_string(::getpid());
    std::ofstream(path, std::ios::binary) << text;
    auto read = read_images(path);
    std::remove(path.c_str());
    return read;
  }
  KeptImages images_;
};

TEST_F(KeptImagesOf, NoMoreThanThereAreToBe) {
  EXPECT_TRUE(images_.empty());
  for (std::uint32_t group = 0; group < KeptImages::kMostImages; ++group) keep(group);
  EXPECT_EQ(images_.left_out(), 0u);
  keep(KeptImages::kMostImages);
  EXPECT_EQ(images_.left_out(), 1u);
  keep(KeptImages::kMostImages);  // the same phase again
  EXPECT_EQ(images_.left_out(), 1u);
  keep(KeptImages::kMostImages + 1);
  EXPECT_EQ(images_.left_out(), 2u);
  EXPECT_EQ(read_back(images_.text("cupti")).images.size(), KeptImages::kMostImages);
}

TEST_F(KeptImagesOf, TheFirstOfAPhaseUnlessItIsTooLarge) {
  keep(0, KeptImages::kMostBytes + 1);
  EXPECT_FALSE(images_.empty());
  EXPECT_EQ(images_.left_out(), 1u);
  keep(0, KeptImages::kMostBytes, 5);
  EXPECT_EQ(images_.left_out(), 0u);
  keep(0, 8, 6);
  const auto read = read_back(images_.text("cupti"));
  ASSERT_EQ(read.images.size(), 1u);
  EXPECT_EQ(read.images[0].counters.size(), KeptImages::kMostBytes);
  EXPECT_EQ(read.images[0].ranges[0].values, (std::vector<double>{5, 2}));
}

TEST_F(KeptImagesOf, WithoutRangesThereIsNothingToCompare) {
  const PassPlan plan;
  images_.keep({&plan, "GH100", 130000, {1}, {}});
  EXPECT_TRUE(images_.empty());
}

TEST_F(KeptImagesOf, AreReadAsTheyWere) {
  keep(3);
  const auto read = read_back(images_.text("playback"));
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.source, "playback");
  ASSERT_EQ(read.images.size(), 1u);
  const CounterImage& image = read.images[0];
  EXPECT_EQ(image.phase_name, "hw:4");
  EXPECT_EQ(image.chip, "GH100");
  EXPECT_EQ(image.cupti, 130000u);
  EXPECT_EQ(image.metrics, (std::vector<std::string>{"a.sum", "b.sum"}));
  EXPECT_EQ(image.config, (std::vector<std::uint8_t>{7, 8, 9}));
  EXPECT_EQ(image.counters, (std::vector<std::uint8_t>(8, 3)));
  ASSERT_EQ(image.ranges.size(), 1u);
  EXPECT_EQ(image.ranges[0].name, "0");
  EXPECT_EQ(image.ranges[0].values, (std::vector<double>{1, 2}));
}

TEST_F(KeptImagesOf, WhatIsNoneOfThemIsAnError) {
  EXPECT_NE(read_images(testing::TempDir() + "gable-no-such-file").error, "");
  EXPECT_NE(read_back("").error, "");
  EXPECT_NE(read_back(std::string("\xa1\x61"
                                  "a\x01",
                                  4))
                .error,
            "");  // {"a": 1}
  keep(0);
  const auto text = images_.text("cupti");
  EXPECT_NE(read_back(text.substr(0, text.size() / 2)).error, "");
  EXPECT_TRUE(read_back(text.substr(0, text.size() / 2)).images.empty());
}

}  // namespace
}  // namespace gable
