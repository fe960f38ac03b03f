// SPDX-License-Identifier: Apache-2.0
// Asks the GPU to say when its work is done, without waiting for it: a program that ends does not
// wait for the GPU either.
#pragma once

#include <atomic>
#include <memory>

namespace gable {

class WorkDone {
 public:
  // Of the context that is current on this thread. A thread of ours waits for it, and is left alone
  // where that takes too long.
  WorkDone();
  // Never, where no thread was to be had or no context is current.
  [[nodiscard]] bool is_done() const { return done_->load(std::memory_order_acquire); }

 private:
  const std::shared_ptr<std::atomic<bool>> done_;
};

}  // namespace gable
