// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/cupti/counter_image.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable::playback {
namespace {

const std::vector<std::string> kMetrics = {"a.sum", "bc.sum"};

TEST(ConfigImages, SayTheirChipAndMetrics) {
  const auto bytes = ConfigImage{"GH100", kMetrics}.write();
  ASSERT_EQ(bytes.size(), 8U + 6 + 6 + 7);
  ConfigImage read;
  ASSERT_TRUE(ConfigImage::read(bytes.data(), bytes.size(), read));
  EXPECT_EQ(read.chip, "GH100");
  EXPECT_EQ(read.metrics, kMetrics);
}

TEST(ConfigImages, OtherBytesAreNone) {
  auto bytes = ConfigImage{"", {}}.write();
  ConfigImage read;
  EXPECT_TRUE(ConfigImage::read(bytes.data(), bytes.size(), read));
  EXPECT_FALSE(ConfigImage::read(bytes.data(), 8, read));
  EXPECT_FALSE(ConfigImage::read(nullptr, bytes.size(), read));
  bytes[7] = '2';
  EXPECT_FALSE(ConfigImage::read(bytes.data(), bytes.size(), read));
}

class CounterImages : public testing::Test {
 protected:
  void SetUp() override { CounterImage::initialize(bytes_.data(), bytes_.size(), kMetrics, 2); }
  bool append(const std::string& name, std::vector<double> values) {
    return CounterImage::append(bytes_.data(), bytes_.size(), {name, std::move(values)});
  }
  // The header, both names rounded up to 16, and two ranges of a name and two values.
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(40 + 16 + 2 * (256 + 16), 0xff);
};

TEST_F(CounterImages, HaveRoomForTheirRanges) {
  EXPECT_EQ(CounterImage::size_for(kMetrics, 2), bytes_.size());
  EXPECT_EQ(CounterImage::size_for({"a.summed"}, 0), 40U + 16) << "nine bytes";
  EXPECT_EQ(CounterImage::size_for({"a.summe"}, 0), 40U + 8) << "eight bytes";
  const CounterImage empty(bytes_.data(), bytes_.size());
  EXPECT_TRUE(empty.valid());
  EXPECT_EQ(empty.ranges(), 0U);
  EXPECT_EQ(empty.max_ranges(), 2U);
  EXPECT_EQ(empty.metrics(), kMetrics);
}

TEST_F(CounterImages, TakeRangesUntilTheyAreFull) {
  EXPECT_TRUE(append("first", {1.5, 2.5}));
  EXPECT_TRUE(append(std::string(300, 'n'), {3.5, 4.5}));
  EXPECT_FALSE(append("third", {5.5, 6.5}));
  const CounterImage image(bytes_.data(), bytes_.size());
  ASSERT_TRUE(image.valid());
  ASSERT_EQ(image.ranges(), 2U);
  EXPECT_EQ(image.range(0).name, "first");
  EXPECT_EQ(image.range(0).values, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(image.range(1).name, std::string(255, 'n'));
  EXPECT_EQ(image.range(1).values, (std::vector<double>{3.5, 4.5}));
}

TEST_F(CounterImages, OtherBytesAreNone) {
  EXPECT_FALSE(CounterImage(nullptr, bytes_.size()).valid());
  EXPECT_FALSE(CounterImage(bytes_.data(), 39).valid());
  EXPECT_FALSE(CounterImage(bytes_.data(), bytes_.size() - 1).valid());
  bytes_[0] = 'x';
  EXPECT_FALSE(CounterImage(bytes_.data(), bytes_.size()).valid());
  EXPECT_FALSE(append("first", {1.5, 2.5}));
}

TEST_F(CounterImages, ChecksumsSeeEveryByte) {
  const auto whole = checksum(bytes_.data(), bytes_.size());
  for (const std::size_t place : {std::size_t{0}, std::size_t{7}, bytes_.size() - 1}) {
    auto other = bytes_;
    other[place] ^= 1;
    EXPECT_NE(checksum(other.data(), other.size()), whole) << place;
  }
  EXPECT_NE(checksum(bytes_.data(), 9), checksum(bytes_.data(), 10));
  EXPECT_EQ(checksum(bytes_.data(), 0), 1469598103934665603U);
}

}  // namespace
}  // namespace gable::playback
