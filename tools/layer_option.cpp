// SPDX-License-Identifier: Apache-2.0
#include "tools/layer_option.h"

#include <utility>

#include "tools/wrong_use.h"

namespace gable {

std::vector<Pattern> layer_patterns(const std::vector<std::string>& texts) {
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) {
    Pattern::Parsed parsed = Pattern::parse(text);
    if (!parsed.error.empty()) throw WrongUse("--layer: " + parsed.error);
    patterns.push_back(std::move(parsed.pattern));
  }
  return patterns;
}

}  // namespace gable
