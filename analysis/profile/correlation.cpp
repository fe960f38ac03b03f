// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/correlation.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gable {
namespace {

constexpr std::size_t kFirstPendingSlots = 4096;
constexpr std::uint32_t kBlock = 64;

}  // namespace

PendingLaunches::PendingLaunches(std::size_t max_pending) : max_pending_(max_pending) {
  rebuild(kFirstPendingSlots, {});
}

// Blocks of ids stay together, so that records in the order of their launches walk through memory.
// Blocks that follow each other lie evenly apart: the upper bits of multiples of the golden ratio
// (Knuth, The Art of Computer Programming, volume 3, section 6.4).
std::size_t PendingLaunches::home(std::uint32_t correlation) const {
  const std::uint64_t block = (correlation / kBlock) * 0x9E3779B97F4A7C15ull;
  return (block >> shift_) * kBlock | correlation % kBlock;
}

std::size_t PendingLaunches::distance(std::size_t slot) const {
  return (slot - home(slots_[slot].correlation)) & (slots_.size() - 1);
}

// The launch's slot, or the first whose launch may give way to it.
std::size_t PendingLaunches::find(std::uint32_t correlation) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = home(correlation);
  for (std::size_t far = 0; slots_[slot].correlation != 0 &&
                            slots_[slot].correlation != correlation && distance(slot) >= far;
       ++far)
    slot = (slot + 1) & mask;
  return slot;
}

bool PendingLaunches::insert(const PendingLaunch& launch) {
  const std::size_t slot = find(launch.correlation);
  if (slots_[slot].correlation == launch.correlation) {
    slots_[slot] = launch;
    return true;
  }
  if (count_ >= max_pending_) return false;
  put(slot, launch);
  ++count_;
  if (count_ * 2 > slots_.size()) {
    std::vector<PendingLaunch> all;
    all.reserve(count_);
    for_each([&](const PendingLaunch& each) { all.push_back(each); });
    rebuild(slots_.size() * 2, all);
  }
  return true;
}

// Those from `slot` on move one further, up to the next gap.
void PendingLaunches::put(std::size_t slot, PendingLaunch launch) {
  const std::size_t mask = slots_.size() - 1;
  for (; slots_[slot].correlation != 0; slot = (slot + 1) & mask) std::swap(slots_[slot], launch);
  slots_[slot] = launch;
}

std::optional<PendingLaunch> PendingLaunches::take(std::uint32_t correlation) {
  if (correlation == 0) return std::nullopt;
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = find(correlation);
  if (slots_[slot].correlation != correlation) return std::nullopt;
  const PendingLaunch found = slots_[slot];
  // Close the gap: those that were moved past their place move back by one.
  for (std::size_t next = (slot + 1) & mask; slots_[next].correlation != 0 && distance(next) > 0;
       next = (next + 1) & mask) {
    slots_[slot] = slots_[next];
    slot = next;
  }
  slots_[slot] = PendingLaunch{};
  --count_;
  return found;
}

void PendingLaunches::rebuild(std::size_t slots, const std::vector<PendingLaunch>& launches) {
  slots_.assign(slots, PendingLaunch{});
  shift_ = 64 - std::countr_zero(slots / kBlock);
  count_ = launches.size();
  for (const PendingLaunch& launch : launches) put(find(launch.correlation), launch);
}

void RecentCorrelations::assign(std::uint32_t correlation, bool value) {
  const std::uint32_t bit = correlation & (kSpan - 1);
  const std::uint64_t mask = std::uint64_t{1} << (bit & 63);
  if (value) {
    bits_[bit >> 6] |= mask;
  } else {
    bits_[bit >> 6] &= ~mask;
  }
}

void RecentCorrelations::insert(std::uint32_t correlation) {
  if (correlation == 0) return;
  if (bits_.empty()) {
    bits_.assign(kSpan / 64, 0);
    newest_ = correlation;
  }
  const auto ahead = static_cast<std::int32_t>(correlation - newest_);  // modulo 2^32: ids wrap
  if (ahead > 0) {
    if (static_cast<std::uint32_t>(ahead) >= kSpan) {
      std::fill(bits_.begin(), bits_.end(), 0);
    } else {
      for (std::uint32_t id = newest_ + 1; id != correlation; ++id) assign(id, false);
    }
    newest_ = correlation;
  } else if (static_cast<std::uint32_t>(-static_cast<std::int64_t>(ahead)) >= kSpan) {
    return;
  }
  assign(correlation, true);
}

bool RecentCorrelations::contains(std::uint32_t correlation) const {
  if (correlation == 0 || bits_.empty()) return false;
  const std::uint32_t behind = newest_ - correlation;
  if (behind >= kSpan) return false;
  const std::uint32_t bit = correlation & (kSpan - 1);
  return (bits_[bit >> 6] >> (bit & 63)) & 1;
}

void PendingCopies::insert(const CopyCall& call) {
  if (call.correlation == 0) return;
  if (slots_.empty()) slots_.resize(kSlots);
  slots_[call.correlation & (kSlots - 1)] = call;
}

std::optional<CopyCall> PendingCopies::take(std::uint32_t correlation) {
  if (correlation == 0 || slots_.empty()) return std::nullopt;
  CopyCall& slot = slots_[correlation & (kSlots - 1)];
  if (slot.correlation != correlation) return std::nullopt;
  return std::exchange(slot, CopyCall{});
}

}  // namespace gable
