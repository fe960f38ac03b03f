// SPDX-License-Identifier: Apache-2.0
// A recording of a run that was written down: the text of docs/recordings.md. What the playback GPU
// makes of it is the same report, as far as the sentences in `left_out` do not say otherwise.
#pragma once

#include <string>
#include <vector>

#include "analysis/profile/profile_state.h"
#include "analysis/recorder/run_recorder.h"

namespace gable {

struct RecordingSource {
  std::string origin;  // "recorded", or "playback" where no GPU was involved
  std::string note;    // one sentence: of what it is
  bool steps = false;  // the program, or its framework, said where steps end
};

struct RecordingText {
  std::string text;                   // empty: there is none
  std::string why_not;                // then: a sentence
  std::vector<std::string> left_out;  // sentences; they are in the text's note too
};

[[nodiscard]] RecordingText recording_text(const RunRecorder& run, const Profile::State& profile,
                                           const RecordingSource& source);

}  // namespace gable
