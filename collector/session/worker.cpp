// SPDX-License-Identifier: Apache-2.0
#include "collector/session/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <thread>

#include "collector/layers/thread_state.h"
#include "collector/process/clock.h"
#include "collector/process/ending_signals.h"
#include "collector/process/last_thread.h"
#include "collector/process/own_thread.h"

namespace gable {
namespace {

constexpr int kPollMs = 100;                              // while collecting
constexpr int kIdlePollMs = 1000;                         // afterwards
constexpr std::uint64_t kThreadsEveryNs = 1'000'000'000;  // whether any of the program's is left
constexpr std::chrono::seconds kOpenPatience{10};         // of a program that waits for a queue

constexpr unsigned bit_of(Worker::Command command) { return 1u << static_cast<unsigned>(command); }

}  // namespace

bool Worker::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  read_end_.take(ends[0]);
  write_end_.take(ends[1]);
  requests_.open();
  return start_own_thread("gable-worker", [this] { work(); });
}

// False: the program closed the pipe. One that is full has woken the worker already.
bool Worker::send(const std::uint8_t* bytes, std::size_t count) {
  const int saved = errno;
  const int file = write_end_.get();
  [[maybe_unused]] const auto written = file < 0 ? 0 : ::write(file, bytes, count);
  errno = saved;
  return file >= 0;
}

void Worker::wake(Command command) {
  const auto byte = static_cast<std::uint8_t>(command);
  if (!send(&byte, 1)) unsent_.fetch_or(bit_of(command), std::memory_order_relaxed);
}

void Worker::signal_from_handler(int number) {
  dying_.store(true, std::memory_order_relaxed);
  const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(Command::signal),
                                 static_cast<std::uint8_t>(number)};
  if (!send(bytes, 2)) unsent_signal_.store(number, std::memory_order_relaxed);
}

void Worker::watch_for(const sigset_t& held) {
  held_ = held;
  ending_.store(true, std::memory_order_release);
  wake(Command::look);
}

void Worker::rest() {
  ending_.store(false, std::memory_order_release);
  over_.store(true, std::memory_order_relaxed);
}

void Worker::end_for(int number) {
  // Whatever hangs while the report is written, the program ends in time.
  (void)start_own_thread("gable-end", [number] {
    std::this_thread::sleep_for(kSignalPatience);
    end_at_once(number);
  });
  tasks_.end_for_signal();
  die_of(number);
}

// What is sent to the process waits for any thread, so it is seen here, too.
void Worker::look_for_signals() {
  sigset_t pending;
  if (!ending_.load(std::memory_order_acquire) || ::sigpending(&pending) != 0) return;
  for (const int number : kEndingSignals) {
    if (sigismember(&held_, number) != 1 || sigismember(&pending, number) != 1) continue;
    dying_.store(true, std::memory_order_relaxed);
    end_for(number);
  }
}

// The worker goes on: the end may need it.
void Worker::look_for_last_thread() {
  if (left_alone_) return;
  const auto status = status_of_ended_program();
  if (!status) return;
  left_alone_ = true;
  // It is the program's for a while, as its end is: its last window is closed there.
  const bool started =
      start_own_thread("gable-exit", [this, status] { end_as_last_thread(*status); });
  if (!started) end_as_last_thread(*status);
}

void Worker::end_as_last_thread(int status) {
  // The program's handlers may run here, as they would on its last thread.
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  // What glibc does; our own handler among the others writes the report.
  if (status == 0 && !main_thread_vanished()) std::exit(0);
  tasks_.end_program();
  if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
  ::_exit(WEXITSTATUS(status));
}

void Worker::read_commands() {
  std::uint8_t byte = 0;
  while (::read(read_end_.get(), &byte, 1) == 1) {
    const auto command = static_cast<Command>(byte);
    std::uint8_t number = 0;
    if (command != Command::signal) {
      obey(command);
    } else if (::read(read_end_.get(), &number, 1) == 1) {
      end_for(number);
    }
  }
  const unsigned unsent = unsent_.exchange(0);
  for (const auto each :
       {Command::plan, Command::end_queue, Command::signal_queue, Command::block_queue})
    if ((unsent & bit_of(each)) != 0) obey(each);
  if (const int number = unsent_signal_.exchange(0); number != 0) end_for(number);
}

void Worker::obey(Command command) {
  switch (command) {
    case Command::plan:
      tasks_.make_plan();
      break;
    case Command::end_queue:
      if (!over_.exchange(true)) tasks_.end_queue();
      break;
    case Command::signal_queue:
      open_signal_queue();
      break;
    case Command::block_queue:
      open_block_queue();
      break;
    case Command::look:
    case Command::signal:
      break;
  }
}

void Worker::queue_opened() {
  over_.store(tasks_.ending());
  if (every_) due_ = std::chrono::steady_clock::now() + *every_;
}

// --every, once no queue is open.
void Worker::open_due_queue() {
  const auto now = std::chrono::steady_clock::now();
  if (!every_ || now < due_ || !over_.load(std::memory_order_relaxed) || tasks_.ending()) return;
  if (const auto refused = tasks_.open_queue({}); !refused.empty()) {
    notes_.say("no queue was opened by --every: " + refused);
    due_ = now + *every_;
  } else {
    queue_opened();
  }
}

void Worker::work() {
  if (every_) due_ = std::chrono::steady_clock::now() + *every_;
  std::uint64_t last_threads = steady_ns();
  for (;;) {
    pollfd waiting[] = {{read_end_.get(), POLLIN, 0}, {requests_.descriptor(), POLLIN, 0}};
    const bool idle =
        over_.load(std::memory_order_relaxed) && !ending_.load(std::memory_order_relaxed);
    ::poll(waiting, 2, idle ? kIdlePollMs : kPollMs);
    try {
      read_commands();
      look_for_signals();
      if (waiting[1].revents != 0) answer();
      if (const auto now = steady_ns(); now - last_threads >= kThreadsEveryNs) {
        last_threads = now;
        look_for_last_thread();
      }
      open_due_queue();
      if (!over_.load(std::memory_order_relaxed)) tasks_.tend();
    } catch (const std::exception& problem) {
      notes_.say(std::string("collecting met a problem (") + problem.what() +
                 "); your program runs on, the report may be incomplete.");
    }
  }
}

void Worker::open_signal_queue() {
  if (const auto refused = tasks_.open_queue({}); !refused.empty()) {
    notes_.say("no queue was opened on SIGUSR2: " + refused);
  } else {
    queue_opened();
  }
}

std::string Worker::open_queue(const Schedule& schedule) {
  UniqueLock hold(block_mutex_);
  block_wanted_ = schedule;
  block_answer_.reset();
  wake(Command::block_queue);
  if (!block_answered_.wait_for(hold, kOpenPatience, [this]() GABLE_REQUIRES(block_mutex_) {
        return block_answer_.has_value();
      })) {
    block_wanted_.reset();
    return "The previous queue did not end in time.";
  }
  return *block_answer_;
}

void Worker::open_block_queue() {
  std::optional<Schedule> schedule;
  {
    const MutexLock hold(block_mutex_);
    schedule.swap(block_wanted_);
  }
  if (!schedule) return;  // nobody waits any more
  auto refused = tasks_.open_queue(*schedule);
  if (refused.empty()) queue_opened();
  const MutexLock hold(block_mutex_);
  block_answer_ = std::move(refused);
  block_answered_.notify_all();
}

void Worker::answer() {
  requests_.serve([this](const std::string& line) {
    auto answered = tasks_.answer(line);
    if (answered.starts_with('+')) queue_opened();
    return answered;
  });
}

}  // namespace gable
