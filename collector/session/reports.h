// SPDX-License-Identifier: Apache-2.0
// What a run leaves on the disk, and when: snapshots of its report while it runs, the last report,
// and with --record its recording.
#pragma once

#include <atomic>

#include "collector/queue/snapshot_pace.h"
#include "collector/session/collection.h"
#include "collector/session/recording_output.h"
#include "collector/session/records.h"
#include "collector/session/report_output.h"

namespace gable {

class Reports {
 public:
  Reports(Collection& collection, Records& records);

  // `complete`: the queue is complete or the program ends; `last`: the program ends. Returns false
  // if nothing was written.
  bool write(bool complete, bool last);
  // Writes a snapshot if one is due; called often, on the worker.
  void write_snapshot();
  // Starts snapshots anew with what comes from here on; called on the worker.
  void begin_anew();
  [[nodiscard]] ReportOutput& output() { return output_; }

 private:
  [[nodiscard]] SnapshotContent content_so_far();
  // Adds what NVML reported so far to the profile.
  void ask_gpus();

  Collection& c_;
  Records& records_;
  ReportOutput output_;
  RecordingOutput recording_;
  SnapshotPace pace_;  // used only by the worker
};

}  // namespace gable
