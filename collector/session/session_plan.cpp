// SPDX-License-Identifier: Apache-2.0
// The plan of passes: made by the worker once there is a GPU, awaited by the first counter window.
#include <utility>

#include "collector/cupti/device_query.h"
#include "collector/cupti/helpers.h"
#include "collector/cupti/nvperf.h"
#include "collector/metrics/chip_metrics.h"
#include "collector/metrics/replay_plan.h"
#include "collector/session/session.h"

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

void Session::make_plan() {
  auto devices = query_devices(driver_, nullptr);
  name_chips(api_, devices);
  sink_.with_profile([&](Profile& profile) {
    for (const auto& device : devices) profile.add_device(device);
  });
  {
    const MutexLock hold(plan_mutex_);
    devices_known_ = true;
    plan_made_.notify_all();
  }
  counters_.memory().open();
  MetricPlan plan;
  if (!api_.can_profile) {
    plan.error = api_.why_not;
  } else if (devices.empty() || devices.front().chip.empty()) {
    plan.error = "The GPU's chip is not known to CUPTI, so no counters can be chosen.";
  } else {
    plan = plan_of(devices.front().chip);
    for (const auto& device : devices) {
      if (device.chip != devices.front().chip) {
        rt_.notes.say("GPUs of different chips are in use (" + devices.front().chip + " and " +
                      device.chip + "); counters are collected for the first only.");
      }
    }
  }
  // A CUPTI that takes no counters was spoken of at the start.
  const bool wanted = rt_.settings.phase_hw || rt_.settings.phase_flops;
  if (!plan.error.empty() && api_.can_profile && wanted && !stuck(api_)) {
    rt_.notes.say("Kernel times are collected without counters: " + plan.error);
  }
  for (const auto& one : plan.left_out) rt_.notes.say(one.sentence);
  for (const auto& note : plan.notes) rt_.notes.say(note);
  sink_.with_profile([&](Profile& profile) {
    for (const auto& pass : plan.passes) {
      profile.set_metrics(pass.phase, pass.metrics);
      if (auto* recorder = sink_.recorder()) recorder->set_metrics(pass.phase, pass.metrics);
    }
    profile.set_raw_metrics(plan.raw);
  });
  const MutexLock hold(plan_mutex_);
  if (plan_done_) return;
  plan_ = std::move(plan);
  plan_done_ = true;
  plan_made_.notify_all();
}

MetricPlan Session::plan_of(const std::string& chip) {
  // The loader is waited for here, as long as it takes: that is none of CUPTI's.
  open_nvperf(api_.path);
  const auto plan = std::make_shared<MetricPlan>();
  const auto answer = patiently(api_, &Helpers::plan, [this, plan, chip] {
    ChipMetrics metrics(api_, chip);
    *plan = plan_metrics(metrics, rt_.settings.metrics);
    if (range_choice_.mode == RangeMode::replay) *plan = replay_plan(metrics, std::move(*plan));
    return CUPTI_SUCCESS;
  });
  if (answer) return std::move(*plan);
  MetricPlan none;
  none.error = "CUPTI does not return.";
  return none;
}

const MetricPlan* Session::wait_for_plan() {
  if (!saw_context_.exchange(true)) background_.wake(Background::kPlan);
  UniqueLock hold(plan_mutex_);
  const auto done = [this]() GABLE_REQUIRES(plan_mutex_) { return plan_done_; };
  // A launch in the constructor that started CUDA holds the lock that the plan waits for.
  const bool in_vain = api_.helpers != nullptr && api_.helpers->patience->behind_loader.load() > 0;
  const auto give_up =
      std::chrono::steady_clock::now() + (in_vain ? std::chrono::milliseconds{} : kPlanPatience);
  bool made = false;
  // The worker plans nothing any more when a signal ends the program.
  while (!(made = plan_made_.wait_for(hold, kPlanSlice, done)) && !background_.dying() &&
         std::chrono::steady_clock::now() < give_up) {
  }
  if (!made && background_.dying()) return nullptr;
  if (!made) {
    rt_.notes.say(
        in_vain ? "A library's constructor started CUDA and launched the first kernels, while no "
                  "library of CUPTI's can be loaded; kernel times are collected without counters."
                : "CUPTI took too long to plan the counters; kernel times are collected "
                  "without them.");
    return nullptr;
  }
  return plan_.passes.empty() ? nullptr : &plan_;
}

const MetricPlan* Session::known_plan() {
  const MutexLock hold(plan_mutex_);
  return plan_done_ ? &plan_ : nullptr;
}

// A program may end before its GPU was asked what it is, and what would be counted there: the
// report says how many steps that takes.
void Session::wait_for_devices() {
  if (!saw_context_.load()) return;
  const bool counters = !ranges_only_ && (rt_.settings.phase_hw || rt_.settings.phase_flops);
  UniqueLock hold(plan_mutex_);
  plan_made_.wait_for(hold, kDevicesPatience, [this, counters]() GABLE_REQUIRES(plan_mutex_) {
    return counters ? plan_done_ : devices_known_;
  });
}

}  // namespace gable
