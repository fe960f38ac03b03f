// SPDX-License-Identifier: Apache-2.0
#include "tools/calls/nsys_waits.h"

#include <algorithm>
#include <tuple>

namespace gable {
namespace {

const char* const kWaits = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
const char* const kEvents = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
const char* const kOverhead = "CUPTI_ACTIVITY_KIND_OVERHEAD";
const char* const kStreams = "TARGET_INFO_CUDA_STREAM";
constexpr std::uint64_t kNone = 0xffffffff;
constexpr std::uint64_t kBlocking = 1, kNonBlocking = 2, kNull = 3;

// A number in a column; empty where it stands for none. Some exports write -1, which is refused
// elsewhere.
std::optional<std::uint64_t> some(const SqliteRows& rows, int column) {
  const auto number = rows.number(column);
  return number && *number < kNone ? number : std::nullopt;
}

std::string not_negative(const SqliteFile& file, const std::string& table,
                         std::initializer_list<const char*> columns) {
  std::string where;
  for (const char* column : columns)
    if (file.has(table, column))
      where += (where.empty() ? "" : " AND ") + ("(" + std::string(column)) + " IS NULL OR " +
               column + " >= 0)";
  return where;
}

// The row of an enumeration whose name holds the word.
std::optional<std::uint64_t> enumerated(SqliteFile& file, const std::string& table,
                                        std::string_view word) {
  if (!file.has(table)) return std::nullopt;
  SqliteRows rows(file, table, {"id", "name"});
  while (rows.next())
    if (rows.is_text(1) && rows.text(1).find(word) != std::string_view::npos) return some(rows, 0);
  return std::nullopt;
}

}  // namespace

NsysWaits::NsysWaits(SqliteFile& file, NsysNumbers numbers)
    : file_(file), numbers_(std::move(numbers)) {
  read_records();
}

void NsysWaits::read_records() {
  if (!file_.has(kEvents)) return;
  const std::string where =
      not_negative(file_, kEvents, {"streamId", "eventId", "eventSyncId", "correlationId"});
  SqliteRows rows(file_, kEvents,
                  {"globalPid", "contextId", "streamId", "eventId", "eventSyncId", "correlationId"},
                  where.empty() ? "" : " WHERE " + where);
  while (rows.next()) {
    const auto stream = some(rows, 2), event = some(rows, 3), record = some(rows, 4);
    const auto correlation = some(rows, 5);
    if (!stream || !correlation) continue;
    Record made;
    made.process = rows.number(0).value_or(0);
    made.correlation = *correlation;
    made.stream = *stream;
    made.context = numbers_.context(made.process, rows.number(1).value_or(0));
    made.id = event.value_or(kNone);
    if (event) by_event_.add(made);
    made.id = record.value_or(0);
    if (made.id > 0) by_record_.add(made);
  }
}

// Of the records before the call the last one.
void NsysWaits::find(Records& records, std::vector<Wanted> wanted,
                     std::vector<TracedWait>& waits) const {
  if (wanted.empty()) return;
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return std::tie(a.process, a.id, a.correlation) < std::tie(b.process, b.id, b.correlation);
  });
  const Record* next = records.first();
  Record found;
  bool any = false;
  for (const Wanted& each : wanted) {
    for (; next != nullptr && std::tie(next->process, next->id, next->correlation) <
                                  std::tie(each.process, each.id, each.correlation);
         next = records.next()) {
      found = *next;
      any = true;
    }
    if (!any || found.process != each.process || found.id != each.id) continue;
    TracedWait& wait = waits[each.wait];
    wait.record = numbers_.correlation(each.process, found.correlation);
    wait.record_stream = found.stream;
    wait.record_context = found.context;
  }
}

