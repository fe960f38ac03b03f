// SPDX-License-Identifier: Apache-2.0
// Writes report.json: whole or as a snapshot of a running program, beside its final name and
// renamed.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "analysis/base/mutex.h"
#include "analysis/base/text_file.h"
#include "analysis/report/report.h"
#include "collector/runtime/event_sink.h"
#include "collector/runtime/runtime.h"
#include "collector/windows/windows.h"

namespace gable {

class ReportOutput {
 public:
  explicit ReportOutput(Runtime& rt);

  // Whether --ranks leaves this rank's report out.
  [[nodiscard]] bool is_left_out() const { return left_out_.load(); }

  // Switches to the file of the next queue.
  void next_queue();
  [[nodiscard]] std::string name();  // the file's name, unless another process has taken it

  // Reads the environment, as the constructor does: on the program's threads, which know when they
  // change it. Gable's own threads never read it: setenv may move what they read.
  void look_at_environment();

  // Makes the next snapshot say that snapshots come less often than every few seconds.
  void snapshots_come_every(std::uint64_t interval_ns) { snapshot_interval_ns_ = interval_ns; }

  // Called first at every launch. At the first one a program has told its rank, if it does that
  // itself, and the launcher learns that there are launches, even if the program ends before a
  // report can be written.
  void saw_launch() {
    if (!launch_seen_.load(std::memory_order_relaxed)) see_launch();
  }

  // Builds the report from the profile and writes it. A program without launches leaves no file.
  // `last`: the program ends, and nothing more comes. Returns false if nothing was written;
  // failures are reported once. A snapshot that waited for the complete report is dropped.
  bool write(EventSink& sink, Windows& windows, Counters& counters, bool complete, bool last);

 private:
  struct Environment {
    std::optional<std::int64_t> rank;
    std::string roofs;  // folder of measured roofs
    bool played = false;
  };
  Environment environment();
  void see_launch();
  void choose_name();
  void note_unset();
  RunInfo describe_run(Windows& windows, const Environment& environment, bool complete) const;
  std::string write_file(const std::string& text);
  bool write_alone(EventSink& sink, Windows& windows, Counters& counters, bool complete, bool last);

  Runtime& rt_;
  std::string started_at_;
  std::atomic<bool> launch_seen_{false};
  std::atomic<bool> left_out_{false};                   // as last read from the environment
  std::atomic<std::uint64_t> snapshot_interval_ns_{0};  // 0: the usual
  std::atomic<unsigned> queue_{1};                      // queue the next report is for
  // Used only by the writer that has its turn.
  unsigned file_queue_ = 0;      // queue that `file_` belongs to
  unsigned complete_queue_ = 0;  // newest queue whose complete report is written
  std::optional<OwnFile> file_;
  std::string listed_;           // the path that this process added to the launcher's list last
  std::set<std::string> taken_;  // paths in the launcher's list when it was last looked at
  // One writer at a time; the mutex is held for the flag, and for what the environment said.
  Mutex mutex_;
  Environment environment_ GABLE_GUARDED_BY(mutex_);
  std::string name_ GABLE_GUARDED_BY(mutex_);   // of the first queue's file
  std::string unset_ GABLE_GUARDED_BY(mutex_);  // what `name_` lacked, until a note says so
  Condition written_;
  bool writing_ GABLE_GUARDED_BY(mutex_) = false;
};

}  // namespace gable
