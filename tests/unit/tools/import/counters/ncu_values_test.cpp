// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes and titles as ncu prints them.
#include "tools/import/counters/ncu_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gable {
namespace {

TEST(NcuValues, Numbers) {
  EXPECT_EQ(ncu_number("53,261,312"), 53261312);
  EXPECT_EQ(ncu_number("3995313115.40"), 3995313115.40);
  EXPECT_EQ(ncu_number("-1"), -1);
  EXPECT_EQ(ncu_number("0"), 0);
  EXPECT_EQ(ncu_number("1e999"), HUGE_VAL);  // the reader refuses it
  EXPECT_EQ(ncu_number(std::string(64, '1')), 1.1111111111111111e63);
  for (const std::string& text : {std::string(), std::string("n/a"), std::string("CachePreferNone"),
                                  std::string("1 2"), std::string(","), std::string(65, '1')})
    EXPECT_FALSE(ncu_number(text)) << text;
}

TEST(NcuValues, SignsAndBlanksAroundNumbers) {
  for (const char* text :
       {"+5", " 5", "5 ", "\t5", "\u00A05\u2007", "\u30005\u202F", " +5 ", "\uFEFF5"})
    EXPECT_EQ(ncu_number(text), 5) << text;
  for (const char* text : {"\u22125", "-5", " \u22125 "}) EXPECT_EQ(ncu_number(text), -5) << text;
  EXPECT_EQ(ncu_number("1\u2007234\u2007567"), 1234567);
  for (const char* text : {"+-5", "--5", "- 5", "5%", "1_234", "1\u3000234", "\uFF15\uFF10", "0x10",
                           "\u0661\u066C\u0662", "1e", "(5)", "1 2 3", "5 foo"})
    EXPECT_FALSE(ncu_number(text)) << text;
}

TEST(NcuValues, WhatIsNoNumberToAnyone) {
  for (const char* text : {"", " ", "n/a", "N/A", "nan", "-nan(ind)", "nan(0x800)", "inf", "-inf",
                           "-", "(!) n/a", "CachePreferNone", "no data", "gr\u00FCn"})
    EXPECT_TRUE(ncu_says_nothing(text, true)) << text;
  for (const char* text : {"1_234", "\uFF15", "\u0665", "1e", "(5)", "0x10", "5%", "\u221E", ",5,"})
    EXPECT_FALSE(ncu_says_nothing(text, false)) << text;
  EXPECT_TRUE(ncu_says_nothing("\u00A0n/a\u202F", true));
  EXPECT_TRUE(ncu_says_nothing("Policy2", false));
  EXPECT_FALSE(ncu_says_nothing("Policy2", true));
}

TEST(NcuValues, OneDecimalMarkAtATime) {
  EXPECT_EQ(ncu_number("1.234,5", DecimalMark::comma), 1234.5);
  EXPECT_FALSE(ncu_number("1.234,5", DecimalMark::point));
  EXPECT_EQ(ncu_number("1.234", DecimalMark::point), 1.234);
  EXPECT_EQ(ncu_number("1.234", DecimalMark::comma), 1234);
  EXPECT_EQ(ncu_number("12,34,567"), 1234567);
  EXPECT_EQ(ncu_number("1,234"), 1234);
  EXPECT_EQ(ncu_number("12,345,678"), 12345678);
  EXPECT_EQ(ncu_number("123.456.789", DecimalMark::comma), 123456789);
  for (const char* text : {"12,34", "1,2345", ",234", "0,123", "1234,567", "1,234'567", "1,",
                           "1,234;567", "1,2a4", "12,345,67"})
    EXPECT_FALSE(ncu_number(text)) << text;
  EXPECT_EQ(ncu_number("1,e3", DecimalMark::comma), 1000);
}

TEST(NcuValues, WhichMarkANumberShows) {
  const std::pair<const char*, MarkEvidence> all[] = {{"15,36", MarkEvidence::comma},
                                                      {"1.5", MarkEvidence::point},
                                                      {"1.234", MarkEvidence::any_point},
                                                      {"1,234", MarkEvidence::any_comma},
                                                      {"1234", MarkEvidence::no_groups},
                                                      {"n/a", MarkEvidence::none},
                                                      {"123", MarkEvidence::none},
                                                      {"-4096", MarkEvidence::no_groups},
                                                      {"1 234", MarkEvidence::other_groups},
                                                      {"1'234", MarkEvidence::other_groups},
                                                      {"1\u202F234", MarkEvidence::other_groups},
                                                      {" 12 ", MarkEvidence::none},
                                                      {"1e5", MarkEvidence::none},
                                                      {"1 2", MarkEvidence::none},
                                                      {"1,2,3", MarkEvidence::neither},
                                                      {"(8, 1, 1)", MarkEvidence::none},
                                                      {"0.123", MarkEvidence::point},
                                                      {"+15,36", MarkEvidence::comma},
                                                      {"15,36%", MarkEvidence::comma},
                                                      {"1,234,567", MarkEvidence::point},
                                                      {"-1.234,5", MarkEvidence::comma},
                                                      {"v1.2.3", MarkEvidence::none}};
  for (const auto& [text, evidence] : all) EXPECT_EQ(mark_evidence(text), evidence) << text;
}

TEST(NcuValues, Sizes) {
  const auto size = ncu_size("(256, 2, 64)");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->x, 256u);
  EXPECT_EQ(size->y, 2u);
  EXPECT_EQ(size->z, 64u);
  EXPECT_TRUE(ncu_size("(1,2,3)"));
  for (const char* text : {"", "(", "()", "(1, 2)", "(1, 2, 3", "1, 2, 3)", "(1, 2, 3, 4)",
                           "(1; 2; 3)", "(-1, 2, 3)", "(1, 2, 4294967296)"})
    EXPECT_FALSE(ncu_size(text)) << text;
}

TEST(NcuValues, TitlesOfSections) {
  EXPECT_EQ(ncu_metric_of_title("Duration", "usecond"), "gpu__time_duration.sum");
  EXPECT_EQ(ncu_metric_of_title("Elapsed Cycles", "cycle"), "sm__cycles_elapsed.max");
  EXPECT_EQ(ncu_metric_of_title("Memory Throughput", "Gbyte/second"), "dram__bytes.sum.per_second");
  EXPECT_EQ(ncu_metric_of_title("Memory Throughput", "GB/s"), "dram__bytes.sum.per_second");
  for (const char* title : {"Memory Throughput", "SOL Memory"})
    EXPECT_EQ(ncu_metric_of_title(title, "%"),
              "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
  for (const char* title : {"Compute (SM) Throughput", "SOL SM"})
    EXPECT_EQ(ncu_metric_of_title(title, "%"), "sm__throughput.avg.pct_of_peak_sustained_elapsed");
  EXPECT_EQ(ncu_metric_of_title("Registers Per Thread", "register/thread"), "");
}

}  // namespace
}  // namespace gable
