// SPDX-License-Identifier: Apache-2.0
// When the report of a running program is written: soon after its first launches and at once after
// its first complete window, then every few seconds while anything changes. Pure code: no threads,
// no clock.
#pragma once

#include <cstdint>

namespace gable {

// What a report is made of; if the report changes, something here does.
struct SnapshotContent {
  std::uint64_t events = 0, records = 0, windows = 0;
  bool operator==(const SnapshotContent&) const = default;
};

class SnapshotPace {
 public:
  // Checked ten times a second; with the time to write, the file is at most five seconds old.
  static constexpr std::uint64_t kEveryNs = 4'000'000'000;
  static constexpr std::uint64_t kFirstNs = 1'000'000'000;  // after the first launch
  // Writing may take 1/kShare of one core's time, so large reports are written less often.
  static constexpr std::uint64_t kShare = 50;

  explicit SnapshotPace(std::uint64_t every_ns = kEveryNs) : every_ns_(every_ns) {}

  // Whether to write a snapshot now.
  [[nodiscard]] bool due(std::uint64_t now_ns, const SnapshotContent& content);
  // Says that a snapshot was written from `began_ns` on and took `cpu_ns` of CPU time.
  void wrote(std::uint64_t began_ns, std::uint64_t cpu_ns, const SnapshotContent& content);
  // Starts another report with what comes from now on.
  void begin_anew(const SnapshotContent& content);
  // Time between snapshots, in ns, while the content keeps changing.
  [[nodiscard]] std::uint64_t interval_ns() const;
  [[nodiscard]] bool is_stretched() const { return interval_ns() > every_ns_; }

 private:
  const std::uint64_t every_ns_;
  std::uint64_t first_event_ns_ = 0;  // 0: none yet
  std::uint64_t began_ns_ = 0, cpu_ns_ = 0;
  bool wrote_ = false, wrote_window_ = false;
  SnapshotContent written_;
};

}  // namespace gable
