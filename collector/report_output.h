// SPDX-License-Identifier: Apache-2.0
// Writes report.json: whole or as a snapshot of a running program, beside its final name and
// renamed.
#pragma once

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

  Runtime& rt_;
  std::string path_, started_at_;
  std::timed_mutex mutex_;  // one writer at a time; never held while calling CUPTI
};

}  // namespace gable
