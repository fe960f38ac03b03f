// SPDX-License-Identifier: Apache-2.0
#include "collector/session/background.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "analysis/base/unfinished_write.h"
#include "collector/cupti/helpers.h"
#include "collector/process/clock.h"
#include "collector/process/last_thread.h"
#include "collector/process/own_thread.h"
#include "collector/session/other_tools.h"
#include "collector/session/session.h"

namespace gable {
namespace {

constexpr std::chrono::milliseconds kSignalPatience{2000};  // from a signal to the program's end
constexpr int kPollMs = 100;                                // while collecting
constexpr int kIdlePollMs = 1000;                           // afterwards
constexpr std::uint64_t kThreadsEveryNs = 1'000'000'000;    // whether any of the program's is left
constexpr std::uint64_t kFlushEveryNs = 500'000'000;
constexpr std::chrono::milliseconds kFlushSlice{100}, kLongestSlice{500};
constexpr std::chrono::seconds kOpenPatience{10};    // of a program that waits for a queue
constexpr std::uint64_t kLookEveryNs = 300'000'000;  // for libraries that were loaded

}  // namespace

bool Background::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  read_end_.take(ends[0]);
  write_end_.take(ends[1]);
  requests_.open();
  return start_own_thread("gable-worker", [this] { work(); }) &&
         start_own_thread("gable-flush", [this] { run_flusher(); });
}

// False: the program closed the pipe. One that is full has woken the worker already.
bool Background::send(const char* bytes, std::size_t count) {
  const int saved = errno;
  const int file = write_end_.get();
  [[maybe_unused]] const auto written = file < 0 ? 0 : ::write(file, bytes, count);
  errno = saved;
  return file >= 0;
}

void Background::wake(char command) {
  if (!send(&command, 1)) unsent_.fetch_or(1u << (command - 'a'), std::memory_order_relaxed);
}

void Background::signal_from_handler(int number) {
  dying_.store(true, std::memory_order_relaxed);
  const char bytes[2] = {kSignal, static_cast<char>(number)};
  if (!send(bytes, 2)) unsent_signal_.store(number, std::memory_order_relaxed);
}

void Background::watch_for(const sigset_t& held) {
  held_ = held;
  ending_.store(true, std::memory_order_release);
  wake(kEnding);
}

void Background::end_for(int number) {
  // Whatever hangs while the report is written, the program ends in time.
  (void)start_own_thread("gable-end", [number] {
    std::this_thread::sleep_for(kSignalPatience);
    UnfinishedWrite::settle_all();
    die_of(number);
  });
  session_.finish_for_signal();
  die_of(number);
}

// What is sent to the process waits for any thread, so it is seen here, too.
void Background::look_for_signals() {
  sigset_t pending;
  if (!ending_.load(std::memory_order_acquire) || ::sigpending(&pending) != 0) return;
  for (const int number : kEndingSignals) {
    if (sigismember(&held_, number) != 1 || sigismember(&pending, number) != 1) continue;
    dying_.store(true, std::memory_order_relaxed);
    end_for(number);
  }
}

void Background::obey(char command) {
  if (command == kPlan) session_.make_plan();
  if (command == kOver && !over_.exchange(true)) session_.end_collection();
  if (command == kQueue) open_queue();
  if (command == kBlock) open_block();
}

// The worker goes on: the end may need it.
void Background::look_for_last_thread() {
  if (left_alone_) return;
  const auto status = status_of_ended_program();
  if (!status) return;
  left_alone_ = true;
  // It is the program's for a while, as its end is: its last window is closed there.
  const bool started =
      start_own_thread("gable-exit", [this, status] { end_as_last_thread(*status); });
  if (!started) end_as_last_thread(*status);
}

void Background::end_as_last_thread(int status) {
  // The program's handlers may run here, as they would on its last thread.
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  // What glibc does; our own handler among the others writes the report.
  if (status == 0 && !main_thread_vanished()) std::exit(0);
  session_.finish();
  if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
  ::_exit(WEXITSTATUS(status));
}

