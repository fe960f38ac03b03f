// SPDX-License-Identifier: Apache-2.0
// Names in an export of nsys, which are numbers of its table StringIds, and what it says of the
// GPUs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/events/function_table.h"
#include "tools/calls/call_names.h"
#include "tools/calls/step_ranges.h"
#include "tools/import/records/imported.h"
#include "tools/import/records/range_names.h"
#include "tools/streams/sqlite_file.h"

namespace gable {

inline constexpr std::uint64_t kThreadPart = 0xffffff;  // of a globalTid; the rest is the process

class NsysTexts {
 public:
  NsysTexts(SqliteFile& file, FunctionTable& functions, const StepRanges& steps)
      : file_(file), functions_(functions), steps_(steps) {}

  // A kernel, whose demangled and short names are in two columns from `column` on.
  FunctionId function(const SqliteRows& rows, int column);
  // Before ranges are asked for.
  void read_domains(const char* table);
  // Of the columns domainId, text and textId, which are 3 to 5. Numbers that differ from call to
  // call are cut, as `gable profile` cuts them.
  std::uint32_t range(const SqliteRows& rows, std::uint64_t process, RangeNames& names);
  // Whether a range of that name is a step.
  [[nodiscard]] bool is_step(std::uint32_t range) const { return step_names_.contains(range); }
  // Whether any range seen so far, or a range of that name, fetches the program's next input.
  [[nodiscard]] bool any_input() const { return !input_names_.empty(); }
  [[nodiscard]] bool is_input(std::uint32_t range) const { return input_names_.contains(range); }
  // What a call does, whose name is in the column.
  NamedCall call(const SqliteRows& rows, int column);

 private:
  std::string text(const SqliteRows& rows, int column);

  SqliteFile& file_;
  FunctionTable& functions_;
  const StepRanges& steps_;
  std::set<std::uint32_t> step_names_, input_names_;
  std::unordered_map<std::int64_t, NamedCall> calls_;
  std::optional<SqliteRows> strings_;
  std::unordered_map<std::int64_t, FunctionId> known_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> domains_;  // process, domain
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> ranges_;
  std::string buffer_;
};

// Attributes of the GPUs, and their bandwidth as a roof.
void read_nsys_devices(SqliteFile& file, Imported& imported);
// " 2025.3.1.90", or nothing.
[[nodiscard]] std::string nsys_version(SqliteFile& file);

}  // namespace gable
