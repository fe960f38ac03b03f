// SPDX-License-Identifier: Apache-2.0
// Writes report.json: whole or as a snapshot of a running program, beside its final name and
// renamed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "analysis/mutex.h"
#include "analysis/report.h"
#include "collector/event_sink.h"
#include "collector/runtime.h"
#include "collector/windows.h"

namespace gable {

class ReportOutput {
 public:
  explicit ReportOutput(Runtime& rt);

  // From now on another file: that of the next queue.
  void next_queue();
  [[nodiscard]] std::string name() const;  // of that file, unless another process has taken it

  // Builds the report from the profile and writes it. A program without launches leaves no file.
  // False when nothing was written; failures are said once.
  bool write(EventSink& sink, Windows& windows, Counters& counters, bool complete);

 private:
  RunInfo describe_run(Windows& windows, bool complete) const;
  bool write_alone(EventSink& sink, Windows& windows, Counters& counters, bool complete);

  Runtime& rt_;
  std::string path_, started_at_;
  std::atomic<unsigned> queue_{1};  // that there is to be a report of
  unsigned path_queue_ = 0;         // that `path_` is of
  // One writer at a time; the mutex is held for the flag alone.
  Mutex mutex_;
  Condition written_;
  bool writing_ GABLE_GUARDED_BY(mutex_) = false;
};

}  // namespace gable
