// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/driver/control.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace gable::playback {
namespace {

struct KnownSwitch {
  std::string_view name;
  std::vector<std::string_view> values;  // the first is the default
};

const std::vector<KnownSwitch>& known_switches() {
  // Never destroyed: the collector's threads may ask while the process ends.
  static const auto& known = *new std::vector<KnownSwitch>{
      {"range_order", {"launch", "reversed"}},
      {"same_name_ranges", {"merged", "separate"}},
      {"user_ranges", {"own_launch", "overlapping", "refused", "several_launches"}},
      {"auto_ranges", {"counted", "refused", "uncounted"}},
      {"counter_kinds", {"both", "hardware", "sass"}},
      {"ranged_threads", {"all", "starter"}},
      {"graphs_in_auto_ranges", {"fail_stop", "dropped", "ranged"}},
      {"graphs_in_replay", {"none", "ranged"}},
      {"graph_clones", {"created_and_cloned", "cloned", "untold"}},
      {"graph_records", {"executable", "captured"}},
      {"copies_in_auto_ranges", {"none", "ranged"}},
      {"capture_in_window", {"harmless", "drops_ranges"}},
      {"late_modules", {"patched", "unpatched"}},
      {"second_config", {"ignored", "allowed", "refused"}},
      {"target_level", {"any", "zero", "minimum"}},
      {"profiler_objects", {"one_started", "one_per_context", "one"}},
      {"start_in_callback", {"allowed", "refused", "refused_to_all"}},
      {"stop_thread", {"any", "starter"}},
      {"current_context", {"any", "own"}},
      {"permission_asked_at", {"enable", "initialize", "set_config", "start"}},
      {"sass_permission", {"needed", "not_needed"}},
      {"engine_start", {"resets_activity", "keeps_activity"}},
      {"engine_end", {"keeps_activity", "resets_activity"}},
      {"activity_with_counters", {"hang_reported", "works"}},
      {"kernel_records", {"arrive", "one_missing", "silent"}},
      {"correlation", {"same", "runtime"}},
      {"cupti", {"13.0", "12.6", "12.8", "12.9", "13.1", "13.2", "13.3", "13.4", "13.5"}},
      {"older_driver", {"refused", "accepted"}},
      {"range_limit", {"none", "size_2000", "config_2000", "start_2000"}},
      {"range_overflow", {"silent", "counted"}},
      {"user_range_time", {"longer", "exact"}},
      {"start_modules", {"none", "loaded"}},
  };
  return known;
}

// One write a line: lines of several threads and processes do not mix.
void append_line(const char* path, const std::string& line) {
  if (path == nullptr || *path == '\0') return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  if (::write(file, line.data(), line.size()) < 0)
    std::fprintf(stderr, "playback: %s cannot be written.\n", path);
  ::close(file);
}

}  // namespace

void Control::add(const RecordedFault& fault) {
  const std::lock_guard<std::mutex> lock(mutex_);
  switch (fault.fault) {
    case Fault::lose_records:
      lose_records_ += static_cast<std::int64_t>(fault.count);
      break;
    case Fault::zero_timestamps:
      zero_timestamps_ += static_cast<std::int64_t>(fault.count);
      break;
    case Fault::wrong_ctas:
      wrong_ctas_ += static_cast<std::int64_t>(fault.count);
      break;
    case Fault::drop_ranges:
      drop_ranges_ += fault.count;
      break;
    case Fault::no_permission:
      no_permission_ = true;
      break;
    case Fault::unsupported:
      unsupported_ = fault.why;
      break;
    case Fault::call:
    case Fault::hang:
    case Fault::delay:
      calls_.push_back(fault);
      if (!fault.holder.empty()) holder_ = fault.holder;
      any_calls_ = true;
      break;
  }
}

void Control::set_switch(const std::string& name, const std::string& value) {
  for (const KnownSwitch& known : known_switches()) {
    if (known.name != name) continue;
    for (std::string_view possible : known.values) {
      if (possible != value) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      switches_[name] = value;
      return;
    }
  }
  std::fprintf(
      stderr, "playback: there is no switch %s with the value %s; docs/recordings.md lists them.\n",
      name.c_str(), value.c_str());
  std::_Exit(2);
}

bool Control::is(const char* name, const char* value) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = switches_.find(name);
  if (it != switches_.end()) return it->second == value;
  for (const KnownSwitch& known : known_switches()) {
    if (known.name == name) return known.values.front() == value;
  }
  return false;
}

std::optional<std::int32_t> Control::fault_of(std::string_view call) {
  if (!any_calls_.load(std::memory_order_acquire)) return std::nullopt;
  bool hang = false;
  std::optional<std::int32_t> code;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (RecordedFault& fault : calls_) {
      if (fault.call != call || fault.times == 0 || fault.fault == Fault::delay) continue;
      if (fault.after > 0) {
        --fault.after;
        continue;
      }
      if (fault.times > 0) --fault.times;
      hang = fault.fault == Fault::hang;
      code = fault.code;
      break;
    }
  }
  if (code) append_line(std::getenv("GABLE_PLAYBACK_FIRED"), std::string(call) + "\n");
  if (hang) {
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return code;
}

void Control::delay(std::string_view call) {
  if (!any_calls_.load(std::memory_order_acquire)) return;
  std::uint64_t ms = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (RecordedFault& fault : calls_) {
      if (fault.call != call || fault.times == 0 || fault.fault != Fault::delay) continue;
      if (fault.after > 0) {
        --fault.after;
        continue;
      }
      if (fault.times > 0) --fault.times;
      ms = fault.count;
      break;
    }
  }
  if (ms == 0) return;
  append_line(std::getenv("GABLE_PLAYBACK_FIRED"), std::string(call) + "\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

std::string Control::unsupported() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return unsupported_;
}

std::string Control::holder() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return holder_;
}

bool Control::take(std::atomic<std::int64_t>& counter) {
  if (counter.load(std::memory_order_relaxed) <= 0) return false;
  return counter.fetch_sub(1) > 0;
}

void Control::rule_broken(const std::string& what) {
  const std::string line = "playback: rule broken: " + what + "\n";
  std::fputs(line.c_str(), stderr);
  append_line(std::getenv("GABLE_PLAYBACK_VIOLATIONS"), line);
}

}  // namespace gable::playback
