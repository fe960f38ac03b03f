// SPDX-License-Identifier: Apache-2.0
// The playback GPU's model of chips against the toolkit's own host API, which needs no GPU: which
// metrics exist, and how many passes pairs and triples of them need.
#include "tools/playback/cupti/chip_model.h"

#include <algorithm>
#include <random>
#include <set>

#include "analysis/events/quantities.h"
#include "collector/metrics/host_object.h"
#include "collector/options/metric_sets.h"
#include "tests/unit/collector/real_cupti.h"

namespace gable::playback {
namespace {

std::optional<std::size_t> asked(const std::string& chip, const std::vector<std::string>& metrics) {
  HostObject host(real_cupti(), chip);
  std::vector<std::uint8_t> image;
  std::size_t passes = 0;
  if (host.open().failed() || host.add(metrics).failed()) return std::nullopt;
  if (host.config_image(image).failed() || host.passes(image, passes).failed()) return std::nullopt;
  return passes;
}

class ChipModelTest : public testing::TestWithParam<std::string> {};

const std::vector<std::string> kBeside = {
    "dram__sectors_read.sum", "dram__sectors_write.sum", "gpu__time_duration.sum",
    "sm__ctas_launched.sum",  "sm__cycles_elapsed.avg",  "lts__t_sectors_srcunit_tex.sum"};

std::vector<std::string> with(std::vector<std::string> some) {
  for (const auto& name : kBeside)
    if (std::find(some.begin(), some.end(), name) == some.end()) some.push_back(name);
  return some;
}

std::string full(std::string_view name) {
  return std::string(name) + (name.find('.') == std::string_view::npos ? ".sum" : "");
}

TEST_P(ChipModelTest, SinglesPairsAndTriples) {
  SKIP_WITHOUT_REAL_CUPTI();
  const ChipTable* chip = ChipModel::find(GetParam());
  ASSERT_NE(chip, nullptr);
  if (!asked(GetParam(), {"gpu__time_duration.sum"}))
    GTEST_SKIP() << "the CUPTI at hand does not know " << GetParam();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < chip->count; ++i) names.push_back(full(chip->metrics[i].name));
  for (const auto& name : names) {
    const auto set = with({name});
    EXPECT_EQ(ChipModel::passes(*chip, set) == 1u, asked(GetParam(), set) == 1u) << name;
  }
  std::mt19937 random(7);
  const auto any = [&] { return names[random() % names.size()]; };
  for (int i = 0; i < 40; ++i) {
    auto set = with({any(), any()});
    if (set[0] == set[1]) continue;
    const auto model = ChipModel::passes(*chip, set), real = asked(GetParam(), set);
    // More than one pass is refused, whether it is two or five.
    EXPECT_EQ(model == 1u, real == 1u) << set[0] << " " << set[1];
    auto three = with({set[0], set[1], any()});
    if (three[2] == three[0] || three[2] == three[1]) continue;
    EXPECT_EQ(ChipModel::passes(*chip, three) == 1u, asked(GetParam(), three) == 1u)
        << three[0] << " " << three[1] << " " << three[2];
  }
}

TEST_P(ChipModelTest, InstrumentedMetricsAreAPassOfTheirOwn) {
  SKIP_WITHOUT_REAL_CUPTI();
  const ChipTable* chip = ChipModel::find(GetParam());
  if (!asked(GetParam(), {"gpu__time_duration.sum"}))
    GTEST_SKIP() << "the CUPTI at hand does not know " << GetParam();
  std::vector<std::string> sass;
  for (const char* op : {"fadd", "fmul", "ffma", "hadd", "hmul", "hfma", "dadd", "dmul", "dfma"})
    sass.push_back("smsp__sass_thread_inst_executed_op_" + std::string(op) + "_pred_on.sum");
  EXPECT_EQ(ChipModel::passes(*chip, sass), asked(GetParam(), sass));
  sass.push_back("dram__sectors_read.sum");
  EXPECT_EQ(ChipModel::passes(*chip, sass), asked(GetParam(), sass));
  EXPECT_FALSE(ChipModel::has(*chip, "no__such_metric.sum"));
}

// What --metrics can ask of the playback GPU is what the chip has.
TEST_P(ChipModelTest, HasTheMetricsOfTheSetsThatTheChipHas) {
  SKIP_WITHOUT_REAL_CUPTI();
  const ChipTable* chip = ChipModel::find(GetParam());
  if (!asked(GetParam(), {"gpu__time_duration.sum"}))
    GTEST_SKIP() << "the CUPTI at hand does not know " << GetParam();
  std::set<std::string> names;
  for (const auto& role : metric_roles())
    if (role.quantity == Quantity::l1_escapes) names.insert(std::string(role.metric));
  for (const MetricSet& set : metric_sets())
    for (const SetQuantity& quantity : set.quantities)
      for (const auto metric : quantity.metrics) names.insert(std::string(metric));
  for (const std::string& name : names)
    EXPECT_EQ(ChipModel::has(*chip, name), asked(GetParam(), {name}).has_value()) << name;
}

INSTANTIATE_TEST_SUITE_P(Chips, ChipModelTest, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const char* chip : ChipModel::chips()) names.emplace_back(chip);
                           return names;
                         }()),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace gable::playback
