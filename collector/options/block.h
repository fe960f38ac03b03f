// SPDX-License-Identifier: Apache-2.0
// A block of the program outside of which nothing is profiled: gable.profile in Python, gable.h in
// C.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/mutex.h"

namespace gable {

inline constexpr std::uint32_t kMostRepeats = 1000;  // each costs memory for its places

// Windows of a queue that replace the options'. Empty members keep the options' values.
struct Schedule {
  std::optional<std::uint32_t> wait, warmup, active, repeat;
};

struct Block {
  Schedule schedule;
  std::vector<std::string> include, exclude;  // layer patterns; both empty: as the options
};

// A block begun before CUDA was initialised; it opens once there is a session.
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
