// SPDX-License-Identifier: Apache-2.0
// What holds for every file that gable import is given: a report that can be read, or one sentence.
#pragma once

#include <string>

#include "analysis/report/report_json.h"
#include "analysis/report/report_json_read.h"
#include "tests/fuzz/fuzz.h"
#include "tools/commands/command.h"
#include "tools/import/report/assemble.h"

namespace gable::fuzz {

template <typename Read>
void import(Read read) {
  try {
    Imported imported;
    read(imported);
    const Report report = assemble(imported, {});
    expect(!report.kernels.empty(), "a report has kernels");
    const std::string written = to_json(report);
    const ParsedReport again = from_json(written);
    expect(again.report.has_value(), "what was written can be read");
    expect(to_json(*again.report) == written, "reading and writing change nothing");
  } catch (const WrongUse& problem) {
    const std::string sentence = problem.what();
    expect(sentence.ends_with('.'), "a refusal is a sentence");
    expect(sentence.find('\n') == std::string::npos, "and one line");
  }
}

}  // namespace gable::fuzz
