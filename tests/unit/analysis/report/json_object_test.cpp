// SPDX-License-Identifier: Apache-2.0
// Numbers in JSON, at the ends of what they can be.
#include "analysis/report/json_object.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace gable {
namespace {

double number(const std::string& text) {
  const rapidjson::Document json = json::parsed("[" + text + "]");
  EXPECT_TRUE(json[0].IsNumber()) << text;
  return json[0].GetDouble();
}

TEST(JsonNumbers, AreReadToTheLastDigit) {
  for (const double value : {0.1, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
                             9007199254740993.0, -123.456}) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    EXPECT_EQ(number(text), value) << text;
  }
  EXPECT_EQ(number("123456789012345678901234567890"), 123456789012345678901234567890.0);
  EXPECT_EQ(json::parsed("[18446744073709551615]")[0].GetUint64(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json::parsed("[-9223372036854775808]")[0].GetInt64(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(json::parsed("[1.0]")[0].IsInt64());
  EXPECT_EQ(json::parsed("[\"1\"]")[0].GetString(), std::string("1"));
}

TEST(JsonNumbers, TooSmallForADoubleAreZero) {
  for (const std::size_t zeros : {20, 340, 350, 400, 5000}) {
    EXPECT_LT(number("0." + std::string(zeros, '0') + "17"), 1e-20) << zeros;
    EXPECT_EQ(number("0." + std::string(zeros, '0')), 0) << zeros;
  }
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("-1e-400"), 0);
}

TEST(JsonNumbers, TooLargeForADoubleAreRefused) {
  for (const std::string text : {"1e309", "17e308", "-1e400", "1e99999", "1e4294967297"})
    EXPECT_THROW((void)json::parsed("[" + text + "]"), json::NoJson) << text;
  EXPECT_THROW((void)json::parsed("[" + std::string(400, '9') + "]"), json::NoJson);
}

TEST(JsonNumbers, AreWrittenAsJsonWritesThem) {
  for (const std::string text : {"01", "+1", ".5", "1.", "1e", "0x10", "nan", "inf", "-"})
    EXPECT_THROW((void)json::parsed("[" + text + "]"), json::NoJson) << text;
}

}  // namespace
}  // namespace gable
