// SPDX-License-Identifier: Apache-2.0
// How a collection ends: with its queue, with the program, by a signal, or for another tool. Each
// takes the records that are still to come, writes the last report, and does so once.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "collector/cupti/helpers.h"
#include "collector/cupti/work_done.h"
#include "collector/runtime/range_calls.h"
#include "collector/session/session.h"

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

// Records of kernels that still run come when they end; a forced flush would bring them without
// times, so it comes last, and not where `stop` says that it is another's. False when CUPTI did not
// answer.
bool Session::await_records(std::chrono::milliseconds look_again, const std::function<bool()>& stop,
                            const std::function<bool()>& given_up) {
  // Counting that goes on forbids it.
  if (ranges_only_ || counters_.hangs() || counters_.runs_on()) return true;
  // Where counters were taken last, flushes are still held back.
  if (!counters_.active()) activity_.resume();
  for (;;) {
    const bool answered = background_.flush(false, kExitFlushPatience);
    const bool collected = collect_records();
    if (!answered && !background_.dying()) windows_.count_timeout();
    if (!answered || !collected) return false;
    const auto pending =
        sink_.with_profile([](Profile& profile) { return profile.pending_records(); });
    if (pending == 0 || stop() || given_up()) break;
    std::this_thread::sleep_for(look_again);
  }
  if (stop()) return true;
  const bool answered = background_.flush(true, kExitFlushPatience);
  const bool collected = collect_records();
  const auto missing =
      sink_.with_profile([](Profile& profile) { return profile.pending_records(); });
  if (const auto problem = activity_.flush_problem(); missing > 0 && !problem.empty())
    rt_.notes.say(problem);
  return answered && collected;
}

// The program would not wait for its GPU now. So nobody does for long, and where the GPU is done,
// what has not come will not.
bool Session::await_last_records() {
  std::optional<WorkDone> work;
  std::optional<Clock::time_point> done;
  const auto since = Clock::now();
  const auto given_up = [&] {
    const auto now = Clock::now();
    if (!work && !activity_.capturing()) work.emplace();
    if (work && work->is_done()) {
      if (!done) done = now;
      return now - *done >= kRecordsPatience;
    }
    if (now - since < kWorkPatience) return false;
    windows_.count_timeout();
    return true;
  };
  return await_records(
      kLookAtExit, [this] { return background_.dying(); }, given_up);
}

void Session::end_collection() {
  subscription_.silence();
  const auto stop = [this] { return finished_.load() || background_.dying(); };
  const auto since = Clock::now();
  (void)await_records(kLookWhileRunning, stop, [&] {
    write_snapshot();
    if (Clock::now() - since < kQueuePatience) return false;
    windows_.count_timeout();
    return true;
  });
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
    output_.look_at_environment();
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

// What the records that are still to come tell, and then the report.
void Session::write_end() {
  wait_for_devices();
  if (!await_last_records() && !stuck(api_)) {
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
  windows_.say_what_is_left();
  rt_.notes.record(
      "The program was ended by a signal; the window that was open is not in the report.");
  write_report(true);
}

}  // namespace gable
