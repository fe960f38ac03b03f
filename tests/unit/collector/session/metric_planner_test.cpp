// SPDX-License-Identifier: Apache-2.0
// Who waits for the plan of the counters waits as long as it may still come, and says why not.
#include "collector/session/metric_planner.h"

#include <gtest/gtest.h>

#include <thread>

#include "collector/cupti/helpers.h"
#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

// The plan is made on another thread, `late` after it was asked for.
class Planning {
 public:
  Planning(RunOnScript& run, int behind_loader, std::chrono::milliseconds late)
      : planner_(
            run.c,
            [this, late] {
              worker_ = std::thread([this, late] {
                std::this_thread::sleep_for(late);
                helpers_->patience->behind_loader = 0;
                planner_.make();
              });
            },
            [] { return false; }) {
    helpers_->patience->behind_loader = behind_loader;
    run.c.api.helpers = helpers_;
  }
  ~Planning() { worker_.join(); }
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;
  MetricPlanner& planner() { return planner_; }

 private:
  std::shared_ptr<Helpers> helpers_ = std::make_shared<Helpers>();
  MetricPlanner planner_;
  std::thread worker_;
};

TEST(MetricPlanner, AHelperThatIsLateBehindTheLoaderIsWaitedFor) {
  RunOnScript run("--phases hw");
  Planning planning(run, 1, std::chrono::milliseconds(100));
  EXPECT_EQ(planning.planner().wait(), nullptr);  // there is no GPU
  EXPECT_NE(planning.planner().known(), nullptr);
  EXPECT_FALSE(run.said("A library's constructor started CUDA"));
}

TEST(MetricPlanner, AConstructorThatHoldsTheLoaderIsSaid) {
  RunOnScript run("--phases hw");
  Planning planning(run, 1, std::chrono::milliseconds(1500));
  EXPECT_EQ(planning.planner().wait(), nullptr);
  EXPECT_EQ(planning.planner().known(), nullptr);
  EXPECT_TRUE(run.said("A library's constructor started CUDA"));
}

}  // namespace
}  // namespace gable
