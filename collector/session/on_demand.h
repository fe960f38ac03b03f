// SPDX-License-Identifier: Apache-2.0
// A further queue in a program that runs, once the queue before is complete: asked for by `gable
// window`, a signal or the program itself. On the worker.
#pragma once

#include <functional>
#include <string>

#include "collector/cupti/subscription.h"
#include "collector/options/block.h"
#include "collector/session/collection.h"
#include "collector/session/ending.h"
#include "collector/session/reports.h"

namespace gable {

class OnDemand {
 public:
  // `subscribe`: begins the subscription again; a sentence that says why not, or empty.
  OnDemand(Collection& collection, Subscription& subscription, Ending& ending, Reports& reports,
           std::function<std::string()> subscribe);

  // Empty, or a sentence that says why not.
  [[nodiscard]] std::string open(const Schedule& schedule);
  // "window N": N windows of each phase, 0: as many as the kernels want. The answer begins with +
  // or -.
  [[nodiscard]] std::string answer(const std::string& line);

 private:
  [[nodiscard]] std::string why_not() const;

  Collection& c_;
  Subscription& subscription_;
  Ending& ending_;
  Reports& reports_;
  const std::function<std::string()> subscribe_;
};

}  // namespace gable
