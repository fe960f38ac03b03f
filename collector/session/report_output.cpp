// SPDX-License-Identifier: Apache-2.0
#include "collector/session/report_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>
#include <thread>
#include <vector>

#include "analysis/base/own_write.h"
#include "analysis/base/plain_file.h"
#include "analysis/builder/report_builder.h"
#include "analysis/report/report_json.h"
#include "collector/options/output_name.h"
#include "collector/options/rank_set.h"
#include "collector/options/ranks.h"
#include "collector/process/clock.h"
#include "collector/process/process_facts.h"
#include "collector/runtime/torch_seen.h"

namespace gable {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr auto kWriterPatience = std::chrono::seconds(2);

std::string utc_now() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
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

// The launcher's list of reports, "pid<tab>path" a line, held so that no other process adds to it.
class Manifest {
 public:
  explicit Manifest(const std::string& path) {
    if (path.empty()) return;
    file_ = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
    if (file_ < 0 || !lock_patiently(file_)) return;
    std::istringstream lines(read_to_end(file_).value_or(""));
    for (std::string line; std::getline(lines, line);)
      if (const auto tab = line.find('\t'); tab != std::string::npos)
        taken_.insert(line.substr(tab + 1));
  }
  ~Manifest() {
    if (file_ >= 0) ::close(file_);
  }
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;

  [[nodiscard]] const std::set<std::string>& taken() const { return taken_; }
  void add(const std::string& path) {
    const std::string line = std::to_string(getpid()) + "\t" + path + "\n";
    // What is not in the list is not in the launcher's table; the report is there.
    if (file_ >= 0) (void)write_whole(file_, line);
  }

 private:
  int file_ = -1;
  std::set<std::string> taken_;
};

// "run.json" gives "run-41.json", then "run-41-2.json".
std::string numbered(const std::string& path, unsigned n) {
  const auto own = std::to_string(getpid());
  return with_suffix(path, n == 1 ? own : own + "-" + std::to_string(n));
}

}  // namespace

ReportOutput::ReportOutput(Runtime& rt) : rt_(rt), started_at_(utc_now()) {
  look_at_environment();
  choose_name();
}

void ReportOutput::look_at_environment() {
  Environment seen{told_rank(), roofs_folder(), is_played(rt_.settings)};
  left_out_.store(leaves_out(rt_.settings.ranks, seen.rank));
  if (is_later_rank()) rt_.notes.keep_to_report();
  const MutexLock hold(mutex_);
  environment_ = std::move(seen);
}

void ReportOutput::choose_name() {
  std::string unset;
  auto name = own_output_name(rt_.settings.output, &unset);
  const MutexLock hold(mutex_);
  name_ = std::move(name);
  unset_ = std::move(unset);
}

ReportOutput::Environment ReportOutput::environment() {
  const MutexLock hold(mutex_);
  return environment_;
}

RunInfo ReportOutput::describe_run(Windows& windows, const Environment& environment,
                                   bool complete) const {
  RunInfo run;
  run.command = shown_command_line(rt_.settings);
  run.hostname = host_name();
  run.pid = getpid();
  run.rank = environment.rank;
  run.started_at = started_at_;
  run.queue = queue_.load();
  run.wall_time_s = static_cast<double>(steady_ns() - rt_.started_ns) * 1e-9;
  run.source = environment.played ? Source::playback : Source::cupti;
  run.unit = windows.steps_known() ? Unit::step : Unit::run;
  run.complete = complete;
  const auto counts = windows.counts();
  run.steps.seen = counts.seen;
  run.steps.hw = counts.hw;
  run.steps.flops = counts.flops;
  run.steps.time = counts.time;
  run.steps.classes = counts.classes;
  run.steps.border = counts.border_name;
  if (counts.period != 0) run.steps.period = counts.period;
  if (counts.needed) run.steps.needed = *counts.needed;
  run.overhead.budget_percent = counts.budget;
  run.overhead.added_percent = counts.added;
  run.overhead.added_ns = counts.added_ns;
  run.notes = rt_.notes.all();
  if (const auto interval = snapshot_interval_ns_.load(); !complete && interval > 0) {
    run.notes.push_back("This report of a running program is written every " +
                        std::to_string((interval + kSecondNs - 1) / kSecondNs) +
                        " s: even at that interval, writing it takes 2 % of a core.");
  }
  if (complete && counts.hw + counts.flops + counts.time == 0 && counts.needed) {
    run.notes.push_back(
        "The program ended before anything was measured: " + std::to_string(*counts.needed) +
        " steps of the same launches are enough to measure everything.");
  }
  return run;
}

bool ReportOutput::write(EventSink& sink, Windows& windows, Counters& counters, bool complete,
                         bool last) {
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
  const unsigned queue = queue_.load();
  if (!complete && complete_queue_ == queue) return true;
  const bool written = write_alone(sink, windows, counters, complete, last);
  if (complete && written) complete_queue_ = queue;
  return written;
}

// On the program's own thread, because it may end before any other has had its turn.
void ReportOutput::see_launch() {
  if (launch_seen_.exchange(true)) return;
  look_at_environment();
  choose_name();
  if (rt_.settings.manifest.empty()) return;
  const int fd = ::open(rt_.settings.manifest.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;
  const std::string line = std::to_string(getpid()) + (is_left_out() ? " left out\n" : "\t\n");
  (void)!::write(fd, line.data(), line.size());
  ::close(fd);
}

std::string ReportOutput::name() {
  const auto queue = queue_.load();
  const MutexLock hold(mutex_);
  return queue > 1 ? with_suffix(name_, std::to_string(queue)) : name_;
}

void ReportOutput::note_unset() {
  std::string unset, name;
  {
    const MutexLock hold(mutex_);
    unset.swap(unset_);
    name = name_;
  }
  if (unset.empty()) return;
  rt_.notes.say("-o " + rt_.settings.output + " names " + unset +
                ", which is not set here: the process id stands in its place, in " + name + ".");
}

void ReportOutput::next_queue() { ++queue_; }

std::string ReportOutput::write_file(const std::string& text) {
  if (const auto queue = queue_.load(); queue != file_queue_) {
    file_queue_ = queue;
    file_.emplace(name(), numbered,
                  [this](const std::string& path) { return taken_.count(path) > 0; });
  }
  if (!file_->is_to_be_named()) return file_->write(text);
  Manifest manifest(rt_.settings.manifest);
  taken_ = manifest.taken();
  taken_.erase(listed_);  // by us, for a write that failed or a file that is gone
  auto failed = file_->write(text);
  if (file_->path() == listed_) return failed;
  listed_ = file_->path();
  manifest.add(listed_);  // also of one that failed, as the launcher is to miss it
  return failed;
}

bool ReportOutput::write_alone(EventSink& sink, Windows& windows, Counters& counters, bool complete,
                               bool last) {
  // What reads a pipe gets one report, the last.
  if (!last && is_written_in_place(name())) return true;
  note_unset();
  if (complete) note_missing_modules(rt_);
  const Environment here = environment();
  RunInfo run = describe_run(windows, here, complete);
  run.scope = counters.by_layers() ? Scope::range : Scope::kernel;
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
  const auto failed = write_file(to_json(*report));
  if (failed.empty()) return true;
  rt_.notes.insist("The report was not written: " + failed);
  return false;
}

}  // namespace gable
