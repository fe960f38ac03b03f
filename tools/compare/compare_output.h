// SPDX-License-Identifier: Apache-2.0
// What `gable diff` and `gable check` print and write.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/compare/compare.h"
#include "tools/compare/gate.h"
#include "tools/files/report_files.h"

namespace gable {

enum class DiffOrder { change, time, name };  // largest difference of time first, longest first

struct DiffOptions {
  bool kernels = false;
  std::vector<Pattern> layers = {};  // rows within these; none: all
  DiffOrder order = DiffOrder::change;
  std::size_t rows = 20;
  std::size_t columns = 100;
  bool colours = false;
};

// Rows that the options ask for, in their order; kernels too where the reports have no layers.
[[nodiscard]] std::vector<const ComparedRow*> diff_rows(const Comparison& comparison,
                                                        const DiffOptions& options);

// Both files, what stands against comparing them, the whole program, then the rows.
[[nodiscard]] std::string diff_table(const ReportFiles& files, const Comparison& comparison,
                                     const DiffOptions& options);
// Everything, with all digits; docs/commands/diff.md explains it.
[[nodiscard]] std::string diff_json(const ReportFiles& files, const Comparison& comparison);
[[nodiscard]] std::string diff_markdown(const ReportFiles& files, const Comparison& comparison,
                                        const DiffOptions& options);

// A line for each finding: "worse: Net/conv: time …". Times that grew alike are one, and so are
// numbers that got lost beyond the first few.
[[nodiscard]] std::vector<std::string> check_lines(const GateResult& result,
                                                   const GateOptions& options);
// "12 numbers compared (gate 5 %), 1 worse by more than 5 %, 2 unclear."
[[nodiscard]] std::string check_summary(const GateResult& result, const GateOptions& options);
// For a pull request. The baseline's files come first; there are so many of them.
[[nodiscard]] std::string check_markdown(const ReportFiles& files, std::size_t baselines,
                                         const Comparison& comparison, const GateResult& result,
                                         const GateOptions& options);
// "new1.json", or "3 runs (new1.json, new2.json, new3.json)": files from `first` up to `end`.
[[nodiscard]] std::string shown_runs(const ReportFiles& files, std::size_t first, std::size_t end);

}  // namespace gable
