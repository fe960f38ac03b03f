// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/range_rows.h"

#include <algorithm>

namespace gable {
namespace {

// A GPU runs no more kernels at once; records that say otherwise are wrong.
constexpr std::size_t kMostAtOnce = 1024;

struct Running {
  std::uint64_t end = 0;
  LayerId layer = 0;
};

// Kernels of one GPU while time goes on.
class Sweep {
 public:
  // Up to `until`: `spent(layer, ns, beside)` for every kernel that ran, until the next one ended.
  template <typename Spent>
  void advance(std::uint64_t until, Spent spent) {
    while (!running_.empty()) {
      const auto first =
          std::min_element(running_.begin(), running_.end(),
                           [](const Running& a, const Running& b) { return a.end < b.end; });
      const std::uint64_t stop = std::min(first->end, until);
      const bool beside = std::any_of(running_.begin(), running_.end(), [&](const Running& other) {
        return other.layer != running_.front().layer;
      });
      if (stop > now_)
        for (const Running& one : running_) spent(one.layer, stop - now_, beside);
      now_ = std::max(now_, stop);
      std::erase_if(running_, [this](const Running& one) { return one.end <= now_; });
      if (stop == until) break;
    }
    if (running_.empty()) now_ = until;
  }
  void begin(const Running& kernel) {
    if (running_.size() < kMostAtOnce) running_.push_back(kernel);
  }

 private:
  std::uint64_t now_ = 0;
  std::vector<Running> running_;
};

}  // namespace

void Overlaps::add_window(const std::vector<HeldRecord>& records, const KeyTable& keys) {
  std::map<std::int32_t, Sweep> sweeps;
  std::uint64_t last = 0;
  const auto advance = [this](std::int32_t device, Sweep& sweep, std::uint64_t until) {
    sweep.advance(until, [&](LayerId layer, std::uint64_t ns, bool beside) {
      Times& times = times_[{device, layer}];
      times.whole_ns += ns;
      if (beside) times.beside_ns += ns;
    });
  };
  for (const HeldRecord& record : records) {
    const LaunchKey& key = keys.row(record.key).key;
    Sweep& sweep = sweeps[key.device];
    advance(key.device, sweep, record.start);
    sweep.begin({record.end, key.layer});
    last = std::max(last, record.end);
  }
  for (auto& [device, sweep] : sweeps) advance(device, sweep, last);
}

Maybe Overlaps::share(std::int32_t device, LayerId layer) const {
  const auto found = times_.find({device, layer});
  if (found == times_.end() || found->second.whole_ns == 0) return std::nullopt;
  return static_cast<double>(found->second.beside_ns) / static_cast<double>(found->second.whole_ns);
}

}  // namespace gable
