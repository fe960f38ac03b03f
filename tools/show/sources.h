// SPDX-License-Identifier: Apache-2.0
// Where the numbers of reports come from, for titles and first lines.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// The program's command line, or the name of a played recording.
[[nodiscard]] std::string shown_command(const RunInfo& run);

// Each source once: playback, import, predicted, then cupti.
[[nodiscard]] std::vector<std::string> sources_of(const std::vector<Report>& reports);

// "[playback] [import] ", to stand in front of a line; nothing for hardware.
[[nodiscard]] std::string source_mark(const std::vector<Report>& reports);

// What ran and on which GPUs: "python train.py on 2 x NVIDIA H200", with the program shortened so
// that it takes at most `columns`. Of GPUs those that ran something. Empty where neither is known.
[[nodiscard]] std::string programs_and_gpus(const std::vector<Report>& reports,
                                            std::size_t columns);

// How many reports equal one before them to the last digit: copies, which only somebody's mistake
// puts beside each other.
[[nodiscard]] std::size_t equal_reports(const std::vector<Report>& reports);

}  // namespace gable
