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

  // `complete`: the queue is, or the program ends; `last`: the program ends. False when nothing was
  // written.
  bool write(bool complete, bool last);
  // On the worker, often: writes a snapshot where it is time for one.
  void write_snapshot();
  // On the worker: snapshots are of what comes from here on.
  void begin_anew();
  [[nodiscard]] ReportOutput& output() { return output_; }

 private:
  [[nodiscard]] SnapshotContent content_so_far();
  // What NVML told until now is for the profile.
  void ask_gpus();

  Collection& c_;
  Records& records_;
  ReportOutput output_;
  RecordingOutput recording_;
  SnapshotPace pace_;  // the worker's alone
};

}  // namespace gable
