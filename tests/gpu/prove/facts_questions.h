// SPDX-License-Identifier: Apache-2.0
// The questions that only a GPU answers, what Gable's code assumes of each today, and the
// experiments of the stage `facts` that ask it.
#pragma once

#include <string_view>
#include <vector>

namespace gable::prove {

struct Question {
  std::string_view id, question, assumes;
  std::vector<std::string_view> experiments;
};

[[nodiscard]] const std::vector<Question>& questions();

}  // namespace gable::prove
