// SPDX-License-Identifier: Apache-2.0
#include "collector/session/ending.h"

#include <signal.h>
#include <unistd.h>

#include <optional>
#include <thread>
#include <utility>

#include "analysis/base/no_cancel.h"
#include "collector/cupti/helpers.h"
#include "collector/cupti/work_done.h"
#include "collector/runtime/range_calls.h"

namespace gable {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kQueuePatience{10000};  // for records, while the program runs
constexpr std::chrono::milliseconds kWorkPatience{250};     // for the GPU, when the program ends
constexpr std::chrono::milliseconds kRecordsPatience{50};   // for records of work that is done
constexpr std::chrono::milliseconds kLookWhileRunning{10}, kLookAtExit{2};
constexpr std::chrono::milliseconds kExitFlushPatience{2000};  // for one answer of CUPTI
constexpr std::chrono::milliseconds kSignalFlushPatience{1000};

}  // namespace

Ending::Ending(Collection& collection, Subscription& subscription, MetricPlanner& planner,
               Records& records, Reports& reports, Flusher& flusher, Hooks hooks)
    : c_(collection),
      subscription_(subscription),
      planner_(planner),
      records_(records),
      reports_(reports),
      flusher_(flusher),
      hooks_(std::move(hooks)) {}

// Records of kernels that still run come when they end; a forced flush would bring them without
// times, so it comes last, and not where `stop` says that it is another's. False when CUPTI did not
// answer.
bool Ending::await_records(std::chrono::milliseconds look_again, const std::function<bool()>& stop,
                           const std::function<bool()>& given_up) {
  // Counting that goes on forbids it.
  if (c_.ranges_only || c_.counters.hangs() || c_.counters.runs_on()) return true;
  // Where counters were taken last, flushes are still held back.
  if (!c_.counters.active()) c_.activity.resume();
  for (;;) {
    const bool answered = flusher_.flush(false, kExitFlushPatience);
    const bool collected = records_.collect();
    if (!answered && !hooks_.dying()) c_.rt.count_timeout();
    if (!answered || !collected) return false;
    const auto pending =
        c_.sink.with_profile([](Profile& profile) { return profile.pending_records(); });
    if (pending == 0 || stop() || given_up()) break;
    std::this_thread::sleep_for(look_again);
  }
  if (stop()) return true;
  const bool answered = flusher_.flush(true, kExitFlushPatience);
  const bool collected = records_.collect();
  const auto missing =
      c_.sink.with_profile([](Profile& profile) { return profile.pending_records(); });
  if (const auto problem = c_.activity.flush_problem(); missing > 0 && !problem.empty())
    c_.rt.notes.say(problem);
  if (const auto problem = c_.activity.disable_problem(); !problem.empty())
    c_.rt.notes.say(problem);
  return answered && collected;
}

// The program would not wait for its GPU now. So nobody does for long, and where the GPU is done,
// what has not come will not.
bool Ending::await_last_records() {
  std::optional<WorkDone> work;
  std::optional<Clock::time_point> done;
  const auto since = Clock::now();
  const auto given_up = [&] {
    const auto now = Clock::now();
    if (!work && !c_.activity.capturing()) work.emplace();
    if (work && work->is_done()) {
      if (!done) done = now;
      return now - *done >= kRecordsPatience;
    }
    if (now - since < kWorkPatience) return false;
    c_.rt.count_timeout();
    return true;
  };
  return await_records(
      kLookAtExit, [this] { return hooks_.dying(); }, given_up);
}

void Ending::with_queue() {
  c_.gpus.rest();
  subscription_.silence();
  const auto stop = [this] { return begun() || hooks_.dying(); };
  const auto since = Clock::now();
  (void)await_records(kLookWhileRunning, stop, [&] {
    reports_.write_snapshot();
    if (Clock::now() - since < kQueuePatience) return false;
    c_.rt.count_timeout();
    return true;
  });
  // Else the program ended meanwhile, and its own thread or for_signal() writes the report.
  if (stop()) return;
  c_.sink.with_profile([](Profile& profile) { profile.finish_records(); });
  (void)reports_.write(true, begun());
  complete_.store(true);
  subscription_.end();  // another tool of the program's may have its turn
  if (c_.rt.settings.then == Then::stop) ::kill(::getpid(), SIGINT);
}

bool Ending::claim() {
  auto none = End::none;
  if (end_.compare_exchange_strong(none, End::under_way)) return true;
  const auto patience = Clock::now() + kExitFlushPatience;
  while (end_.load() != End::done && Clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return false;
}

void Ending::with_program() {
  const NoCancel hold;
  if (!claim()) return;
  try {
    c_.gpus.rest();
    reports_.output().look_at_environment();
    if (!c_.ranges_only) c_.windows.shut_down("The program ended within it.");
    write_last();
  } catch (const std::exception& problem) {
    c_.rt.notes.insist(std::string("the report could not be finished (") + problem.what() + ").");
  }
  hooks_.rest();
  end_.store(End::done);
}

void Ending::for_tool(const std::string& tool) {
  const NoCancel hold;
  if (!complete_.load() && claim()) {
    c_.rt.notes.say(
        tool + " uses CUPTI from now on, so Gable stops; Gable's report has what came before.");
    c_.gpus.rest();
    c_.windows.shut_down("Another CUPTI tool began within it.");
    set_ranges_active(false);
    (void)c_.counters.close();
    c_.activity.disable();
    subscription_.silence();
    write_last();
    hooks_.rest();
    end_.store(End::done);
  }
  subscription_.end();
}

// What the records that are still to come tell, and then the report.
void Ending::write_last() {
  planner_.wait_for_devices();
  if (!await_last_records() && !stuck(c_.api)) {
    c_.rt.notes.say(
        "CUPTI did not hand out its last records in time; the report has what came before.");
  }
  c_.sink.with_profile([](Profile& profile) { profile.finish_records(); });
  (void)reports_.write(true, begun());
}

void Ending::for_signal() {
  if (!claim()) return;
  c_.rt.hot.watching.store(false, std::memory_order_release);
  c_.gpus.rest();
  if (c_.activity.enabled()) flusher_.flush(false, kSignalFlushPatience);
  records_.collect();
  c_.sink.with_profile([](Profile& profile) { profile.finish_records(); });
  c_.windows.say_what_is_left();
  c_.rt.notes.record(
      "The program was ended by a signal; the window that was open is not in the report.");
  (void)reports_.write(true, begun());
}

}  // namespace gable
