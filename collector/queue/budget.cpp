// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/budget.h"

#include <algorithm>

namespace gable {
namespace {

constexpr std::size_t kMostHashes = 64;

// The first steps of a program are slow: they count for less and less.
void follow(double& mean, double value) { mean = mean > 0 ? (mean + value) / 2 : value; }

}  // namespace

void Budget::begin(std::uint64_t now_ns) {
  if (!start_ns_) start_ns_ = now_ns;
  now_ns_ = std::max(now_ns, now_ns_);
  settled_ns_ = 0;
}

void Budget::learn(const WindowCost& cost, double ns) {
  if (cost.launches == 0) return;
  follow(plain_mean_ns_, ns);
  follow(plain_launch_ns_, ns / static_cast<double>(cost.launches));
  if (plain_ns_.contains(cost.hash) || plain_ns_.size() < kMostHashes)
    follow(plain_ns_[cost.hash], ns);
}

double Budget::plain_ns(const WindowCost& cost) const {
  const auto found = plain_ns_.find(cost.hash);
  return found != plain_ns_.end() ? found->second
                                  : plain_launch_ns_ * static_cast<double>(cost.launches);
}

void Budget::ended(const WindowCost& cost) {
  now_ns_ += cost.wall_ns;
  const double ns = std::max(0.0, static_cast<double>(cost.wall_ns) - settled_ns_);
  if (measures(cost.phase.kind)) {
    const double more = std::max(0.0, ns - plain_ns(cost));
    added_ns_ += more;
    if (cost.phase.kind == PhaseKind::time) return;
    counted_ns_ += more;
    ranged_ += cost.ranged;
    return;
  }
  ++plain_windows_;
  learn(cost, ns);
  added_ns_ += static_cast<double>(cost.callbacks_ns);
  callbacks_ns_ += static_cast<double>(cost.callbacks_ns);
}

void Budget::settled(std::uint64_t ns) {
  added_ns_ += static_cast<double>(ns);
  counted_ns_ += static_cast<double>(ns);
  settled_ns_ += static_cast<double>(ns);
}

double Budget::own_ns() const {
  if (!start_ns_ || now_ns_ <= *start_ns_) return 0;
  return std::max(0.0, static_cast<double>(now_ns_ - *start_ns_) - added_ns_);
}

double Budget::room_ns() const { return own_ns() * percent_.value_or(0) / 100 - added_ns_; }

std::uint64_t Budget::launches() const {
  const double of_one =
      (kGuessNs * kGuesses + counted_ns_) / static_cast<double>(kGuesses + ranged_);
  const double room = room_ns();
  return room > 0 ? static_cast<std::uint64_t>(room / std::max(of_one, 1.0)) : 0;
}

bool Budget::hopeless() const {
  return limited() && plain_windows_ >= kPatience &&
         callbacks_ns_ * 100 > own_ns() * percent_.value_or(0);
}

std::optional<double> Budget::added_percent() const {
  const double own = own_ns();
  return own > 0 ? std::optional<double>(100 * added_ns_ / own) : std::nullopt;
}

}  // namespace gable
