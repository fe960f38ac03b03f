// SPDX-License-Identifier: Apache-2.0
// Learns when the GPU's work is done without waiting for it: a program that ends does not wait for
// the GPU either.
#pragma once

#include <atomic>
#include <memory>

namespace gable {

class WorkDone {
 public:
  // Covers this thread's current context. A helper thread waits for it and is abandoned if that
  // takes too long.
  WorkDone();
  // Stays false if no thread could be started or no context is current.
  [[nodiscard]] bool is_done() const { return done_->load(std::memory_order_acquire); }

 private:
  const std::shared_ptr<std::atomic<bool>> done_;
};

}  // namespace gable
