// SPDX-License-Identifier: Apache-2.0
// Reports of the processes of one job as one report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

struct Merged {
  std::optional<Report> report;
  std::string error;  // one sentence, naming the files, when they do not belong together
};

// Devices of the merged report are kinds of GPU (name, SMs). Times, work and launches are means
// over the GPUs of a kind: sums over all of them / their number, so that layers still add up to
// their parents, ratios are those of the sums, and a layer that only some ranks have (pipeline
// stages) counts for its share. Of each layer, RankSpread has the differences. run.total is the sum
// over the processes. A kernel's times are weighted by launches; rows of which one knows a number
// that the other does not know stay apart, so that coverage tells the truth.
// `names` has a name for each report, for sentences. A single report is returned as it is.
[[nodiscard]] Merged merge_reports(const std::vector<Report>& reports,
                                   const std::vector<std::string>& names);

// What all of them lost.
[[nodiscard]] LostCounts lost_of(const std::vector<Report>& reports);

// "rank 3 on node1", or "process 4711 on node1".
[[nodiscard]] std::string process_name(const MergedProcess& process);

}  // namespace gable
