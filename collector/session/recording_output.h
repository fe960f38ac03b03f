// SPDX-License-Identifier: Apache-2.0
// --record: the recording of a run, written when its queue is complete or the program ends, on the
// thread that writes the report.
#pragma once

#include <atomic>
#include <string>

#include "collector/counters/kept_images.h"
#include "collector/runtime/event_sink.h"
#include "collector/runtime/runtime.h"
#include "collector/windows/windows.h"

namespace gable {

class RecordingOutput {
 public:
  // Reads the environment, which Gable's own threads must not do.
  explicit RecordingOutput(Runtime& rt);

  // Writes once; later calls do nothing. What is left out is reported, also in the report's notes.
  void write(EventSink& sink, Windows& windows);
  // The counter images written beside the recording.
  [[nodiscard]] KeptImages& images() { return images_; }

 private:
  void write_images(const std::string& recording, bool played);

  Runtime& rt_;
  const std::string path_;
  const bool played_;
  KeptImages images_;
  std::atomic<bool> written_{false};
};

}  // namespace gable
