// SPDX-License-Identifier: Apache-2.0
// Recordings, and lists of faults and switches, as users write them by hand.
#include "analysis/recording/recording.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gable;
  using fuzz::expect;
  const std::string_view text = fuzz::text_of(data, size);
  const RecordingResult read = parse_recording(text, "fuzz.jsonl");
  expect((read.recording != nullptr) == read.error.empty(), "there is a recording or a sentence");
  if (read.recording == nullptr) {
    expect(read.error.find("fuzz.jsonl") != std::string::npos, "an error names the file");
  } else {
    const Recording& recording = *read.recording;
    expect(!recording.devices.empty(), "there is a device");
    expect(recording.initial_faults <= recording.faults.size(), "initial faults are among all");
    const auto check = [&recording](const std::vector<RecordedOp>& ops) {
      for (const RecordedOp& op : ops) {
        const bool launches = op.kind == OpKind::launch;
        expect(!launches || op.kernel < recording.kernels.size(), "a launch has its kernel");
        for (const std::uint32_t kernel : op.kernels)
          expect(kernel < recording.kernels.size(), "a graph has its kernels");
        const bool plays = op.kind == OpKind::play;
        expect(!plays || op.index < recording.sequences.size(), "what is played is there");
        const bool fails = op.kind == OpKind::fault;
        expect(!fails || op.index < recording.faults.size(), "a fault is there");
      }
    };
    check(recording.ops);
    for (const RecordedSequence& sequence : recording.sequences) check(sequence.ops);
  }
  std::vector<RecordedFault> faults;
  std::map<std::string, std::string> switches;
  const std::string error = parse_faults(text, "GABLE_PLAYBACK_FAULTS", faults, switches);
  expect(error.empty() || error.ends_with('.'), "an error is a sentence");
  return 0;
}
