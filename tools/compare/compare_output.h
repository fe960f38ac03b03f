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
  std::vector<Pattern> layers = {};  // only rows within these; empty: all
  DiffOrder order = DiffOrder::change;
  std::size_t rows = 20;
  std::size_t columns = 100;
  bool colours = false;
};

// The rows that the options select, in their order; kernels too if the reports have no layers.
[[nodiscard]] std::vector<const ComparedRow*> diff_rows(const Comparison& comparison,
                                                        const DiffOptions& options);

// The table: both files, obstacles to comparing them, the whole program, then the rows.
[[nodiscard]] std::string diff_table(const ReportFiles& files, const Comparison& comparison,
                                     const DiffOptions& options);
// The whole comparison with all digits; docs/commands/diff.md explains it.
[[nodiscard]] std::string diff_json(const ReportFiles& files, const Comparison& comparison);
[[nodiscard]] std::string diff_markdown(const ReportFiles& files, const Comparison& comparison,
                                        const DiffOptions& options);

// One line per finding: "worse: Net/conv: time …". Times that grew alike share a line, and so do
// lost numbers beyond the first few.
[[nodiscard]] std::vector<std::string> check_lines(const GateResult& result,
                                                   const GateOptions& options);
// "12 numbers compared (gate 5 %), 1 worse by more than 5 %, 2 unclear."
[[nodiscard]] std::string check_summary(const GateResult& result, const GateOptions& options);
// Markdown for a pull request. The first `baselines` files are the baseline's.
[[nodiscard]] std::string check_markdown(const ReportFiles& files, std::size_t baselines,
                                         const Comparison& comparison, const GateResult& result,
                                         const GateOptions& options);
// "new1.json", or "3 runs (new1.json, new2.json, new3.json)": files from `first` up to `end`.
[[nodiscard]] std::string shown_runs(const ReportFiles& files, std::size_t first, std::size_t end);

}  // namespace gable
