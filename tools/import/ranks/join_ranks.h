// SPDX-License-Identifier: Apache-2.0
// The reports of ranks whose files were read together: merged, with what their collectives waited.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/import/ranks/exchanges.h"

namespace gable {

struct ImportedRank {
  std::string name;  // of its file, for sentences
  Report report;
  RankExchanges exchanges;
};

// Of one process, its own report: it may have several GPUs. Throws WrongUse where reports cannot be
// merged. Not for none.
[[nodiscard]] Report join_ranks(std::vector<ImportedRank> ranks);

}  // namespace gable