void NsysWaits::read(const std::string& where, TracedSteps& steps) {
  read_full(where, steps);
  if (!file_.has(kWaits)) return;
  steps.tells_waits = true;
  if (!file_.has(kWaits, "start")) return;
  const std::string more =
      not_negative(file_, kWaits, {"streamId", "eventId", "eventSyncId", "correlationId"});
  SqliteRows rows(file_, kWaits,
                  {"correlationId", "globalPid", "contextId", "streamId", "eventId", "eventSyncId"},
                  where + (more.empty() ? "" : " AND " + more));
  std::vector<Wanted> records, events;
  std::vector<TracedWait> waits;
  while (rows.next()) {
    const auto correlation = some(rows, 0), stream = some(rows, 3), event = some(rows, 4);
    if (!correlation || *correlation == 0) continue;
    const std::uint64_t process = rows.number(1).value_or(0);
    TracedWait wait;
    wait.correlation = numbers_.correlation(process, *correlation);
    wait.context = numbers_.context(process, rows.number(2).value_or(0));
    if (stream) wait.stream = *stream;
    if (const auto own = some(rows, 5); own && *own > 0)
      records.push_back({process, *own, *correlation, waits.size()});
    if (event) events.push_back({process, *event, *correlation, waits.size()});
    waits.push_back(wait);
  }
  find(by_record_, std::move(records), waits);
  std::erase_if(events, [&](const Wanted& each) { return waits[each.wait].record != 0; });
  find(by_event_, std::move(events), waits);
  steps.waits.insert(steps.waits.end(), waits.begin(), waits.end());
}

void NsysWaits::read_full(const std::string& where, TracedSteps& steps) {
  const auto full = enumerated(file_, "ENUM_CUPTI_OVERHEAD_TYPE", "COMMAND_BUFFER_FULL");
  if (!full || !file_.has(kOverhead, "start") || !file_.has(kOverhead, "overheadType")) return;
  SqliteRows rows(file_, kOverhead, {"start", "end", "correlationId", "globalTid"},
                  where + " AND overheadType = " + std::to_string(*full));
  while (rows.next()) {
    const auto correlation = some(rows, 2);
    if (!correlation || *correlation == 0) continue;
    TracedFullQueue made;
    made.start_ns = rows.needed_time(0);
    made.end_ns = rows.time(1).value_or(made.start_ns);
    made.correlation = numbers_.correlation(rows.number(3).value_or(0), *correlation);
    steps.full.push_back(made);
  }
}

void NsysWaits::read_streams(const std::vector<std::uint64_t>& processes, TracedSteps& steps) {
  const auto process_of = [&](std::uint64_t pid) -> std::optional<std::uint64_t> {
    for (const std::uint64_t process : processes)
      if (((process >> 24) & 0xffffff) == pid) return process;
    return std::nullopt;
  };
  const auto read = [&](const char* table, const char* stream, bool flagged) {
    if (!file_.has(table, stream)) return;
    SqliteRows rows(file_, table, {stream, "contextId", "processId", "flag"});
    while (rows.next()) {
      const auto id = some(rows, 0);
      const auto process = process_of(rows.number(2).value_or(0));
      const std::uint64_t flag = flagged ? rows.number(3).value_or(0) : kNull;
      if (!id || !process || flag < kBlocking || flag > kNull) continue;
      steps.streams.push_back({*id, numbers_.context(*process, rows.number(1).value_or(0)),
                               flag == kNull, flag == kNonBlocking});
    }
  };
  read("TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId", false);
  read("TARGET_INFO_CUDA_NULL_STREAM", "streamId", false);
  read(kStreams, "streamId", true);
}

std::map<std::uint64_t, HostMemory> nsys_host_memory(SqliteFile& file) {
  constexpr const char* kTable = "ENUM_CUDA_MEM_KIND";
  if (!file.has(kTable))
    return {{0, HostMemory::pageable},
            {1, HostMemory::pinned},
            {4, HostMemory::managed},
            {6, HostMemory::managed}};
  std::map<std::uint64_t, HostMemory> kinds;
  SqliteRows rows(file, kTable, {"id", "name"});
  while (rows.next()) {
    if (!rows.is_text(1)) continue;
    const auto has = [name = rows.text(1)](std::string_view word) {
      return name.find(word) != std::string_view::npos;
    };
    const HostMemory kind = has("PAGEABLE")  ? HostMemory::pageable
                            : has("PINNED")  ? HostMemory::pinned
                            : has("MANAGED") ? HostMemory::managed
                                             : HostMemory::unknown;
    if (const auto number = some(rows, 0)) kinds[*number] = kind;
  }
  return kinds;
}

}  // namespace gable
