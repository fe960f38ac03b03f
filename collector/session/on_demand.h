// SPDX-License-Identifier: Apache-2.0
// Opens a further queue in a running program once the previous one is complete, on request of
// `gable window`, a signal or the program itself. On the worker.
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
  // `subscribe` subscribes again; returns an empty text or a sentence that says why not.
  OnDemand(Collection& collection, Subscription& subscription, Ending& ending, Reports& reports,
           std::function<std::string()> subscribe);

  // Opens a queue; returns an empty text or a sentence that says why not.
  [[nodiscard]] std::string open(const Schedule& schedule);
  // Answers "window N": N windows of each phase, 0 for as many as the kernels need. The answer
  // begins with + or -.
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
