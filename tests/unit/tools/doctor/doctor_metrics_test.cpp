// SPDX-License-Identifier: Apache-2.0
// `gable doctor --chip … --metrics …` and the page about all chips, from the toolkit's own CUPTI,
// which needs no GPU for this.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/unit/tools/run_gable.h"

#if GABLE_HAVE_INJECT && defined(GABLE_CUPTI_LIBRARY)

namespace gable::tests {
namespace {

Ran plan_by_doctor(const std::string& options) {
  return run_gable("doctor --cupti '" GABLE_CUPTI_LIBRARY "' --chip " + options);
}

TEST(DoctorMetrics, PlansWhatARunWouldCollect) {
  const Ran ran = plan_by_doctor("GH100 --metrics cache,smsp__inst_executed");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("l1tex__t_sectors_lookup_hit.sum "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("smsp__inst_executed.sum "), std::string::npos);
  EXPECT_EQ(ran.out.find("_op_ffma_"), std::string::npos);
}

TEST(DoctorMetrics, ANameThatIsNoneIsWrongAndOneThatNeedsMorePassesALimit) {
  const Ran wrong = plan_by_doctor("GH100 --metrics roofline,no__such");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.out.find("no__such is left out: CUPTI has no metric of that name for GH100.\n"),
            std::string::npos);
  const Ran limited = plan_by_doctor("GH100 --metrics roofline,l1tex__t_requests");
  EXPECT_EQ(limited.code, 1);
  EXPECT_NE(limited.out.find("l1tex__t_requests is left out: GH100 needs "), std::string::npos);
  EXPECT_EQ(plan_by_doctor("GH100 --metrics no__such").code, 2);
}

TEST(DoctorMetrics, OptionsThatDoNotGoTogetherAreOneSentence) {
  for (const char* options : {"all", "GH100 --markdown", "all --markdown --metrics cache"}) {
    const Ran ran = plan_by_doctor(options);
    EXPECT_EQ(ran.code, 2) << options;
    EXPECT_EQ(ran.out, "");
  }
  EXPECT_EQ(run_gable("doctor --metrics cache").code, 2);
}

// The page in the repository is what the planner does today, where CUPTI is the one it was printed
// with.
TEST(DoctorMetrics, ThePageOfAllChipsIsUpToDate) {
  std::ifstream file(GABLE_METRICS_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  ASSERT_NE(page.str(), "");
  const Ran ran = plan_by_doctor("all --markdown");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string mark = "CUDA 13.0, API 130001";
  if (ran.out.find(mark) == std::string::npos)
    GTEST_SKIP() << "the CUPTI at hand is not the one that docs/metrics.md was printed with";
  std::istringstream printed(ran.out);
  std::size_t number = 0;
  for (std::string now, kept; std::getline(printed, now);) {
    ++number;
    std::getline(page, kept);
    ASSERT_EQ(kept, now) << "docs/metrics.md, line " << number
                         << ": print the page anew with `gable doctor --chip all --markdown`";
  }
  EXPECT_EQ(page.str(), ran.out) << "docs/metrics.md is longer than what is printed";
}

}  // namespace
}  // namespace gable::tests

#endif