void Background::work() {
  std::uint64_t last_flush = steady_ns(), last_look = last_flush, last_threads = last_flush;
  for (;;) {
    pollfd waiting[] = {{read_end_.get(), POLLIN, 0}, {requests_.descriptor(), POLLIN, 0}};
    const bool idle =
        over_.load(std::memory_order_relaxed) && !ending_.load(std::memory_order_relaxed);
    ::poll(waiting, 2, idle ? kIdlePollMs : kPollMs);
    char command = 0;
    try {
      while (::read(read_end_.get(), &command, 1) == 1) {
        obey(command);
        if (command == kSignal) {
          char number = 0;
          if (::read(read_end_.get(), &number, 1) != 1) continue;
          end_for(number);
        }
      }
      if (const unsigned unsent = unsent_.exchange(0); unsent != 0) {
        for (const char one : {kPlan, kOver, kQueue, kBlock})
          if ((unsent & 1u << (one - 'a')) != 0) obey(one);
      }
      if (const int number = unsent_signal_.exchange(0); number != 0) end_for(number);
      look_for_signals();
      if (waiting[1].revents != 0) answer();
      const auto now = steady_ns();
      if (now - last_threads >= kThreadsEveryNs) {
        last_threads = now;
        look_for_last_thread();
      }
      if (over_.load(std::memory_order_relaxed)) continue;
      if (session_.activity_.enabled() && now - last_flush > kFlushEveryNs) {
        last_flush = now;
        request_flush();
      }
      session_.collect_records();
      session_.sink_.drain();
      session_.check_progress();
      if (now - last_look > kLookEveryNs) {
        last_look = now;
        watch_for_other_tools();
      }
      session_.write_snapshot();
    } catch (const std::exception& problem) {
      session_.rt_.notes.say(std::string("collecting met a problem (") + problem.what() +
                             "); your program runs on, the report may be incomplete.");
    }
  }
}

void Background::open_queue() {
  const auto refused = session_.open_queue({});
  if (!refused.empty()) session_.rt_.notes.say("no queue was opened on SIGUSR2: " + refused);
  if (refused.empty()) over_.store(session_.finished_.load());
}

std::string Background::open_queue(const Schedule& schedule) {
  UniqueLock hold(block_mutex_);
  block_wanted_ = schedule;
  block_answer_.reset();
  wake(kBlock);
  if (!block_answered_.wait_for(hold, kOpenPatience, [this]() GABLE_REQUIRES(block_mutex_) {
        return block_answer_.has_value();
      })) {
    block_wanted_.reset();
    return "The queue before did not come to an end in time.";
  }
  return *block_answer_;
}

void Background::open_block() {
  std::optional<Schedule> schedule;
  {
    const MutexLock hold(block_mutex_);
    schedule.swap(block_wanted_);
  }
  if (!schedule) return;  // nobody waits any more
  auto refused = session_.open_queue(*schedule);
  if (refused.empty()) over_.store(session_.finished_.load());
  const MutexLock hold(block_mutex_);
  block_answer_ = std::move(refused);
  block_answered_.notify_all();
}

void Background::answer() {
  requests_.serve([this](const std::string& line) {
    auto answered = session_.answer_request(line);
    if (answered.starts_with('+')) over_.store(session_.finished_.load());
    return answered;
  });
}

void Background::die_of(int number) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(number, &standard, nullptr);
  // Blocked on this thread in its handler, and in the worker always.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(number);
}

bool Background::flush(bool forced, std::chrono::milliseconds patience) {
  if (stuck(session_.api_)) return false;
  UniqueLock hold(flush_mutex_);
  const auto ticket = ++wanted_;
  forced_ = forced_ || forced;
  flush_wanted_.notify_one();
  const bool dies = dying();  // a signal's end asks; everybody else's question ends with a signal
  // A program that somebody stops and continues takes no time meanwhile, and neither does CUPTI.
  for (std::chrono::nanoseconds waited{}; waited < patience;) {
    const auto since = std::chrono::steady_clock::now();
    if (flush_done_.wait_for(hold, kFlushSlice,
                             [&]() GABLE_REQUIRES(flush_mutex_) { return done_ >= ticket; }))
      return true;
    waited +=
        std::min<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - since, kLongestSlice);
    if (dying() != dies) return false;
  }
  hold.unlock();
  // The signal may have stopped a thread of the program's within CUPTI, which is no fault of
  // CUPTI's.
  if (!dies) session_.activity_.give_up_flush(patience);
  return false;
}

void Background::request_flush() {
  const MutexLock hold(flush_mutex_);
  ++wanted_;
  flush_wanted_.notify_one();
}

void Background::run_flusher() {
  UniqueLock hold(flush_mutex_);
  for (;;) {
    flush_wanted_.wait(hold, [this]() GABLE_REQUIRES(flush_mutex_) { return wanted_ > done_; });
    const auto ticket = wanted_;
    const bool forced = forced_;
    forced_ = false;
    hold.unlock();
    session_.activity_.flush(forced);
    hold.lock();
    done_ = ticket;
    flush_done_.notify_all();
  }
}

}  // namespace gable
