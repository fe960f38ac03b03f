// SPDX-License-Identifier: Apache-2.0
// docs/hardware-facts.md from the results of the stage `facts`. What was rehearsed is no answer.
#include <algorithm>
#include <cstdio>
#include <set>

#include "tests/gpu/prove/facts_questions.h"
#include "tests/gpu/prove/lines.h"
#include "tests/gpu/prove/parts.h"

namespace gable::prove {
namespace {

constexpr const char* kFactsBegin = R"(<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by `gable_prove facts-page RESULTS...` from results of `scripts/gpu/prove.sh facts`: not written by hand. -->
# What a real GPU answers

CUPTI's documentation leaves these questions open. Gable's code assumes an answer to each; the playback GPU can behave either way
([its switches](recordings.md)), and every test passes under both. `scripts/gpu/prove.sh facts` asks a real GPU
([how](gpu-proof.md)). Answers of the playback GPU never appear here.

)";

bool measured(const Experiment& one) {
  return one.ended() && one.end.value("source", "") == "hardware";
}

std::string versions(const Json& line) {
  const auto number = [&](const char* name) {
    const auto found = line.find(name);
    return found == line.end() ? std::string("unknown") : found->dump();
  };
  return line.value("gpu", "unknown GPU") + ", driver " + line.value("driver", "unknown") +
         ", CUDA " + number("cuda") + ", CUPTI " + number("cupti");
}

std::string answer_of(const Experiment& one) {
  const int code = one.exit_code();
  if (!one.skipped.empty()) return "not measured: " + one.skipped;
  if (code == kExitTimedOut || code == kExitKilled) return "did not end within its timeout";
  if (code != 0) return "failed with exit code " + std::to_string(code);
  for (auto line = one.results.rbegin(); line != one.results.rend(); ++line) {
    if (!line->contains("says")) continue;
    const bool agrees = (*line)["fields"].value("agrees", false);
    return line->value("says", "") + ". " + (agrees ? "As assumed." : "**Not as assumed.**");
  }
  return "gave no answer";
}

std::string rows_of(const Question& question, const std::vector<Experiment>& all) {
  std::string rows;
  for (const std::string_view name : question.experiments) {
    for (const Experiment& one : all) {
      if (one.name != name) continue;
      rows += "- `" + one.name + "` on " + versions(one.end) + ": " + answer_of(one) + "\n";
    }
  }
  return rows;
}

}  // namespace

std::string facts_page(const std::vector<std::string>& results) {
  std::vector<Experiment> all;
  std::set<std::string> machines;
  for (const std::string& path : results) {
    for (Experiment& one : read_results(path)) {
      if (one.stage != "facts" || !measured(one)) continue;
      machines.insert(versions(one.end));
      all.push_back(std::move(one));
    }
  }
  std::string page = kFactsBegin;
  if (all.empty()) page += "No GPU has been asked yet.\n";
  for (const std::string& machine : machines) page += "- Asked: " + machine + "\n";
  for (const Question& question : questions()) {
    page += "\n## " + std::string(question.id) + ": " + std::string(question.question) + "\n\n";
    page += "Gable assumes: " + std::string(question.assumes) + "\n\n";
    const std::string rows = rows_of(question, all);
    page += rows.empty() ? "Not measured on hardware yet.\n" : rows;
  }
  return page;
}

int facts_page_part(const Arguments& arguments) {
  std::fputs(facts_page(arguments).c_str(), stdout);
  return 0;
}

}  // namespace gable::prove
