// SPDX-License-Identifier: Apache-2.0
// The subcommands of gable_prove, the helper of scripts/gpu/prove.sh: what bash cannot do where
// neither Python nor a toolkit is installed. Each answers with its exit code; wrong use throws
// std::invalid_argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gable::prove {

using Arguments = std::vector<std::string>;

// about: the GPU, driver and CUPTI here as one JSON object; 1 with a sentence where there is none.
int about(const Arguments& arguments);
// tag RESULTS LOG HEAD: standard input's JSON objects become lines of results, the rest goes to the
// log. HEAD is a JSON object: what begins every line.
int tag(const Arguments& arguments);
// skip RESULTS HEAD REASON; end RESULTS HEAD EXIT SECONDS
int skip(const Arguments& arguments);
int end(const Arguments& arguments);
// finished RESULTS EXPERIMENT [--good]: 0 when a former run ended it (well, with --good).
int finished(const Arguments& arguments);
// check ALLOWED RESULTS...: 1 with a sentence for each experiment of a rehearsal that failed, that
// was skipped, that had no result, and for each field that stayed empty. ALLOWED lists what may be:
// "EXPERIMENT<tab>FIELD<tab>why" ("*" is any; the field "skip" is the whole experiment).
int check(const Arguments& arguments);
// table RESULTS... [--left STAGE/EXPERIMENT]...: 100 columns; 1 when something failed or is left.
int table(const Arguments& arguments);

// truth REPORT EXPECTED: what gable_truth printed against a report of it; 1 where a number is off.
int truth(const Arguments& arguments);
// facts-page RESULTS...: docs/hardware-facts.md, on standard output.
int facts_page_part(const Arguments& arguments);
[[nodiscard]] std::string facts_page(const std::vector<std::string>& results);

// truth-page RESULTS...: docs/hardware-truth.md, on standard output.
int truth_page_part(const Arguments& arguments);
[[nodiscard]] std::string truth_page(const std::vector<std::string>& results);

// The table, apart from where it goes.
struct Table {
  std::string text;
  bool good = true;
};
[[nodiscard]] Table table_of(const std::vector<std::string>& results,
                             const std::vector<std::string>& left);
// The sentences of `check`.
[[nodiscard]] std::vector<std::string> problems_of(const std::string& allowed,
                                                   const std::vector<std::string>& results);

}  // namespace gable::prove
