// SPDX-License-Identifier: Apache-2.0
// The playback GPU's model of chips against the toolkit's own host API, which needs no GPU: which
// metrics exist, and how many passes pairs and triples of them need.
#include "tools/playback/cupti/chip_model.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "analysis/events/quantities.h"
#include "analysis/events/roof_metrics.h"
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
  for (const RoofMetric& roof : kRoofMetrics)
    for (const auto metric : {roof.peak, roof.clock})
      if (!metric.empty()) names.insert(std::string(metric));
  for (const std::string& name : names)
    EXPECT_EQ(ChipModel::has(*chip, name), asked(GetParam(), {name}).has_value())
        << name << ": write chip_tables.cpp anew, or name it among the instrumented metrics of "
        << "tools/playback/cupti/chip_model.cpp; CONTRIBUTING.md says how";
}

INSTANTIATE_TEST_SUITE_P(Chips, ChipModelTest, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const char* chip : ChipModel::chips()) names.emplace_back(chip);
                           return names;
                         }()),
                         [](const auto& chip) { return std::string(chip.param); });

// The metrics of a chip's table: those that it has, and behind them those of the sets and of roofs
// that it lacks. A chip without a table starts with the metrics of all others.
std::vector<std::string> hardware_metrics(const std::string& chip) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    std::string own(name);
    if (own.ends_with(".sum")) own.resize(own.size() - 4);
    const bool known = std::find(names.begin(), names.end(), own) != names.end();
    const bool plain = name.find("__sass_") == std::string_view::npos && !ChipModel::fits_all(name);
    if (!known && plain && asked(chip, {full(own)})) names.push_back(std::move(own));
  };
  const ChipTable* own = ChipModel::find(chip);
  for (const char* other : ChipModel::chips()) {
    const ChipTable* table = own != nullptr ? own : ChipModel::find(other);
    for (std::size_t i = 0; i < table->count; ++i) add(table->metrics[i].name);
  }
  for (const MetricSet& set : metric_sets())
    for (const SetQuantity& quantity : set.quantities)
      for (const auto metric : quantity.metrics) add(metric);
  for (const RoofMetric& roof : kRoofMetrics)
    for (const auto metric : {roof.peak, roof.clock})
      if (!metric.empty()) add(metric);
  return names;
}

// A chip's part of chip_tables.cpp; whether it has triples.
bool write_table(std::ostream& out, const std::string& chip) {
  const std::vector<std::string> names = hardware_metrics(chip);
  const std::size_t count = names.size();
  EXPECT_LE(count, 64U) << chip << ": a table's masks have 64 bits";
  const auto passes = [&](std::vector<std::string> some) {
    some.insert(some.end(), kBeside.begin(), kBeside.end() - 1);  // L2 sectors are in the tables
    for (auto& name : some) name = full(name);
    return asked(chip, some).value_or(0);
  };
  out << "const ModelMetric k" << chip << "[] = {\n";
  std::vector<std::vector<bool>> beside(count, std::vector<bool>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t alone = passes({names[i]});
    unsigned long long mask = 1ULL << i;
    for (std::size_t j = 0; j < count && alone == 1; ++j) {
      beside[i][j] = i == j || (j < i ? bool(beside[j][i]) : passes({names[i], names[j]}) == 1);
      if (beside[i][j]) mask |= 1ULL << j;
    }
    out << "    {\"" << names[i] << "\", " << alone << ", 0x" << std::hex << mask << std::dec
        << "ULL},\n";
  }
  out << "};\n";
  std::string line;
  bool any = false;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      for (std::size_t k = j + 1; k < count; ++k) {
        if (!beside[i][j] || !beside[i][k] || !beside[j][k]) continue;
        if (passes({names[i], names[j], names[k]}) == 1) continue;
        if (!any) out << "const ModelTriple k" << chip << "Triples[] = {\n";
        any = true;
        std::ostringstream one;
        one << " {" << i << ", " << j << ", " << k << "},";
        if (line.size() + one.str().size() > 96) {
          out << "   " << line << "\n";
          line.clear();
        }
        line += one.str();
      }
  if (any) out << "   " << line << "\n};\n";
  out << "\n";
  return any;
}

// Writes chip_tables.cpp anew: after a change of the sets, or for a further chip, which GABLE_CHIP
// then names. CONTRIBUTING.md has the command.
TEST(ChipTables, AreWrittenAnew) {
  const char *path = std::getenv("GABLE_CHIP_TABLES"), *more = std::getenv("GABLE_CHIP");
  if (path == nullptr) GTEST_SKIP() << "GABLE_CHIP_TABLES names no file to write";
  SKIP_WITHOUT_REAL_CUPTI();
  std::vector<std::string> chips;
  for (const char* chip : ChipModel::chips()) chips.emplace_back(chip);
  if (more != nullptr && ChipModel::find(more) == nullptr) chips.emplace_back(more);
  std::ostringstream tables, list;
  for (const std::string& chip : chips) {
    ASSERT_TRUE(asked(chip, {"gpu__time_duration.sum"})) << "this CUPTI does not know " << chip;
    const bool triples = write_table(tables, chip);
    list << "    {\"" << chip << "\", k" << chip << ", std::size(k" << chip << "), ";
    if (triples)
      list << "k" << chip << "Triples, std::size(k" << chip << "Triples)},\n";
    else
      list << "nullptr, 0},\n";
  }
  std::ifstream old(path);
  std::stringstream text;
  text << old.rdbuf();
  const std::string before = text.str();
  const std::string head = "// clang-format off\n", tail = "// clang-format on\n";
  const std::string list_head = "const ChipTable kChipTables[] = {\n";
  const std::size_t begin = before.find(head), end = before.find(tail), at = before.find(list_head),
                    after = before.find("};\n", at);
  ASSERT_TRUE(begin < end && end < at && at < after && after != std::string::npos) << path;
  std::ofstream out(path);
  out << before.substr(0, begin + head.size()) << tables.str() << before.substr(end, at - end)
      << list_head << list.str() << before.substr(after);
  ASSERT_TRUE(out.flush().good()) << path;
}

}  // namespace
}  // namespace gable::playback
