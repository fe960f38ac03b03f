// SPDX-License-Identifier: Apache-2.0
// Who waits for the plan of the counters waits as long as it may still come, and says why not.
#include "collector/session/metric_planner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "collector/cupti/helpers.h"
#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

// A helper of the driver's start is behind the loader, and comes past it when who waits has looked
// that often; 0: never.
class Planning {
 public:
  Planning(RunOnScript& run, std::chrono::milliseconds patience, int looks)
      : helpers_(run.c.api.helpers = std::make_shared<Helpers>()),
        planner_(
            run.c, [this] { ++woken_; },
            [this, looks] {
              if (++looked_ == looks) go_on();
              return false;
            },
            patience) {
    helpers_->patience->behind_loader = 1;
  }
  ~Planning() {
    if (worker_.joinable()) worker_.join();
  }
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;

  MetricPlanner& planner() { return planner_; }
  [[nodiscard]] int woken() const { return woken_; }

 private:
  // Then the worker makes the plan.
  void go_on() {
    helpers_->patience->behind_loader = 0;
    worker_ = std::thread([this] { planner_.make(); });
  }

  int looked_ = 0, woken_ = 0;
  std::shared_ptr<Helpers> helpers_;
  MetricPlanner planner_;
  std::thread worker_;
};

TEST(MetricPlanner, AHelperThatIsLateBehindTheLoaderIsWaitedFor) {
  RunOnScript run("--phases hw");
  Planning planning(run, std::chrono::hours(1), 3);
  EXPECT_EQ(planning.planner().wait(), nullptr);  // there is no GPU
  EXPECT_NE(planning.planner().known(), nullptr);
  EXPECT_FALSE(run.said("A library's constructor started CUDA"));
}

TEST(MetricPlanner, AConstructorThatHoldsTheLoaderIsSaid) {
  RunOnScript run("--phases hw");
  Planning planning(run, std::chrono::milliseconds(0), 0);
  EXPECT_EQ(planning.planner().wait(), nullptr);
  EXPECT_EQ(planning.planner().known(), nullptr);
  EXPECT_TRUE(run.said("A library's constructor started CUDA"));
}

TEST(MetricPlanner, TheFirstSignOfAGpuWakesTheWorker) {
  RunOnScript run("--phases hw");
  Planning planning(run, std::chrono::hours(1), 0);
  EXPECT_EQ(planning.woken(), 0);
  planning.planner().saw_gpu();
  EXPECT_EQ(planning.woken(), 1);
  planning.planner().saw_gpu();
  EXPECT_EQ(planning.woken(), 1);
}

}  // namespace
}  // namespace gable
