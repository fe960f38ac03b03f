// SPDX-License-Identifier: Apache-2.0
#include "tools/show/sources.h"

#include <algorithm>

namespace gable {

std::vector<std::string> sources_of(const std::vector<Report>& reports) {
  std::vector<std::string> sources;
  for (const auto source : {Source::playback, Source::imported, Source::predicted, Source::cupti}) {
    if (std::any_of(reports.begin(), reports.end(),
                    [&](const Report& each) { return each.run.source == source; }))
      sources.emplace_back(word_of(source));
  }
  return sources;
}

std::string source_mark(const std::vector<Report>& reports) {
  std::string text;
  for (const std::string& source : sources_of(reports)) {
    if (source != word_of(Source::cupti)) text += "[" + source + "] ";
  }
  return text;
}

}  // namespace gable
