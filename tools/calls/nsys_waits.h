// SPDX-License-Identifier: Apache-2.0
// Reads waits from nsys's tables: synchronisation records, event records, streams and a full launch
// queue. Missing tables and columns are skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/calls/recorded_calls.h"
#include "tools/streams/sorted_records.h"
#include "tools/streams/sqlite_file.h"

namespace gable {

// Numbers contexts across processes: their own numbers are unique only within a process.
class NsysContexts {
 public:
  std::uint32_t of(std::uint32_t process, std::uint64_t context) {
    const auto next = static_cast<std::uint32_t>(numbers_.size()) + 1;
    return numbers_.try_emplace({process, context}, next).first->second;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> numbers_;
};

// Turn a correlation or a context of a process (globalPid), as the tables have them, into those of
// TracedSteps.
struct NsysNumbers {
  std::function<std::uint64_t(std::uint64_t process, std::uint64_t correlation)> correlation;
  std::function<std::uint32_t(std::uint64_t process, std::uint64_t context)> context;
};

class NsysWaits {
 public:
  NsysWaits(SqliteFile& file, NsysNumbers numbers);

  // Adds the rows selected by `where`, a condition on their column start.
  void read(const std::string& where, TracedSteps& steps);
  // Reads the streams of the processes (globalPid).
  void read_streams(const std::vector<std::uint64_t>& processes, TracedSteps& steps);

 private:
  struct Record {
    std::uint64_t process = 0, id = 0, correlation = 0;
    std::uint64_t stream = 0;
    std::uint32_t context = 0;
  };
  struct Earlier {
    bool operator()(const Record& a, const Record& b) const {
      return std::tie(a.process, a.id, a.correlation) < std::tie(b.process, b.id, b.correlation);
    }
  };
  using Records = SortedRecords<Record, Earlier>;
  // A call that waits for an event, and its place among the waits.
  struct Wanted {
    std::uint64_t process = 0, id = 0, correlation = 0;
    std::size_t wait = 0;
  };
  void read_records();
  void read_full(const std::string& where, TracedSteps& steps);
  void find(Records& records, std::vector<Wanted> wanted, std::vector<TracedWait>& waits) const;

  SqliteFile& file_;
  NsysNumbers numbers_;
  // Event records by the number of each record, and by the number of the event, which may be
  // recorded many times; in the order of their calls.
  Records by_record_, by_event_;
};

// The meaning of the numbers in columns srcKind and dstKind, which are not CUPTI's. Without a table
// of them, nsys's documented ones are used.
[[nodiscard]] std::map<std::uint64_t, HostMemory> nsys_host_memory(SqliteFile& file);

}  // namespace gable
