// SPDX-License-Identifier: Apache-2.0
#include "collector/session.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "collector/device_query.h"
#include "collector/other_tools.h"
#include "collector/range_calls.h"

namespace gable {
namespace {

constexpr std::chrono::milliseconds kPlanPatience{5000};
constexpr std::chrono::milliseconds kDevicesPatience{1000};
constexpr std::chrono::milliseconds kQueuePatience{10000}, kExitPatience{2000};  // for records
constexpr std::chrono::milliseconds kExitFlushPatience{2000};  // for one answer of CUPTI
constexpr std::chrono::milliseconds kSignalFlushPatience{1000};

ProfileLimits limits_of(const Settings& settings) {
  ProfileLimits limits;
  limits.max_keys = settings.max_keys;
  return limits;
}

bool wants_counters(const Settings& settings) { return settings.phase_hw || settings.phase_flops; }

// How long a counter window may go without a launch. Tests on the playback GPU cannot wait that
// long.
std::chrono::milliseconds stall_patience() {
  const char* text = std::getenv("GABLE_PLAYBACK_STALL_MS");
  const auto ms = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return std::chrono::milliseconds(ms > 0 ? ms : 10000);
}

}  // namespace

Session::Session(Runtime& rt, CuptiApi api)
    : rt_(rt),
      api_(std::move(api)),
      subscription_(api_),
      stall_patience_(stall_patience()),
      sink_(rt.layers, rt.functions, limits_of(rt.settings)),
      filter_({rt.settings.kernels, rt.settings.include, rt.settings.exclude}, rt.layers,
              rt.functions),
      graph_nodes_(rt.layers),
      activity_(api_, rt.functions),
      counters_(api_,
                rt.settings.ranges == "auto" && !rt.ranks ? RangeMode::automatic : RangeMode::user),
      windows_(rt, api_, sink_, counters_, activity_,
               {[this] { return wait_for_plan(); }, [this] { background_.wake(Background::kOver); },
                [this] { background_.request_flush(); },
                [this] { background_.flush(true, kExitFlushPatience); },
                [this](const LaunchKey& key) { return filter_.wanted(key); }}),
      output_(rt),
      background_(*this) {}

Session* Session::start(Runtime& rt) { return start(rt, load_cupti(rt.settings.cupti)); }

Session* Session::start(Runtime& rt, CuptiApi api) {
  std::string refused = api.can_trace ? "" : api.why_not;
  if (refused.empty() && !api.can_profile && wants_counters(rt.settings)) rt.notes.say(api.why_not);
  auto* session = new Session(rt, std::move(api));  // never freed: CUPTI may keep a pointer
  if (refused.empty()) refused = session->subscription_.begin(callback, session);
  if (!refused.empty()) {
    rt.notes.say(refused + " Only NVTX ranges are collected; your program runs on.");
    session->ranges_only_ = true;
    session->saw_context_.store(true);  // no plan is to be made
    session->devices_known_ = true;
  }
  if (!session->background_.start()) {
    rt.notes.say(
        "No threads can be started in this process. Nothing is collected; your program runs on.");
    session->subscription_.end();
    return nullptr;
  }
  rt.session.store(session, std::memory_order_release);
  if (session->ranges_only_) {
    rt.hot.span_window.store(kWholeRun, std::memory_order_relaxed);
  } else {
    if (rt.ranks && rt.settings.ranges == "auto")
      rt.notes.say(
          "--ranges auto waits for every launch, which other ranks may wait for: user ranges are "
          "taken.");
    if (rt.ranks && rt.settings.budget)
      rt.notes.say("--budget is left out: with several ranks all must be in the same window.");
    rt.ranges.set_listener(&session->windows_);
    rt.hot.watching.store(true, std::memory_order_release);
    watch_for_other_tools();
  }
  return session;
}

// --- the plan of passes
// -------------------------------------------------------------------------------------------------

void Session::make_plan() {
  const auto devices = query_devices(api_);
  sink_.with_profile([&](Profile& profile) {
    for (const auto& device : devices) profile.add_device(device);
  });
  {
    const std::lock_guard hold(plan_mutex_);
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
    plan = plan_metrics(api_, devices.front().chip, rt_.settings.metrics);
    for (const auto& device : devices) {
      if (device.chip != devices.front().chip) {
        rt_.notes.say("GPUs of different chips are in use (" + devices.front().chip + " and " +
                      device.chip + "); counters are collected for the first only.");
      }
    }
  }
  // A CUPTI that takes no counters was spoken of at the start.
  if (!plan.error.empty() && api_.can_profile && wants_counters(rt_.settings)) {
    rt_.notes.say("Kernel times are collected without counters: " + plan.error);
  }
  for (const auto& one : plan.left_out) rt_.notes.say(one.sentence);
  for (const auto& note : plan.notes) rt_.notes.say(note);
  sink_.with_profile([&](Profile& profile) {
    for (const auto& pass : plan.passes) profile.set_metrics(pass.phase, pass.metrics);
    profile.set_raw_metrics(plan.raw);
  });
  const std::lock_guard hold(plan_mutex_);
  if (plan_done_) return;
  plan_ = std::move(plan);
  plan_done_ = true;
  plan_made_.notify_all();
}

const MetricPlan* Session::wait_for_plan() {
  if (!saw_context_.exchange(true)) background_.wake(Background::kPlan);
  std::unique_lock hold(plan_mutex_);
  if (!plan_made_.wait_for(hold, kPlanPatience, [this] { return plan_done_; })) {
    rt_.notes.say(
        "CUPTI took too long to plan the counters; kernel times are collected without them.");
    return nullptr;
  }
  return plan_.passes.empty() ? nullptr : &plan_;
}

// A program may end before its GPU was asked what it is.
void Session::wait_for_devices() {
  if (!saw_context_.load()) return;
  std::unique_lock hold(plan_mutex_);
  plan_made_.wait_for(hold, kDevicesPatience, [this] { return devices_known_; });
}

// --- records and reports
// ------------------------------------------------------------------------------------------------

void Session::collect_records() {
  // Two threads may end the collection at once: who finds no buffers must not go on before the
  // other has added its records.
  const std::lock_guard collecting(records_mutex_);
  auto batch = activity_.read_buffers();
  if (!batch.problem.empty()) {
    rt_.notes.say(batch.problem);
    sink_.with_profile([](Profile& profile) { profile.lose_copies(); });
  }
  if (batch.kernels.empty() && batch.graph_kernels.empty() && batch.copies.empty() &&
      batch.dropped == 0)
    return;
  graph_nodes_.place(batch.graph_kernels, batch.copies);
  sink_.with_profile([&](Profile& profile) {
    for (const auto& record : batch.kernels) profile.add(record);
    for (const auto& record : batch.graph_kernels) profile.add(record);
    for (const auto& record : batch.copies) profile.add(record);
    LostCounts lost;
    lost.records = batch.dropped;
    if (batch.dropped > 0) profile.add_lost(lost);
  });
}

bool Session::write_report(bool complete) {
  if (ranges_only_) sink_.take_spans(kWholeRun);
  if (complete) {
    for (const auto& sentence : filter_.unmatched()) rt_.notes.say(sentence);
  }
  return output_.write(sink_, windows_, counters_, complete);
}

// Records of kernels that still run come when they end; a forced flush would bring them without
// times, so it comes last. False when CUPTI did not answer.
bool Session::await_records(std::chrono::milliseconds patience, const std::function<bool()>& stop) {
  // Counting that goes on forbids it.
  if (ranges_only_ || counters_.hangs() || counters_.runs_on()) return true;
  const auto give_up = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const bool answered = background_.flush(false, kExitFlushPatience);
    collect_records();
    if (!answered) return false;
    const auto pending =
        sink_.with_profile([](Profile& profile) { return profile.pending_records(); });
    if (pending == 0 || std::chrono::steady_clock::now() > give_up || stop()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (stop()) return true;
  const bool answered = background_.flush(true, kExitFlushPatience);
  collect_records();
  const auto missing =
      sink_.with_profile([](Profile& profile) { return profile.pending_records(); });
  if (const auto problem = activity_.flush_problem(); missing > 0 && !problem.empty())
    rt_.notes.say(problem);
  return answered;
}

void Session::end_collection() {
  subscription_.silence();
  const auto stop = [this] { return finished_.load() || background_.dying(); };
  await_records(kQueuePatience, stop);
  // Else the program ended meanwhile, and its own thread or finish_for_signal() writes the report.
  if (stop()) return;
  sink_.with_profile([](Profile& profile) { profile.finish_records(); });
  write_report(true);
  complete_.store(true);
  subscription_.end();  // another tool of the program's may have its turn
  if (rt_.settings.then == "stop") ::kill(::getpid(), SIGINT);
}

// A signal and the program's own end may come together: the second waits for the first to write the
// report (after a signal the process is gone meanwhile).
bool Session::claim_end() {
  if (!finished_.exchange(true)) return true;
  const auto patience = std::chrono::steady_clock::now() + kExitFlushPatience;
  while (!ended_.load() && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return false;
}

void Session::finish() {
  if (!claim_end()) return;
  try {
    if (!ranges_only_) windows_.shut_down("The program ended within it.");
    write_end();
  } catch (const std::exception& problem) {
    rt_.notes.say(std::string("the report could not be finished (") + problem.what() + ").");
  }
  background_.rest();
  ended_.store(true);
}

void Session::leave_to(const std::string& tool) {
  if (ranges_only_ || this_thread().busy) return;
  if (functions_seen_.load(std::memory_order_relaxed) <= 1) {
    // Some tools ask when they are loaded, whether or not they are used: Gable stays.
    rt_.notes.record(tool + " asked for CUPTI before the first kernel ran and was refused.");
    return;
  }
  if (!complete_.load() && claim_end()) {
    rt_.notes.say(tool +
                  " uses CUPTI from here on, so Gable stops; its report has what came before.");
    windows_.shut_down("Another CUPTI tool began within it.");
    set_ranges_active(false);
    (void)counters_.close();
    activity_.disable();
    subscription_.silence();
    write_end();
    background_.rest();
    ended_.store(true);
  }
  subscription_.end();
}

void Session::check_progress() {
  if (!ranges_only_ && !finished_.load()) windows_.check_progress(stall_patience_);
}

// What the records that are still to come tell, and then the report.
void Session::write_end() {
  wait_for_devices();
  if (!await_records(kExitPatience, [] { return false; })) {
    rt_.notes.say(
        "CUPTI did not hand out its last records in time; the report has what came before.");
  }
  sink_.with_profile([](Profile& profile) { profile.finish_records(); });
  write_report(true);
}

void Session::finish_for_signal() {
  if (!claim_end()) return;
  rt_.hot.watching.store(false, std::memory_order_release);
  if (activity_.enabled()) background_.flush(false, kSignalFlushPatience);
  collect_records();
  sink_.with_profile([](Profile& profile) { profile.finish_records(); });
  rt_.notes.record(
      "The program was ended by a signal; the window that was open is not in the report.");
  write_report(true);
}

}  // namespace gable
