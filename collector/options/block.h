// SPDX-License-Identifier: Apache-2.0
// A block of the program's own that alone is profiled: gable.profile in Python, gable.h in C.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/mutex.h"

namespace gable {

inline constexpr std::uint32_t kMostRepeats = 1000;  // each costs memory for its places

// Windows of a queue, instead of those that the options ask for. What is empty is as they say.
struct Schedule {
  std::optional<std::uint32_t> wait, warmup, active, repeat;
};

struct Block {
  Schedule schedule;
  std::vector<std::string> include, exclude;  // patterns of layers; none of either: as the options
};

// The block that was begun before CUDA was: it is opened once there is a session.
class EarlyBlock {
 public:
  void begin(Block block) {
    const MutexLock hold(mutex_);
    block_ = std::move(block);
  }
  void end() {
    const MutexLock hold(mutex_);
    block_.reset();
  }
  std::optional<Block> take() {
    const MutexLock hold(mutex_);
    auto block = std::move(block_);
    block_.reset();
    return block;
  }

 private:
  Mutex mutex_;
  std::optional<Block> block_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable
