// SPDX-License-Identifier: Apache-2.0
#include "tools/show/slowest_rank.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/made_report.h"
#include "tools/show/table.h"

namespace gable::tests {
namespace {

std::vector<Report> ranks(const std::vector<double>& times) {
  std::vector<Report> out;
  for (std::size_t i = 0; i < times.size(); ++i) {
    MadeReport made;
    const auto layer = made.add_layer({"net"});
    made.add_kernel(layer, "sgemm", times[i], 10, 100);
    // The faster a rank is, the longer it waits in there.
    made.add_kernel(layer, "ncclDevKernel_AllReduce", 5000 - times[i], 0, 1);
    made.report.run.rank = static_cast<std::int64_t>(i);
    made.report.run.pid = static_cast<std::int64_t>(100 + i);
    out.push_back(made.done());
  }
  return out;
}

TEST(SlowestRank, HasTheMostWorkBesidesWaitingForOthers) {
  const std::vector<Report> all = ranks({1000, 1300, 1000});
  ASSERT_TRUE(slowest_rank(all));
  EXPECT_EQ(slowest_rank(all)->place, 1u);
  EXPECT_EQ(ranks_line(all),
            "Without communication kernels take 1.30 us a step on rank 1, the longest, and 1.10 us "
            "on average: the others wait for it.");
  const std::string table = render_table(all);
  EXPECT_NE(table.find("on rank 1, the longest"), std::string::npos) << table;
  EXPECT_NE(table.find("What would help rank 1 most"), std::string::npos) << table;
}

TEST(SlowestRank, EqualRanksWaitForNobody) {
  EXPECT_TRUE(ranks_line(ranks({1000, 1020, 1000})).ends_with(" on average."));
}

TEST(SlowestRank, IsUnknownUnlessEachReportIsOfARank) {
  EXPECT_FALSE(slowest_rank(ranks({1000})));
  std::vector<Report> all = ranks({1000, 1300});
  all[1].run.rank = 0;
  EXPECT_FALSE(slowest_rank(all));
  all[1].run.rank.reset();
  EXPECT_FALSE(slowest_rank(all));
  all = ranks({1000, 1300});
  all[1].run.unit = Unit::run;
  EXPECT_FALSE(slowest_rank(all));
  all = ranks({1000, 1300});
  all[0].kernels[0].time_total_ns.reset();
  EXPECT_FALSE(slowest_rank(all)) << "its time is unknown, and not the shortest";
  EXPECT_EQ(ranks_line(all), "");
}

}  // namespace
}  // namespace gable::tests
