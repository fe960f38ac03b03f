// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/key_table.h"

#include <algorithm>
#include <cstring>

namespace gable {
namespace {

constexpr std::size_t kFirstKeySlots = 1024;
constexpr std::size_t kRetryFolding = 1024;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

// Independent products, because this runs for every launch.
std::uint32_t hash_of(const LaunchKey& key) {
  static_assert(sizeof(LaunchKey) == 52, "no padding: the bytes are the key");
  std::uint64_t words[8] = {};
  std::memcpy(words, &key, sizeof key);
  constexpr std::uint64_t kOdd[8] = {
      0x243F6A8885A308D3ull, 0x13198A2E03707345ull, 0xA4093822299F31D1ull, 0x082EFA98EC4E6C89ull,
      0x452821E638D01377ull, 0xBE5466CF34E90C6Dull, 0xC0AC29B7C97C50DDull, 0x3F84D5B5B5470917ull};
  std::uint64_t hash = 0;
  for (int i = 0; i < 8; i += 2)
    hash += mixed(words[i] ^ kOdd[i], words[i + 1] ^ kOdd[i + 1]) ^ kOdd[7 - i];
  return static_cast<std::uint32_t>(mixed(hash, 0x9E3779B97F4A7C15ull) >> 32);
}

void CollectiveSums::add(const CollectiveCall& call) {
  const auto bus = gable::bus_bytes(call);
  CollectiveSums one;
  one.calls = 1;
  one.bytes = static_cast<double>(call.bytes.value_or(0));
  one.bus_bytes = bus.value_or(0);
  one.sized = call.bytes.has_value();
  one.on_bus = bus.has_value();
  one.kind = call.kind;
  one.ranks = call.ranks;
  one.one_node = call.one_node;
  merge(one);
}

void CollectiveSums::merge(const CollectiveSums& other) {
  if (other.calls == 0) return;
  if (calls == 0) {
    *this = other;
    return;
  }
  calls += other.calls;
  bytes += other.bytes;
  bus_bytes += other.bus_bytes;
  sized = sized && other.sized;
  on_bus = on_bus && other.on_bus;
  if (kind != other.kind) kind = Collective::unknown;
  if (ranks != other.ranks) ranks = 0;
  one_node = one_node && other.one_node;
}

void CounterSums::merge(const CounterSums& other) {
  if (sum.size() < other.sum.size()) {
    sum.resize(other.sum.size(), 0.0);
    known.resize(other.known.size(), 0);
  }
  for (std::size_t i = 0; i < other.sum.size(); ++i) {
    sum[i] += other.sum[i];
    known[i] += other.known[i];
  }
  samples += other.samples;
  ranges += other.ranges;
  windows += other.windows;
}

void WindowLaunches::add(std::size_t place, PhaseKind kind, std::uint64_t launches) {
  all_[kind_index(kind)] += launches;
  if (place == 0) return;
  if (later_.size() < place) later_.resize(place);
  later_[place - 1][kind_index(kind)] += launches;
}

void WindowLaunches::merge(const WindowLaunches& other) {
  if (later_.size() < other.later_.size()) later_.resize(other.later_.size());
  for (std::size_t kind = 0; kind < kMeasuringKinds; ++kind) {
    all_[kind] += other.all_[kind];
    for (std::size_t i = 0; i < other.later_.size(); ++i) later_[i][kind] += other.later_[i][kind];
  }
}

std::uint64_t WindowLaunches::of(std::size_t place, PhaseKind kind) const {
  const std::size_t index = kind_index(kind);
  if (place > 0) return place <= later_.size() ? later_[place - 1][index] : 0;
  std::uint64_t launches = all_[index];
  for (const ByKind& each : later_) launches -= each[index];
  return launches;
}

bool WindowLaunches::any() const {
  return std::any_of(all_.begin(), all_.end(), [](std::uint64_t n) { return n > 0; });
}

KeyTable::KeyTable(std::size_t max_keys) : max_keys_(std::max<std::size_t>(max_keys, 1)) {
  clear();
}

void KeyTable::clear() {
  rows_.clear();
  rows_.emplace_back();  // "(other)"
  slots_.assign(kFirstKeySlots, Slot{});
  free_.clear();
  turned_away_.clear();
  clock_ = folded_ = 0;
  hopeless_ = 0;
}

KeyIndex KeyTable::find_or_add(const LaunchKey& key, WindowId oldest_open) {
  const std::uint32_t hash = hash_of(key);
  const std::size_t mask = slots_.size() - 1;
  ++clock_;
  for (std::size_t i = hash & mask; slots_[i].index != kOtherKey; i = (i + 1) & mask) {
    if (slots_[i].hash != hash) continue;
    KeyRow& row = rows_[slots_[i].index];
    if (row.key == key) {
      row.last_seen = clock_;
      return slots_[i].index;
    }
  }
  if (free_.empty() && rows_.size() > max_keys_ && !fold_rarest(oldest_open)) {
    if (turned_away_.empty()) turned_away_.resize(std::size_t{1} << 16);
    if (!turned_away_[hash >> 16]) ++folded_;
    turned_away_[hash >> 16] = true;
    rows_[kOtherKey].used = true;
    return kOtherKey;
  }
  KeyIndex index = 0;
  if (free_.empty()) {
    index = static_cast<KeyIndex>(rows_.size());
    rows_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  KeyRow& row = rows_[index];
  row.key = key;
  row.used = true;
  row.first_seen = row.last_seen = clock_;
  if (rows_.size() * 2 > slots_.size()) {
    rebuild_index(slots_.size() * 2);
  } else {
    index_row(index);
  }
  return index;
}

void KeyTable::index_row(KeyIndex index) {
  const std::uint32_t hash = hash_of(rows_[index].key);
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (slots_[i].index != kOtherKey) i = (i + 1) & mask;
  slots_[i] = {hash, index};
}

void KeyTable::rebuild_index(std::size_t slots) {
  slots_.assign(slots, Slot{});
  for (KeyIndex index = 1; index < rows_.size(); ++index) {
    if (rows_[index].used) index_row(index);
  }
}

// Many at once, so that the search for the rarest costs little per key; among equally rare ones the
// longest unseen go.
bool KeyTable::fold_rarest(WindowId oldest_open) {
  if (hopeless_ > 0) {
    --hopeless_;
    return false;
  }
  std::vector<KeyIndex> candidates;
  for (KeyIndex index = 1; index < rows_.size(); ++index) {
    if (rows_[index].used && rows_[index].last_window < oldest_open) candidates.push_back(index);
  }
  if (candidates.empty()) {
    hopeless_ = kRetryFolding;
    return false;
  }
  const auto rarer = [this](KeyIndex a, KeyIndex b) {
    const KeyRow &left = rows_[a], &right = rows_[b];
    if (left.launches != right.launches) return left.launches < right.launches;
    return left.last_seen < right.last_seen;
  };
  const std::size_t batch = std::min(candidates.size(), std::max<std::size_t>(max_keys_ / 16, 1));
  std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(batch - 1),
                   candidates.end(), rarer);
  candidates.resize(batch);

  KeyRow& other = rows_[kOtherKey];
  other.used = true;
  for (const KeyIndex index : candidates) {
    KeyRow& row = rows_[index];
    other.launches += row.launches;
    other.in_graphs += row.in_graphs;
    other.window_launches.merge(row.window_launches);
    other.time.merge(row.time);
    if (other.counters.size() < row.counters.size()) other.counters.resize(row.counters.size());
    for (std::size_t phase = 0; phase < row.counters.size(); ++phase)
      other.counters[phase].merge(row.counters[phase]);
    row = KeyRow{};
    free_.push_back(index);
  }
  folded_ += batch;
  rebuild_index(slots_.size());
  return true;
}

}  // namespace gable
