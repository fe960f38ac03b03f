// SPDX-License-Identifier: Apache-2.0
// A run to record, written by hand with few words.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/recorder/recording_text.h"
#include "analysis/recording/recording.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {

class RecordedRun : public ProfileTest {
 protected:
  RunRecorder run;
  std::uint32_t correlation = 1;

  void launch(std::uint32_t step, const LaunchKey& of, WindowId in = kNoWindow,
              bool inherited = false) {
    LaunchEvent event;
    event.key = of;
    event.window = in;
    event.correlation = correlation++;
    event.inherited_layer = inherited;
    run.add(step, event);
  }
  void timed(std::uint32_t step, const LaunchKey& of, WindowId in, std::uint64_t start_ns,
             std::uint64_t end_ns, std::uint32_t context = 1, std::uint32_t stream = 7) {
    launch(step, of, in);
    KernelRecord record;
    record.correlation = correlation - 1;
    record.start_ns = start_ns;
    record.end_ns = end_ns;
    record.context = context;
    record.stream = stream;
    record.resources = {40, 1536};
    run.add(record);
  }
  void copied(std::uint32_t step, WindowId in, CopyRecord record, LayerId of = 0) {
    CopyCall call;
    call.layer = of;
    call.window = in;
    call.correlation = correlation++;
    run.add(step, call);
    record.correlation = call.correlation;
    run.add(record);
  }
  void ended(WindowId id, Phase phase, std::uint64_t start_ns = 0, std::uint64_t end_ns = 0,
             bool keep = true) {
    WindowEnd end;
    end.window = id;
    end.phase = phase;
    end.start_ns = start_ns;
    end.end_ns = end_ns;
    end.keep = keep;
    run.end_window(end);
  }
  // Without the first line, which is the header, and the second, which is the device.
  std::string lines(bool steps = false, const std::vector<std::string>& left_out = {}) {
    if (profile.state().devices.empty()) profile.add_device(a100());
    const RecordingText made = recording_text(run, profile.state(), {"recorded", "A run.", steps});
    EXPECT_EQ(made.left_out, left_out);
    const auto read = parse_recording(made.text, "r");
    EXPECT_NE(read.recording, nullptr) << read.error;
    const auto header = made.text.find('\n');
    return made.text.substr(made.text.find('\n', header + 1));
  }
};

}  // namespace gable::tests
