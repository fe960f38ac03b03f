// SPDX-License-Identifier: Apache-2.0
#include "collector/session/metric_planner.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "collector/cupti/helpers.h"
#include "collector/cupti/nvperf.h"
#include "collector/metrics/chip_metrics.h"
#include "collector/metrics/replay_plan.h"

namespace gable {
namespace {

constexpr std::chrono::milliseconds kPlanPatience{5000}, kPlanSlice{20};
constexpr std::chrono::milliseconds kDevicesPatience{1000};

// `api` has a subscriber.
void name_chips(const CuptiApi& api, std::vector<DeviceInfo>& devices) {
  using Names = std::vector<std::string>;
  const auto count = devices.size();
  const auto names = ask_patiently<Names>(api, &Helpers::plan, [api, count](Names& chips) {
    for (std::size_t i = 0; i < count; ++i) chips.push_back(chip_name(api, i));
    return CUPTI_SUCCESS;
  });
  if (!names) return;
  for (std::size_t i = 0; i < count; ++i) devices[i].chip = (*names)[i];
}

}  // namespace

MetricPlanner::MetricPlanner(Collection& collection, std::function<void()> wake,
                             std::function<bool()> dying, std::chrono::milliseconds loader_patience)
    : c_(collection),
      wake_(std::move(wake)),
      dying_(std::move(dying)),
      loader_patience_(loader_patience),
      driver_(load_driver()) {}

void MetricPlanner::ask() {
  if (!saw_gpu_.exchange(true)) wake_();
}

void MetricPlanner::leave_out() {
  saw_gpu_.store(true);
  const MutexLock hold(mutex_);
  devices_known_ = true;
}

void MetricPlanner::make() {
  auto devices = query_devices(driver_, nullptr);
  name_chips(c_.api, devices);
  c_.sink.with_profile([&](Profile& profile) {
    for (const auto& device : devices) profile.add_device(device);
  });
  {
    const MutexLock hold(mutex_);
    devices_known_ = true;
    made_.notify_all();
  }
  c_.gpus.start();
  auto plan = plan_for(devices);
  tell(plan);
  const MutexLock hold(mutex_);
  if (done_) return;
  plan_ = std::move(plan);
  done_ = true;
  made_.notify_all();
}

MetricPlan MetricPlanner::plan_for(const std::vector<DeviceInfo>& devices) {
  MetricPlan none;
  if (!c_.api.can_profile) {
    none.error = c_.api.why_not;
    return none;
  }
  if (devices.empty() || devices.front().chip.empty()) {
    none.error = "The GPU's chip is not known to CUPTI, so no counters can be chosen.";
    return none;
  }
  const auto& chip = devices.front().chip;
  auto plan = plan_of(chip);
  for (const auto& device : devices) {
    if (device.chip == chip) continue;
    c_.rt.notes.say("GPUs of different chips are in use (" + chip + " and " + device.chip +
                    "); counters are collected for the first only.");
  }
  return plan;
}

MetricPlan MetricPlanner::plan_of(const std::string& chip) {
  // Waits here for the loader as long as it takes, outside of any time limit for CUPTI.
  open_nvperf(c_.api.path);
  const auto plan = std::make_shared<MetricPlan>();
  const auto answer = patiently(c_.api, &Helpers::plan, [this, plan, chip] {
    ChipMetrics metrics(c_.api, chip);
    *plan = plan_metrics(metrics, c_.rt.settings.metrics);
    if (c_.range_choice.mode == RangeMode::replay) *plan = replay_plan(metrics, std::move(*plan));
    return CUPTI_SUCCESS;
  });
  if (answer) return std::move(*plan);
  MetricPlan none;
  none.error = "CUPTI does not return.";
  return none;
}

// What the plan says to the user and to the profile.
void MetricPlanner::tell(const MetricPlan& plan) {
  // A CUPTI that takes no counters was spoken of at the start.
  if (!plan.error.empty() && c_.api.can_profile && c_.wants_counters() && !stuck(c_.api))
    c_.rt.notes.say("Kernel times are collected without counters: " + plan.error);
  for (const auto& one : plan.left_out) c_.rt.notes.say(one.sentence);
  for (const auto& note : plan.notes) c_.rt.notes.say(note);
  c_.sink.with_profile([&](Profile& profile) {
    for (const auto& pass : plan.passes) {
      profile.set_metrics(pass.phase, pass.metrics);
      if (auto* recorder = c_.sink.recorder()) recorder->set_metrics(pass.phase, pass.metrics);
    }
    profile.set_raw_metrics(plan.raw);
    profile.set_roof_metrics(plan.roofs);
  });
}

// Whether a helper of the driver's start has not come past the loader.
bool MetricPlanner::behind_loader() const {
  const auto& helpers = c_.api.helpers;
  return helpers != nullptr && helpers->patience->behind_loader.load() > 0;
}

const MetricPlan* MetricPlanner::wait() {
  using Clock = std::chrono::steady_clock;
  saw_gpu();
  UniqueLock hold(mutex_);
  const auto done = [this]() GABLE_REQUIRES(mutex_) { return done_; };
  const auto since = Clock::now();
  bool made = false, in_vain = false;
  // The worker plans nothing any more when a signal ends the program.
  while (!(made = made_.wait_for(hold, kPlanSlice, done)) && !dying_()) {
    const auto waited = Clock::now() - since;
    // A launch in the constructor that started CUDA holds the lock that the plan waits for. Without
    // such a constructor the helper is only late.
    in_vain = behind_loader() && waited >= loader_patience_;
    if (in_vain || waited >= kPlanPatience) break;
  }
  if (made) return plan_.passes.empty() ? nullptr : &plan_;
  if (dying_()) return nullptr;
  c_.rt.notes.say(
      in_vain ? "A library's constructor started CUDA and launched the first kernels, while no "
                "library of CUPTI's can be loaded; kernel times are collected without counters."
              : "CUPTI took too long to plan the counters; kernel times are collected without "
                "them.");
  return nullptr;
}

const MetricPlan* MetricPlanner::known() {
  const MutexLock hold(mutex_);
  return done_ ? &plan_ : nullptr;
}

void MetricPlanner::wait_for_devices() {
  if (!saw_gpu_.load()) return;
  const bool counters = !c_.ranges_only && c_.wants_counters();
  UniqueLock hold(mutex_);
  made_.wait_for(hold, kDevicesPatience, [this, counters]() GABLE_REQUIRES(mutex_) {
    return counters ? done_ : devices_known_;
  });
}

}  // namespace gable
