// SPDX-License-Identifier: Apache-2.0
// How a collection ends: with its queue, with the program, by a signal, or for another tool. Each
// way collects the outstanding records and writes the last report. The program's end is handled
// once, however many ways it comes.
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
  // What the ending needs from the session. `rest`: the worker has nothing more to do. `dying`: a
  // signal ends the program.
  struct Hooks {
    std::function<void()> rest;
    std::function<bool()> dying;
  };
  Ending(Collection& collection, Subscription& subscription, MetricPlanner& planner,
         Records& records, Reports& reports, Flusher& flusher, Hooks hooks);

  // Ends with a complete queue: waits for records, writes the report, releases CUPTI. On the
  // worker.
  void with_queue();
  // Says that another queue was opened.
  void queue_opened() { complete_.store(false); }
  [[nodiscard]] bool complete() const { return complete_.load(); }

  // Ends with the program, on an application thread: closes what is open and waits a bounded time
  // for records.
  void with_program();
  // Does the same and releases CUPTI, for another tool that wants it; `tool`: its file.
  void for_tool(const std::string& tool);
  // Ends before a signal ends the program, on the worker: only asks CUPTI for records.
  void for_signal();
  // Whether one of these three has begun.
  [[nodiscard]] bool begun() const { return end_.load() != End::none; }

 private:
  enum class End : std::uint8_t { none, under_way, done };

  // Returns false if another way came first, after waiting a bounded time for it to write the
  // report (after a signal the process ends meanwhile).
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
  std::atomic<bool> complete_{false};  // the queue is complete and its report written
};

}  // namespace gable
