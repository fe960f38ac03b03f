// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/correlation.h"

#include <algorithm>
#include <utility>

namespace gable {
namespace {

constexpr std::size_t kFirstPendingSlots = 4096;

}  // namespace

PendingLaunches::PendingLaunches(std::size_t max_pending)
    : max_pending_(max_pending), slots_(kFirstPendingSlots) {}

// Blocks of 64 ids stay together, so that records in the order of their launches walk through
// memory; blocks are spread.
std::size_t PendingLaunches::home(std::uint32_t correlation) const {
  const std::uint64_t block = (correlation >> 6) * 0x9E3779B97F4A7C15ull;
  return (((block >> 32) << 6) | (correlation & 63u)) & (slots_.size() - 1);
}

bool PendingLaunches::insert(const PendingLaunch& launch) {
  std::size_t mask = slots_.size() - 1;
  std::size_t i = home(launch.correlation);
  for (; slots_[i].correlation != 0; i = (i + 1) & mask) {
    if (slots_[i].correlation == launch.correlation) {
      slots_[i] = launch;
      return true;
    }
  }
  if (count_ >= max_pending_) return false;
  slots_[i] = launch;
  ++count_;
  if (count_ * 2 > slots_.size()) {
    std::vector<PendingLaunch> all;
    all.reserve(count_);
    for_each([&](const PendingLaunch& each) { all.push_back(each); });
    rebuild(slots_.size() * 2, all);
  }
  return true;
}

std::optional<PendingLaunch> PendingLaunches::take(std::uint32_t correlation) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = home(correlation);
  while (slots_[i].correlation != correlation) {
    if (slots_[i].correlation == 0) return std::nullopt;
    i = (i + 1) & mask;
  }
  const PendingLaunch found = slots_[i];
  // Close the gap: move back what was pushed over this place.
  std::size_t gap = i;
  for (std::size_t next = (gap + 1) & mask; slots_[next].correlation != 0;
       next = (next + 1) & mask) {
    const std::size_t wanted = home(slots_[next].correlation);
    if (((next - wanted) & mask) >= ((next - gap) & mask)) {
      slots_[gap] = slots_[next];
      gap = next;
    }
  }
  slots_[gap] = PendingLaunch{};
  --count_;
  return found;
}

void PendingLaunches::rebuild(std::size_t slots, const std::vector<PendingLaunch>& launches) {
  slots_.assign(slots, PendingLaunch{});
  count_ = launches.size();
  const std::size_t mask = slots - 1;
  for (const PendingLaunch& launch : launches) {
    std::size_t i = home(launch.correlation);
    while (slots_[i].correlation != 0) i = (i + 1) & mask;
    slots_[i] = launch;
  }
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
