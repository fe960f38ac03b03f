// SPDX-License-Identifier: Apache-2.0
// Files of ncu as text, read.
#pragma once

#include <cmath>
#include <string>

#include "tests/unit/has_text.h"
#include "tools/base/wrong_use.h"
#include "tools/import/ncu/ncu_csv.h"

namespace gable {

struct NcuFiles {
  // Empty, or how it is refused.
  std::string read(const std::string& text, const char* name = "/x/c.csv") {
    TextSource source(text, name);
    try {
      read_ncu_csv(source, imported);
    } catch (const WrongUse& problem) {
      return problem.what();
    }
    return {};
  }
  // -1: not asked for; -2: asked for and unknown.
  [[nodiscard]] double value(std::size_t launch, const std::string& metric) const {
    for (const auto& [id, value] : imported.counters.at(launch).values)
      if (imported.metrics.at(id) == metric) return std::isnan(value) ? -2 : value;
    return -1;
  }
  [[nodiscard]] std::string kernel(std::size_t launch) const {
    return imported.functions.name(imported.counters.at(launch).function);
  }
  [[nodiscard]] const LaunchShape& shape(std::size_t launch) const {
    return imported.shapes[imported.counters.at(launch).shape];
  }
  [[nodiscard]] bool notes_have(const std::string& piece) const {
    for (const std::string& note : imported.notes)
      if (note.find(piece) != std::string::npos) return true;
    return false;
  }
  Imported imported;
};

inline constexpr const char* kNs = "gpu__time_duration.sum";
inline constexpr const char* kBytes = "dram__bytes.sum";

// The page of --metrics: a row for each metric of a launch.
inline const std::string kLongHead =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
    "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

struct NcuRow {
  const char* id = "0";
  const char* metric = kNs;
  const char* unit = "ns";
  const char* value = "10";
  const char* kernel = "k";
  const char* process = "1";
  const char* block = "(32, 1, 1)";
  const char* grid = "(4, 1, 1)";
  const char* device = "0";
  const char* cc = "8.0";
};
inline std::string text_of(const NcuRow& row) {
  std::string text;
  for (const char* field : {row.id, row.process, row.kernel, row.block, row.grid, row.device,
                            row.cc, row.metric, row.unit, row.value})
    text += (text.empty() ? "\"" : ",\"") + std::string(field) + "\"";
  return text + "\n";
}

}  // namespace gable
