// SPDX-License-Identifier: Apache-2.0
#include "collector/session/reports.h"

#include <time.h>

#include <chrono>
#include <memory>
#include <string>

#include "collector/process/clock.h"
#include "collector/session/shorter_waits.h"

namespace gable {
namespace {

std::uint64_t snapshot_interval_ns() {
  const std::chrono::nanoseconds usual(SnapshotPace::kEveryNs);
  const auto chosen = or_shorter("GABLE_PLAYBACK_SNAPSHOT_MS",
                                 std::chrono::duration_cast<std::chrono::milliseconds>(usual));
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(chosen).count());
}

std::uint64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace

Reports::Reports(Collection& collection, Records& records)
    : c_(collection),
      records_(records),
      output_(collection.rt),
      recording_(collection.rt),
      pace_(snapshot_interval_ns()) {
  if (c_.rt.settings.record.empty()) return;
  c_.sink.record(std::make_unique<RunRecorder>());
  c_.counters.keep_images(&recording_.images());
}

void Reports::ask_gpus() {
  const auto links = c_.gpus.links();
  const auto states = c_.gpus.states();
  c_.sink.with_profile([&](Profile& profile) {
    profile.set_links(links);
    profile.set_states(states);
  });
}

bool Reports::write(bool complete, bool last) {
  if (output_.is_left_out()) return true;
  ask_gpus();
  if (c_.ranges_only) c_.sink.take_spans(kWholeRun);
  if (complete) {
    if (!c_.ranges_only) c_.windows.keep_what_was_measured();
    if (const auto count = c_.rt.timeouts.load(); count > 0)
      c_.rt.notes.record(std::to_string(count) + (count == 1 ? " wait" : " waits") +
                         " for CUPTI, the GPU or another thread ended at the time limit.");
    if (const auto why = c_.rt.model.why_put_off(); !why.empty())
      c_.rt.notes.record("How much work the model's operators do is unknown: " + why + ".");
    for (const auto& sentence : c_.filter.unmatched()) c_.rt.notes.say(sentence);
  }
  if (complete && !c_.ranges_only) recording_.write(c_.sink, c_.windows);
  return output_.write(c_.sink, c_.windows, c_.counters, complete, last);
}

SnapshotContent Reports::content_so_far() {
  const auto progress = c_.sink.progress();
  // Where only ranges are collected, nobody counts them.
  return {c_.ranges_only ? steady_ns() : progress.events, records_.count(), progress.windows};
}

void Reports::write_snapshot() {
  const auto content = content_so_far();
  const auto now = steady_ns();
  if (!pace_.due(now, content)) return;
  const auto cpu = thread_cpu_ns();
  (void)write(false, false);
  pace_.wrote(now, thread_cpu_ns() - cpu, content);
  if (pace_.is_stretched()) output_.snapshots_come_every(pace_.interval_ns());
}

void Reports::begin_anew() { pace_.begin_anew(content_so_far()); }

}  // namespace gable
