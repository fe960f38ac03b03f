// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/mark_finder.h"

namespace gable {

void MarkFinder::see(std::string_view text) {
  switch (mark_evidence(text)) {
    case MarkEvidence::none:
    case MarkEvidence::neither:  // refused where it is a value of use
      return;
    case MarkEvidence::point:
      if (!mark_) mark_ = DecimalMark::point;
      return;
    case MarkEvidence::comma:
      if (!mark_) mark_ = DecimalMark::comma;
      return;
    case MarkEvidence::any_comma:
      commas_ = true;
      break;
    case MarkEvidence::any_point:
      points_ = true;
      break;
    case MarkEvidence::other_groups:
      has_other_groups_ = true;
      return;
    case MarkEvidence::no_groups:
      has_no_groups_ = true;
      return;
  }
  if (first_doubt_.empty()) first_doubt_ = text;
}

std::optional<DecimalMark> MarkFinder::decide() {
  if (mark_) return mark_;
  if (points_ && commas_) return std::nullopt;
  if (has_other_groups_ && commas_) {
    mark_ = DecimalMark::comma;  // blanks part the groups
  } else if (has_other_groups_ || first_doubt_.empty()) {
    mark_ = DecimalMark::point;
  } else if (commas_ && !has_no_groups_) {
    // ncu prints two or six decimals: three digits behind a comma are a group.
    mark_ = DecimalMark::point;
  }
  return mark_;
}

}  // namespace gable
