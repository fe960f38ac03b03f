// SPDX-License-Identifier: Apache-2.0
// How a collection ends: with its queue, with the program, by a signal, or for another tool. Each
// takes the records that are still to come and writes the last report. The end of the program
// comes once, however many ways it comes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "collector/cupti/subscription.h"
#include "collector/session/collection.h"
#include "collector/session/flusher.h"
#include "collector/session/metric_planner.h"
#include "collector/session/records.h"
#include "collector/session/reports.h"

namespace gable {

class Ending {
 public:
  // What happens to the run. `rest`: the worker has nothing more to do. `dying`: a signal ends the
  // program.
  struct Hooks {
    std::function<void()> rest;
    std::function<bool()> dying;
  };
  Ending(Collection& collection, Subscription& subscription, MetricPlanner& planner,
         Records& records, Reports& reports, Flusher& flusher, Hooks hooks);

  // The queue is complete: waits for records, writes the report, lets go of CUPTI. On the worker.
  void with_queue();
  // Another queue was opened.
  void queue_opened() { complete_.store(false); }
  [[nodiscard]] bool complete() const { return complete_.load(); }

  // The program ends in its own way: closes what is open, waits a bounded time for records. On an
  // application thread.
  void with_program();
  // Another tool, named by its file, wants CUPTI: the same, and then CUPTI is free.
  void for_tool(const std::string& tool);
  // A signal is about to end the program. On the worker: CUPTI is only asked for records.
  void for_signal();
  // One of these three has begun.
  [[nodiscard]] bool begun() const { return end_.load() != End::none; }

 private:
  enum class End : std::uint8_t { none, under_way, done };

  // Two ways may come together: the second waits for the first to write the report (after a signal
  // the process is gone meanwhile). False: this is the second.
  [[nodiscard]] bool claim();
  bool await_records(std::chrono::milliseconds look_again, const std::function<bool()>& stop,
                     const std::function<bool()>& given_up);
  bool await_last_records();
  void write_last();

  Collection& c_;
  Subscription& subscription_;
  MetricPlanner& planner_;
  Records& records_;
  Reports& reports_;
  Flusher& flusher_;
  const Hooks hooks_;
  std::atomic<End> end_{End::none};
  std::atomic<bool> complete_{false};  // the queue is, and its report was written
};

}  // namespace gable
