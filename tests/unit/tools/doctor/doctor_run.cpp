// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/tools/doctor/doctor_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace gable::tests {
namespace {

constexpr std::size_t kColumns = 100;

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string row_of(const std::string& out, const std::string& part) {
  std::string row;
  for (const std::string& line : lines_of(out)) {
    const bool continues = !row.empty() && line.rfind(std::string(20, ' '), 0) == 0;
    if (line.rfind(part + " ", 0) != 0 && !continues) {
      if (!row.empty()) break;
      continue;
    }
    row += (row.empty() ? "" : " ") + line;
  }
  return std::regex_replace(row, std::regex(" +"), " ");
}

void expect_narrow(const std::string& out) {
  for (const std::string& line : lines_of(out)) {
    if (line.find('/') == std::string::npos) {
      EXPECT_LE(line.size(), kColumns) << line;
    }
  }
}

const char* const kPlaybackDevice =
    R"({"device": 0, "name": "Playback H200", "chip": "GH100", "compute_capability": [9, 0], )"
    R"("sm_count": 132, "sm_clock_max_hz": 1980000000, "memory_clock_max_hz": 3201000000, )"
    R"("memory_bus_bits": 6144, "memory_bytes": 150754820096, "l2_bytes": 62914560})";

Ran doctor_on(const std::string& lines, const std::string& before, const std::string& more,
              const std::string& device) {
  const std::string path = temporary_folder() + "/machine.jsonl";
  std::ofstream(path)
      << R"({"gable_recording": 1, "origin": "hand-written", "note": "a GPU to examine"})"
      << "\n"
      << device << "\n"
      << lines;
  return run_gable("doctor --playback '" + path + "' " + more, before);
}

}  // namespace gable::tests
