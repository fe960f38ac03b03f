// SPDX-License-Identifier: Apache-2.0
#include "collector/session/records.h"

#include <chrono>

namespace gable {
namespace {

constexpr std::chrono::milliseconds kTurnPatience{2500};  // for a thread that waits for one answer

}  // namespace

class Records::Turn {
 public:
  explicit Turn(Records& records) : records_(records) {
    UniqueLock hold(records_.mutex_);
    auto& reading = records_.reading_;
    held_ = records_.read_.wait_for(hold, kTurnPatience,
                                    [&]() GABLE_REQUIRES(records_.mutex_) { return !reading; });
    if (held_) reading = true;
  }
  ~Turn() {
    if (!held_) return;
    const MutexLock hold(records_.mutex_);
    records_.reading_ = false;
    records_.read_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  Records& records_;
  bool held_ = false;
};

bool Records::collect() {
  const Turn turn(*this);
  if (!turn.held()) {
    c_.rt.count_timeout();
    return false;
  }
  auto batch = c_.activity.read_buffers();
  if (!batch.problem.empty()) {
    c_.rt.notes.say(batch.problem);
    c_.sink.with_profile([](Profile& profile) { profile.lose_copies(); });
  }
  add(batch);
  return batch.answered;
}

void Records::add(ActivityBatch& batch) {
  const auto records = batch.kernels.size() + batch.graph_kernels.size() + batch.copies.size();
  if (records == 0 && batch.dropped == 0) return;
  count_.fetch_add(records, std::memory_order_relaxed);
  c_.graph_nodes.place(batch.graph_kernels, batch.copies);
  c_.sink.with_profile([&](Profile& profile) {
    const auto add_each = [&](const auto& kind) {
      for (const auto& record : kind) profile.add(record);
      if (auto* recorder = c_.sink.recorder(); recorder != nullptr)
        for (const auto& record : kind) recorder->add(record);
    };
    add_each(batch.kernels);
    add_each(batch.graph_kernels);
    add_each(batch.copies);
    LostCounts lost;
    lost.records = batch.dropped;
    if (batch.dropped > 0) profile.add_lost(lost);
  });
}

}  // namespace gable
