// SPDX-License-Identifier: Apache-2.0
#include "collector/session/recording_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "analysis/base/text_file.h"
#include "analysis/recorder/recording_text.h"
#include "collector/options/output_name.h"
#include "collector/process/process_facts.h"

namespace gable {
namespace {

// Empty, or why not. A file that is there already is another process's: it gets no second writer.
std::string write_new(const std::string& text, std::string& path) {
  int error = write_new_file(text, path);
  if (error == EEXIST) {
    path = with_suffix(path, std::to_string(getpid()));
    error = write_new_file(text, path);
  }
  return error == 0 ? std::string() : path + ": " + std::strerror(error) + ".";
}

}  // namespace

RecordingOutput::RecordingOutput(Runtime& rt)
    : rt_(rt), path_(own_output_name(rt.settings.record)), played_(is_played(rt.settings)) {}

// "run.jsonl" gives "run.images".
void RecordingOutput::write_images(const std::string& recording, bool played) {
  if (images_.empty()) return;
  std::string path = std::filesystem::path(recording).replace_extension(".images").string();
  const std::string failed = write_new(images_.text(played ? "playback" : "cupti"), path);
  if (!failed.empty()) rt_.notes.insist("The counter images were not written: " + failed);
  if (const auto left_out = images_.left_out(); left_out > 0) {
    rt_.notes.say(
        "Recording: " + std::to_string(left_out) +
        " counter images are not kept: a recording keeps one for each phase, of at most 4 MiB.");
  }
}

void RecordingOutput::write(EventSink& sink, Windows& windows) {
  if (rt_.settings.record.empty() || written_.exchange(true)) return;
  RecordingSource source;
  std::string command;
  for (const auto& word : shown_command_line(rt_.settings))
    command += (command.empty() ? "" : " ") + word;
  if (command.empty()) command = "its command is left out";
  source.origin = played_ ? "playback" : "recorded";
  source.note = (played_ ? "Recorded from a run on the playback GPU, of " +
                               std::filesystem::path(rt_.settings.playback).filename().string() +
                               "; no GPU was involved: "
                         : std::string("Recorded from a run: ")) +
                command + ".";
  const auto border = windows.counts().border;
  source.steps = border != Border::launches && border != Border::period;
  RecordingText recording;
  bool launched = false;
  sink.with_profile([&](Profile& profile) {
    launched = sink.recorder() != nullptr && !sink.recorder()->kinds().empty();
    if (launched) recording = recording_text(*sink.recorder(), profile.state(), source);
  });
  if (!launched) return;  // a process without launches leaves no file
  if (!recording.why_not.empty()) {
    rt_.notes.insist("No recording was written: " + recording.why_not + ".");
    return;
  }
  std::string path = path_;
  if (const auto failed = write_new(recording.text, path); !failed.empty()) {
    rt_.notes.insist("The recording was not written: " + failed);
    return;
  }
  write_images(path, played_);
  rt_.notes.record("A recording of this run is in " + path + ".");
  for (const auto& sentence : recording.left_out) rt_.notes.say("Recording: " + sentence);
}

}  // namespace gable
