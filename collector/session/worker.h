// SPDX-License-Identifier: Apache-2.0
// The thread that works behind the program's back: it plans, drains events, writes snapshots, and
// reacts to signals and requests. It blocks every signal, so that the program's own threads get
// them.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/base/mutex.h"
#include "analysis/base/own_descriptor.h"
#include "collector/options/block.h"
#include "collector/options/request_socket.h"
#include "collector/process/notes.h"

namespace gable {

// What the worker does for a run, on its own thread except for end_program().
class WorkerTasks {
 public:
  virtual void make_plan() = 0;
  // Ends a complete queue.
  virtual void end_queue() = 0;
  // Opens a further queue; returns an empty text or a sentence that says why not.
  [[nodiscard]] virtual std::string open_queue(const Schedule& schedule) = 0;
  // The answer to one line of a client: begins with + where a queue is open now, else with -.
  [[nodiscard]] virtual std::string answer(const std::string& line) = 0;
  // Called often while a queue is open.
  virtual void tend() = 0;
  // Called after the program's last thread has ended, on a thread that stands in for it.
  virtual void end_program() = 0;
  // Called before a signal ends the program.
  virtual void end_for_signal() = 0;
  // Whether the program is ending.
  [[nodiscard]] virtual bool ending() const = 0;

 protected:
  ~WorkerTasks() = default;
};

class Worker {
 public:
  // The bytes that wake the worker.
  enum class Command : std::uint8_t {
    plan,          // make the plan of the counters
    end_queue,     // the queue is complete
    signal_queue,  // SIGUSR2 asked for a queue
    block_queue,   // the program asked for a queue
    look,          // look for signals that no thread takes
    signal,        // a signal came: its number is the next byte
  };

  // `every`: from the beginning of one queue to the next, if the worker is to open further ones.
  Worker(WorkerTasks& tasks, Notes& notes, std::optional<std::chrono::seconds> every)
      : tasks_(tasks), notes_(notes), every_(every) {}

  [[nodiscard]] bool start();  // false if no thread could be started
  // Safe in a signal handler and anywhere else.
  void wake(Command command);
  // In a signal handler: the worker writes the report and raises the signal again.
  void signal_from_handler(int number);
  // Has the worker look for pending signals of `held` that no thread takes, as the program ends.
  void watch_for(const sigset_t& held);
  // Has the worker open a further queue and waits for it. Returns an empty text or a sentence that
  // says why not.
  [[nodiscard]] std::string open_queue(const Schedule& schedule);
  // Has the worker do nothing more, as the process ends, except end it on a signal.
  void rest();
  // Whether a signal that ends the program has come.
  [[nodiscard]] bool dying() const { return dying_.load(std::memory_order_relaxed); }

 private:
  void work();
  void read_commands();
  void obey(Command command);
  void queue_opened();
  void open_due_queue();
  void open_signal_queue();
  void open_block_queue();
  void answer();
  void end_for(int number);
  void look_for_signals();
  void look_for_last_thread();
  [[noreturn]] void end_as_last_thread(int status);
  [[nodiscard]] bool send(const std::uint8_t* bytes, std::size_t count);

  WorkerTasks& tasks_;
  Notes& notes_;
  const std::optional<std::chrono::seconds> every_;
  std::chrono::steady_clock::time_point due_;  // of the next queue; the worker's alone
  OwnDescriptor read_end_, write_end_;
  // Commands that could not be sent because the program closed the pipe: a bit for each but
  // `signal`.
  std::atomic<unsigned> unsent_{0};
  std::atomic<int> unsent_signal_{0};
  RequestSocket requests_;
  std::atomic<bool> over_{false};    // no queue is open
  sigset_t held_{};                  // written before ending_
  std::atomic<bool> ending_{false};  // the program's own thread writes the last report
  std::atomic<bool> dying_{false};
  bool left_alone_ = false;  // the program's last thread has ended; the worker's alone

  // Guards the queue that the program asks for, and the answer.
  Mutex block_mutex_;
  Condition block_answered_;
  std::optional<Schedule> block_wanted_ GABLE_GUARDED_BY(block_mutex_);
  std::optional<std::string> block_answer_ GABLE_GUARDED_BY(block_mutex_);
};

}  // namespace gable
