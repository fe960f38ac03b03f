// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/folded_notes.h"

#include <algorithm>
#include <unordered_map>

namespace gable {

std::string FoldedNote::text(std::size_t all) const {
  if (reports.size() == all) return note;
  return "In " + std::to_string(reports.size()) + " of " + std::to_string(all) +
         " processes: " + note;
}

std::vector<FoldedNote> folded_notes(const std::vector<Report>& reports) {
  std::vector<FoldedNote> folded;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const std::string& note : reports[i].run.notes) {
      const auto [place, fresh] = places.emplace(note, folded.size());
      if (fresh) folded.push_back({note, {}});
      std::vector<std::size_t>& have = folded[place->second].reports;
      if (have.empty() || have.back() != i) have.push_back(i);
    }
  }
  return folded;
}

std::vector<FoldedNote> unprinted_notes(const std::vector<Report>& reports) {
  std::vector<FoldedNote> folded = folded_notes(reports);
  const auto prints = [&reports](std::size_t i) { return reports[i].run.rank.value_or(0) == 0; };
  folded.erase(std::remove_if(folded.begin(), folded.end(),
                              [&prints](const FoldedNote& each) {
                                return std::any_of(each.reports.begin(), each.reports.end(),
                                                   prints);
                              }),
               folded.end());
  return folded;
}

}  // namespace gable
