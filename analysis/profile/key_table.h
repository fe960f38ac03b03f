// SPDX-License-Identifier: Apache-2.0
// What is known of every launch key. Bounded: when it is full, the rarest keys that no open window
// refers to are folded into row 0, "(other)", and their places used again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/base/moments.h"
#include "analysis/events/collective.h"
#include "analysis/events/events.h"
#include "analysis/profile/spread.h"

namespace gable {

using KeyIndex = std::uint32_t;
inline constexpr KeyIndex kOtherKey = 0;

[[nodiscard]] std::uint32_t hash_of(const LaunchKey& key);

// Sums of one phase's metrics over the launches of a key, by place in the phase's metric list.
struct CounterSums {
  std::vector<double> sum;
  std::vector<std::uint64_t> known;  // values that were no NaN
  std::uint64_t samples = 0;
  std::uint64_t ranges = 0;   // ranges that hold the samples, if launches are counted together
  std::uint64_t windows = 0;  // kept windows with samples

  void merge(const CounterSums& other);
};

// Sums of the messages of a key's launches, whose sizes may differ.
struct CollectiveSums {
  std::uint64_t calls = 0;
  double bytes = 0, bus_bytes = 0;
  bool sized = true, on_bus = true;  // `bytes`, `bus_bytes` are known for all calls
  Collective kind = Collective::unknown;
  std::uint32_t ranks = 0;  // 0: unknown, or not always the same
  bool one_node = true;

  void add(const CollectiveCall& call);
  void merge(const CollectiveSums& other);
};

// Phases that measure; the place of a phase kind in arrays.
inline constexpr std::size_t kMeasuringKinds = 3;
[[nodiscard]] constexpr bool measures(PhaseKind kind) { return kind >= PhaseKind::hw; }
[[nodiscard]] constexpr std::size_t kind_index(PhaseKind kind) {
  return static_cast<std::size_t>(kind) - static_cast<std::size_t>(PhaseKind::hw);
}

// Launches in kept windows, by kind_index: of all, and of each class of steps (StepClasses).
class WindowLaunches {
 public:
  void add(std::size_t place, PhaseKind kind, std::uint64_t launches);
  void merge(const WindowLaunches& other);
  [[nodiscard]] std::uint64_t all(PhaseKind kind) const { return all_[kind_index(kind)]; }
  [[nodiscard]] std::uint64_t of(std::size_t place, PhaseKind kind) const;
  [[nodiscard]] bool any() const;

 private:
  using ByKind = std::array<std::uint64_t, kMeasuringKinds>;
  ByKind all_{};
  std::vector<ByKind> later_;  // for places from 1 on: most programs have one class
};

// Aligned, with everything a launch accesses in the first two cache lines.
struct alignas(64) KeyRow {
  LaunchKey key;
  bool used = false;
  WindowId last_window = kNoWindow;             // the newest window that refers to the row
  std::uint32_t slot = 0;                       // the row's place in that window
  std::uint64_t first_seen = 0, last_seen = 0;  // ordinals of launches
  std::uint64_t launches = 0;                   // in all phases
  std::uint64_t in_graphs = 0;                  // of those, from CUDA graphs: without counters
  WindowLaunches window_launches;
  Moments time;
  KernelResources resources;          // from the last record that has them
  std::vector<CounterSums> counters;  // by phase index
  KeySpreads spreads;                 // unused in row 0, whose launches are mixed
  CollectiveSums messages;

  void take(const KernelResources& of_record) {
    if (of_record.registers > 0) resources = of_record;
  }
};

class KeyTable {
 public:
  explicit KeyTable(std::size_t max_keys);

  // The row of `key`, made when it is new; kOtherKey when there is no room. Rows whose last_window
  // is `oldest_open` or newer are never folded.
  KeyIndex find_or_add(const LaunchKey& key, WindowId oldest_open);

  [[nodiscard]] KeyRow& row(KeyIndex index) { return rows_[index]; }
  [[nodiscard]] const KeyRow& row(KeyIndex index) const { return rows_[index]; }
  [[nodiscard]] const std::vector<KeyRow>& rows() const { return rows_; }
  [[nodiscard]] std::uint64_t folded() const { return folded_; }
  // Says that a window was closed, so rows may be foldable again.
  void window_closed() { hopeless_ = 0; }
  void clear();

 private:
  void index_row(KeyIndex index);
  bool fold_rarest(WindowId oldest_open);
  void rebuild_index(std::size_t slots);

  struct Slot {
    std::uint32_t hash = 0;
    KeyIndex index = kOtherKey;  // kOtherKey: empty
  };
  std::size_t max_keys_;
  std::vector<KeyRow> rows_;
  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
  std::vector<KeyIndex> free_;
  std::uint64_t clock_ = 0, folded_ = 0;
  std::size_t hopeless_ = 0;       // calls until folding is tried again after it found nothing
  std::vector<bool> turned_away_;  // by hash: keys that got no row, so that each is counted once
};

}  // namespace gable
