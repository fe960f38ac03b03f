// SPDX-License-Identifier: Apache-2.0
// A recording of a run as text (docs/recordings.md). Played back, it gives the same report, except
// for what the sentences in `left_out` say.
#pragma once

#include <string>
#include <vector>

#include "analysis/profile/profile_state.h"
#include "analysis/recorder/run_recorder.h"

namespace gable {

struct RecordingSource {
  std::string origin;  // "recorded", or "playback" without a GPU
  std::string note;    // one sentence: what it is a recording of
  bool steps = false;  // the program or its framework marked where steps end
};

struct RecordingText {
  std::string text;                   // empty: there is none
  std::string why_not;                // a sentence, if there is no text
  std::vector<std::string> left_out;  // sentences; they are in the text's note too
};

[[nodiscard]] RecordingText recording_text(const RunRecorder& run, const Profile::State& profile,
                                           const RecordingSource& source);

}  // namespace gable
