// SPDX-License-Identifier: Apache-2.0
#include "collector/report_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <vector>

#include "analysis/plain_file.h"
#include "analysis/report_builder.h"
#include "analysis/report_file.h"
#include "collector/clock.h"
#include "collector/process_facts.h"
#include "collector/torch_seen.h"

namespace gable {
namespace {

constexpr auto kWriterPatience = std::chrono::seconds(2);

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

// The rank as launchers of parallel programs give it.
std::optional<std::int64_t> rank_of_process() {
  for (const char* name :
       {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == 0) continue;
    char* end = nullptr;
    const auto value = std::strtoll(text, &end, 10);
    if (*end == 0 && value >= 0) return value;
  }
  return std::nullopt;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

// The process that holds the lock may have been stopped.
bool lock_patiently(int fd) {
  const auto patience = std::chrono::steady_clock::now() + kWriterPatience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() >= patience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Two processes must never write one file: the first to claim a path in the launcher's manifest has
// it.
std::string claim(const std::string& manifest, const std::string& path) {
  const int fd = ::open(manifest.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fd < 0) return path;
  std::string claimed = path;
  if (!lock_patiently(fd)) {
    claimed = with_suffix(path, std::to_string(getpid()));
  } else {
    std::istringstream lines(read_to_end(fd).value_or(""));
    const std::string pid = std::to_string(getpid());
    for (std::string line; std::getline(lines, line);) {
      const auto tab = line.find('\t');
      if (tab == std::string::npos || line.substr(tab + 1) != path || line.substr(0, tab) == pid)
        continue;
      claimed = with_suffix(path, pid);
      break;
    }
    const std::string line = pid + "\t" + claimed + "\n";
    if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) claimed = path;
  }
  ::close(fd);
  return claimed;
}

}  // namespace

ReportOutput::ReportOutput(Runtime& rt)
    : rt_(rt), started_at_(utc_now()), name_(expand_output_name(rt.settings.output)) {
  look_at_environment();
}

void ReportOutput::look_at_environment() {
  Environment seen{rank_of_process(), roofs_folder(), is_played(rt_.settings)};
  const MutexLock hold(mutex_);
  environment_ = std::move(seen);
}

ReportOutput::Environment ReportOutput::environment() {
  const MutexLock hold(mutex_);
  return environment_;
}

RunInfo ReportOutput::describe_run(Windows& windows, const Environment& environment,
                                   bool complete) const {
  RunInfo run;
  run.command = masked_command_line();
  run.hostname = host_name();
  run.pid = getpid();
  run.rank = environment.rank;
  run.started_at = started_at_;
  run.wall_time_s = static_cast<double>(steady_ns() - rt_.started_ns) * 1e-9;
  run.source = environment.played ? "playback" : "cupti";
  run.unit = windows.steps_known() ? "step" : "run";
  run.complete = complete;
  const auto counts = windows.counts();
  run.steps.seen = counts.seen;
  run.steps.hw = counts.hw;
  run.steps.flops = counts.flops;
  run.steps.time = counts.time;
  run.steps.classes = counts.classes;
  run.steps.border = counts.border;
  if (counts.period != 0) run.steps.period = counts.period;
  run.overhead.budget_percent = counts.budget;
  run.overhead.added_percent = counts.added;
  run.notes = rt_.notes.all();
  return run;
}

bool ReportOutput::write(EventSink& sink, Windows& windows, Counters& counters, bool complete) {
  {
    UniqueLock hold(mutex_);
    if (!written_.wait_for(hold, kWriterPatience,
                           [this]() GABLE_REQUIRES(mutex_) { return !writing_; }))
      return false;  // another thread is writing, and hangs in a file system
    writing_ = true;
  }
  struct Turn {
    ReportOutput& output;
    ~Turn() {
      const MutexLock hold(output.mutex_);
      output.writing_ = false;
      output.written_.notify_one();
    }
  } const turn{*this};
  return write_alone(sink, windows, counters, complete);
}

std::string ReportOutput::name() const {
  const auto queue = queue_.load();
  return queue > 1 ? with_suffix(name_, std::to_string(queue)) : name_;
}

void ReportOutput::next_queue() { ++queue_; }

bool ReportOutput::write_alone(EventSink& sink, Windows& windows, Counters& counters,
                               bool complete) {
  if (complete) note_missing_modules(rt_);
  const Environment here = environment();
  RunInfo run = describe_run(windows, here, complete);
  run.scope = counters.by_layers() ? "range" : "kernel";
  run.overhead.counter_image_bytes = static_cast<double>(counters.image_bytes());
  if (const auto bytes = counters.gpu_bytes())
    run.overhead.gpu_memory_bytes = static_cast<double>(*bytes);
  // Read before the profile is held.
  const StoredRoofs roofs = read_roofs_folder(here.roofs);
  std::optional<Report> report;
  sink.with_profile([&](Profile& profile) {
    if (has_launches(profile)) report = build_report(profile, run, roofs);
  });
  if (!report) return false;
  if (const auto changes = windows.changes_ns(); changes > 0) {
    auto& callbacks = report->run.overhead.callbacks_ns;
    callbacks = callbacks.value_or(0) + static_cast<double>(changes);
  }
  if (const auto queue = queue_.load(); queue != path_queue_) {
    path_queue_ = queue;
    path_ = name();
    if (!rt_.settings.manifest.empty()) path_ = claim(rt_.settings.manifest, path_);
  }
  const auto failed = write_report_file(*report, path_);
  if (failed.empty()) return true;
  rt_.notes.say("The report was not written: " + failed);
  return false;
}

}  // namespace gable
