// SPDX-License-Identifier: Apache-2.0
// docs/hardware-truth.md from the results of the stage `truth`. What was rehearsed is no result.
#include <cmath>
#include <cstdio>
#include <map>

#include "tests/gpu/prove/lines.h"
#include "tests/gpu/prove/parts.h"

namespace gable::prove {
namespace {

constexpr const char* kTruthBegin = R"(<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by `gable_prove truth-page RESULTS...` from results of `scripts/gpu/prove.sh truth`: not written by hand. -->
# Reports of kernels whose work is known

What Gable's report says of kernels whose instructions, bytes and times are known, on a real GPU:
[the kernels, and how close a number must come](gpu-proof.md#the-truth). Numbers of the playback GPU never appear here.

)";

// The numbers of one kernel, layer or step.
struct Row {
  std::size_t numbers = 0, agree = 0, unknown = 0;
  std::string farthest;  // "bytes.dram_read 1.0042"
  double distance = 0;
};

void take(const Json& fields, Row& row) {
  ++row.numbers;
  row.agree += fields.value("agrees", false) ? 1 : 0;
  row.unknown += fields.contains("counted") && fields["counted"].is_null() ? 1 : 0;
  const auto ratio = fields.find("ratio");
  if (ratio == fields.end() || !ratio->is_number()) return;
  const double distance = std::abs(ratio->get<double>() - 1);
  if (distance <= row.distance) return;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", ratio->get<double>());
  row.distance = distance;
  row.farthest = "`" + fields.value("quantity", "") + "` x " + text;
}

std::string disagreement(const Json& fields) {
  return "- `" + fields.value("name", "") + "` `" + fields.value("quantity", "") +
         "`: " + (fields.contains("counted") ? fields["counted"].dump() : "nothing") + " for " +
         (fields.contains("expected") ? fields["expected"].dump() : "nothing") + " (" +
         fields.value("why", "") + "): " + fields.value("wrong", "") + "\n";
}

std::string section_of(const Experiment& one) {
  std::string text = "\n## " + one.name + " on " + one.end.value("gpu", "unknown GPU") +
                     ", driver " + one.end.value("driver", "unknown") + ", CUPTI " +
                     one.end.value("cupti", Json()).dump() + "\n\n";
  if (!one.skipped.empty()) return text + "Not measured: " + one.skipped + "\n";
  std::vector<std::string> order;
  std::map<std::string, Row> rows;
  std::string wrong;
  for (const Json& line : one.results) {
    if (line.value("what", "") != "number") continue;
    const Json& fields = line.at("fields");
    const std::string name = fields.value("name", "");
    if (rows.find(name) == rows.end()) order.push_back(name);
    take(fields, rows[name]);
    if (!fields.value("agrees", false)) wrong += disagreement(fields);
  }
  if (order.empty())
    return text + "No number came: it ended with exit code " + std::to_string(one.exit_code()) +
           ".\n";
  text +=
      "| of | numbers | agree | not counted here | farthest from what is known |\n"
      "|---|---:|---:|---:|---|\n";
  for (const std::string& name : order) {
    const Row& row = rows[name];
    text += "| `" + name + "` | " + std::to_string(row.numbers) + " | " +
            std::to_string(row.agree) + " | " + std::to_string(row.unknown) + " | " +
            (row.farthest.empty() ? "none is off" : row.farthest) + " |\n";
  }
  return text + (wrong.empty() ? "" : "\nNot as known:\n\n" + wrong);
}

}  // namespace

std::string truth_page(const std::vector<std::string>& results) {
  std::string sections;
  for (const std::string& path : results) {
    for (const Experiment& one : read_results(path)) {
      if (one.stage == "truth" && one.ended() && one.end.value("source", "") == "hardware")
        sections += section_of(one);
    }
  }
  return std::string(kTruthBegin) +
         (sections.empty() ? "Not measured on hardware yet.\n" : sections.substr(1));
}

int truth_page_part(const Arguments& arguments) {
  std::fputs(truth_page(arguments).c_str(), stdout);
  return 0;
}

}  // namespace gable::prove
