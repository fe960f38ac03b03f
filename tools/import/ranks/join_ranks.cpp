// SPDX-License-Identifier: Apache-2.0
#include "tools/import/ranks/join_ranks.h"

#include <utility>

#include "tools/base/wrong_use.h"
#include "tools/import/ranks/match_exchanges.h"
#include "tools/merge/merge.h"
#include "tools/merge/waiting.h"

namespace gable {

Report join_ranks(std::vector<ImportedRank> ranks) {
  std::vector<std::string> notes;
  std::size_t members = 0;
  for (const ImportedRank& rank : ranks) members += rank.exchanges.members.size();
  if (members > 1) {
    std::vector<RankExchanges*> exchanges;
    for (ImportedRank& rank : ranks) exchanges.push_back(&rank.exchanges);
    notes = match_exchanges(exchanges);
    std::uint64_t others = 0;
    for (ImportedRank& rank : ranks) {
      fill_exchanges(rank.exchanges, rank.report);
      others += rank.exchanges.others;
    }
    if (others > 0)
      notes.push_back("Waiting and transfer of " + std::to_string(others) +
                      " launches that broadcast, reduce, send or receive are unknown: in these, a "
                      "rank may be done before the others have arrived.");
  }
  Report report;
  if (ranks.size() == 1) {
    report = std::move(ranks.front().report);
    if (std::string text = waiting_sentence(report); !text.empty())
      notes.insert(notes.begin(), std::move(text));
  } else {
    std::vector<Report> reports;
    std::vector<std::string> names;
    for (ImportedRank& rank : ranks) {
      reports.push_back(std::move(rank.report));
      names.push_back(std::move(rank.name));
    }
    Merged merged = merge_reports(reports, names);
    if (!merged.report) throw WrongUse(merged.error);
    report = std::move(*merged.report);
  }
  for (std::string& note : notes) report.run.notes.push_back(std::move(note));
  return report;
}

}  // namespace gable
