// SPDX-License-Identifier: Apache-2.0
// Which launch an activity record belongs to. Correlation ids count up by one for every API call of
// the process and wrap at 32 bits; 0 is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/profile/key_table.h"

namespace gable {

struct PendingLaunch {
  std::uint32_t correlation = 0;
  KeyIndex key = kOtherKey;
  WindowId window = kNoWindow;
  bool in_range = false;
};

// Launches waiting for their record, by correlation id. Open addressing with consecutive ids stored
// together, in the order of their homes (Robin Hood hashing): if records come in launch order,
// taking one looks at only one further launch.
class PendingLaunches {
 public:
  explicit PendingLaunches(std::size_t max_pending);

  // Returns false if the table is full. Replaces an existing id.
  bool insert(const PendingLaunch& launch);
  std::optional<PendingLaunch> take(std::uint32_t correlation);
  // Takes out every launch of `window`, calling `removed(launch)`.
  template <typename Removed>
  void take_window(WindowId window, Removed removed) {
    if (count_ == 0) return;
    std::vector<PendingLaunch> rest;
    for (const PendingLaunch& launch : slots_) {
      if (launch.correlation == 0) continue;
      if (launch.window == window) {
        removed(launch);
      } else {
        rest.push_back(launch);
      }
    }
    rebuild(slots_.size(), rest);
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const PendingLaunch& launch : slots_) {
      if (launch.correlation != 0) visit(launch);
    }
  }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  [[nodiscard]] std::size_t home(std::uint32_t correlation) const;
  [[nodiscard]] std::size_t distance(std::size_t slot) const;
  [[nodiscard]] std::size_t find(std::uint32_t correlation) const;
  void put(std::size_t slot, PendingLaunch launch);
  void rebuild(std::size_t slots, const std::vector<PendingLaunch>& launches);

  std::size_t max_pending_, count_ = 0;
  int shift_ = 0;                     // right shift from a hash to its block
  std::vector<PendingLaunch> slots_;  // a power of two, at most half full
};

// A set of recent correlation ids in a fixed number of bits: launches whose records are known not
// to matter. Ids more than kSpan behind the newest are forgotten.
class RecentCorrelations {
 public:
  static constexpr std::uint32_t kSpan = 1u << 22;

  void insert(std::uint32_t correlation);
  [[nodiscard]] bool contains(std::uint32_t correlation) const;

 private:
  void assign(std::uint32_t correlation, bool value);
  std::vector<std::uint64_t> bits_;  // empty until the first insertion
  std::uint32_t newest_ = 0;
};

// Copies waiting for their record. A fixed table in which a newer id replaces an older one, so a
// copy whose record never comes (no bytes, or between host buffers) costs nothing.
class PendingCopies {
 public:
  static constexpr std::size_t kSlots = 1u << 15;

  void insert(const CopyCall& call);
  std::optional<CopyCall> take(std::uint32_t correlation);

 private:
  std::vector<CopyCall> slots_;  // empty until the first insertion
};

}  // namespace gable
