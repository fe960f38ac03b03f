// SPDX-License-Identifier: Apache-2.0
// The threads that work behind the program's back. The worker drains events, writes snapshots, and
// reacts to signals; the flusher does nothing but ask CUPTI for records, because that call has been
// seen to hang: then only it hangs. Both block every signal, so that the program's own threads get
// them.
#pragma once

#include <array>
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

namespace gable {

class Session;

// Signals that end a program which leaves them to the system, sent by people, batch systems and
// limits: the report is written first. Not those that say that the program is broken, as what it
// has in memory is worth nothing then; and not those that libraries look at before they take them
// for themselves (SIGPIPE and SIGXFSZ, SIGPROF and SIGVTALRM): one that finds a handler there does
// not, or calls it.
inline constexpr std::array kEndingSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                           SIGALRM, SIGUSR1, SIGXCPU};

class Background {
 public:
  explicit Background(Session& session) : session_(session) {}

  bool start();  // false: no threads can be had; the program runs on unprofiled
  // Wakes the worker. Safe in a signal handler and anywhere else.
  void wake(char command);
  static constexpr char kPlan = 'p', kDrain = 'd', kOver = 'o', kSignal = 's', kQueue = 'q',
                        kBlock = 'b', kEnding = 'e';

  // The next bytes after kSignal carry the number; the worker then writes the report and raises it
  // again.
  void signal_from_handler(int number);

  // The program ends: the worker looks whether one of these has come that nobody takes.
  void watch_for(const sigset_t& held);

  // Has the worker open a further queue, and waits for that. Empty, or a sentence that says why
  // not.
  std::string open_queue(const Schedule& schedule);

  // The process ends: the worker does nothing more but end it on a signal.
  void rest() {
    ending_.store(false, std::memory_order_release);
    over_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool dying() const { return dying_.load(std::memory_order_relaxed); }

  // Ends the process as the signal does where nobody handles it. Safe in a signal handler.
  static void die_of(int number);

  // Asks for a flush and waits for it, at most `patience`. False when CUPTI did not answer in time.
  bool flush(bool forced, std::chrono::milliseconds patience);
  void request_flush();  // without waiting

 private:
  void work();
  void open_queue();  // asked for by a signal
  void open_block();  // asked for by the program
  void answer();      // asked for by the socket
  void run_flusher();
  void end_for(int number);
  void look_for_signals();
  void look_for_last_thread();
  [[noreturn]] void end_as_last_thread(int status);

  [[nodiscard]] bool send(const char* bytes, std::size_t count);
  void obey(char command);

  Session& session_;
  OwnDescriptor read_end_, write_end_;
  // What could not be sent, as the program closed the pipe: a bit for each command but kSignal.
  std::atomic<unsigned> unsent_{0};
  std::atomic<int> unsent_signal_{0};
  RequestSocket requests_;
  std::atomic<bool> over_{false};
  sigset_t held_{};                  // written before ending_
  std::atomic<bool> ending_{false};  // the program's own thread writes the last report
  std::atomic<bool> dying_{false};   // a signal came that ends the program
  bool left_alone_ = false;          // the program's last thread has ended; the worker's alone

  // The queue that the program asks for, and the answer.
  Mutex block_mutex_;
  Condition block_answered_;
  std::optional<Schedule> block_wanted_ GABLE_GUARDED_BY(block_mutex_);
  std::optional<std::string> block_answer_ GABLE_GUARDED_BY(block_mutex_);

  Mutex flush_mutex_;  // never held while calling CUPTI
  Condition flush_wanted_, flush_done_;
  std::uint64_t wanted_ GABLE_GUARDED_BY(flush_mutex_) = 0;
  std::uint64_t done_ GABLE_GUARDED_BY(flush_mutex_) = 0;
  bool forced_ GABLE_GUARDED_BY(flush_mutex_) = false;
};

}  // namespace gable
