// SPDX-License-Identifier: Apache-2.0
// Writes report.json: whole or as a snapshot of a running program, beside its final name and
// renamed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "analysis/report.h"
#include "collector/event_sink.h"
#include "collector/runtime.h"
#include "collector/windows.h"

namespace gable {

class ReportOutput {
 public:
  explicit ReportOutput(Runtime& rt);

  // Builds the report from the profile and writes it. A program without launches leaves no file.
  // False when nothing was written; failures are said once.
  bool write(EventSink& sink, Windows& windows, Counters& counters, bool complete);

 private:
  RunInfo describe_run(Windows& windows, bool complete) const;
  bool write_alone(EventSink& sink, Windows& windows, Counters& counters, bool complete);

  Runtime& rt_;
  std::string path_, started_at_;
  // One writer at a time; the mutex is held for the flag alone.
  std::mutex mutex_;
  std::condition_variable written_;
  bool writing_ = false;
};

}  // namespace gable
