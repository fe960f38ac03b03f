// SPDX-License-Identifier: Apache-2.0
#include "tools/import/nsys/nsys_sqlite.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analysis/base/input_file.h"
#include "tools/base/wrong_use.h"
#include "tools/calls/call_numbers.h"
#include "tools/calls/nsys_waits.h"
#include "tools/calls/work_numbers.h"
#include "tools/import/nsys/nsys_contents.h"
#include "tools/import/nsys/nsys_records.h"
#include "tools/import/nsys/nsys_steps.h"
#include "tools/import/nsys/nsys_texts.h"
#include "tools/import/records/range_sweep.h"
#include "tools/import/records/step_records.h"
#include "tools/streams/sqlite_file.h"

namespace gable {
namespace {

const char* const kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
const char* const kMemcpy = "CUPTI_ACTIVITY_KIND_MEMCPY";
const char* const kMemset = "CUPTI_ACTIVITY_KIND_MEMSET";
const char* const kRanges = "NVTX_EVENTS";
constexpr std::uint64_t kMost32 = 0xffffffff;
constexpr int kPushPop = 59, kStartEnd = 60;

// Behind 10 are migrations of unified memory.
constexpr std::uint64_t kFirstMigration = 11, kLastMigration = 13;

CopyKind kind_of_copy(std::uint64_t kind) {
  switch (kind) {
    case 1:
    case 11:
      return CopyKind::host_to_device;
    case 2:
    case 12:
      return CopyKind::device_to_host;
    case 8:
    case 13:
      return CopyKind::device_to_device;
    case 10:
      return CopyKind::peer;
    default:
      return CopyKind::other;
  }
}

class Reader {
 public:
  Reader(const std::string& path, const std::string& name, Imported& imported, Progress& progress)
      : file_(path, name),
        imported_(imported),
        progress_(progress),
        named_steps_(imported.step_range),
        texts_(file_, imported.functions, named_steps_),
        records_(imported, sources_) {}

  void read() {
    check_tables();
    std::uint64_t rows = 0;
    for (const char* table : {kKernels, kMemcpy, kMemset, kRanges}) rows += file_.rows(table);
    for (const char* table : {kRuntime[0], kRuntime[1]}) rows += file_.rows(table);
    progress_.begin(file_.path(), rows);
    read_nsys_devices(file_, imported_);
    file_.set_zero(SqliteFile::kLeastTime);  // until the least time of the file is known
    first_kernel_ = imported_.kernels.size();
    first_copy_ = imported_.copies.size();
    read_kernels();
    read_copies(kMemcpy, true);
    read_copies(kMemset, false);
    read_calls();
    number_threads();
    read_ranges();
    // What ran before the session's zero has negative times, and a record at 0 would count as one
    // without a time.
    file_.set_zero(least_ <= 0 ? std::max(least_, INT64_MIN + 1) - 1 : 0);
    moved_by_ = static_cast<std::uint64_t>(file_.zero()) -
                static_cast<std::uint64_t>(SqliteFile::kLeastTime);
    place();
    for (ImportedStep& step : steps_) step = {step.start_ns - moved_by_, step.end_ns - moved_by_};
    if (named_steps_.asked()) record_steps();
    imported_.steps.insert(imported_.steps.end(), steps_.begin(), steps_.end());
    if (const std::uint64_t graphs = file_.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"); graphs > 0)
      imported_.notes.push_back(
          std::to_string(graphs) +
          " launches of CUDA graphs were recorded as wholes: what ran in them "
          "is missing; nsys profile --cuda-graph-trace node has it.");
    imported_.times_from.push_back("nsys" + nsys_version(file_) + " (" +
                                   std::filesystem::path(file_.path()).filename().string() + ")");
  }

 private:
  static constexpr std::array<const char*, 2> kRuntime = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                                          "CUPTI_ACTIVITY_KIND_DRIVER"};

  void check_tables() {
    const bool nsys = file_.has("StringIds") || file_.has("META_DATA_EXPORT") ||
                      file_.has("EXPORT_META_DATA") || file_.has(kKernels);
    if (!nsys)
      throw WrongUse(file_.path() +
                     " is an SQLite file, but not an export of nsys: export one with nsys "
                     "export --type sqlite.");
    if (file_.rows(kKernels) == 0) throw WrongUse(nsys_without_kernels(file_));
    for (const char* column : {"start", "end", "correlationId", "gridX", "blockX"}) {
      if (!file_.has(kKernels, column))
        throw WrongUse(file_.path() + ": " + kKernels + " has no column " + column +
                       ": the schema is not one of those from 2.9 to 3.x.");
    }
  }

  std::uint32_t process_of(std::uint64_t global) {
    const std::uint64_t process = global & ~kThreadPart;
    if (processes_.empty() || process != last_process_) {
      last_number_ = processes_.try_emplace(process, static_cast<std::uint32_t>(processes_.size()))
                         .first->second;
      last_process_ = process;
    }
    return last_number_;
  }

  void tick() {
    if ((++done_ & 0xfff) == 0) progress_.at(done_);
  }

  NsysSource source(const SqliteRows& rows, int process, int device, int context, int stream) {
    NsysSource source;
    source.process = process_of(rows.number(process).value_or(0));
    source.device = static_cast<std::int32_t>(rows.number(device, 1u << 20).value_or(0));
    source.context = contexts_.of(source.process, rows.number(context).value_or(0));
    source.stream = static_cast<std::uint32_t>(rows.number(stream, kMost32).value_or(0));
    return source;
  }

  void keep(const SqliteRows& rows, NsysOperation& operation, const NsysSource& source, int node) {
    if (places_ > kMost32) rows.broken("there are too many rows");
    operation.correlation = static_cast<std::uint32_t>(rows.number(2, kMost32).value_or(0));
    operation.source = sources_.id(source);
    operation.place = static_cast<std::uint32_t>(places_++);
    if (named_steps_.asked())
      if (const auto id = rows.number(node).value_or(0); id > 0)
        records_.add_node(operation.place, id);
    operation.caller = source.process;
    work_.add(key_of(operation));
    operations_.add(operation);
  }

  void see(std::uint64_t time) {
    least_ = std::min(least_, static_cast<std::int64_t>(time) + file_.zero());
  }

  void times(const SqliteRows& rows, std::uint64_t& start, std::uint64_t& end) {
    start = rows.needed_time(0);
    see(start);
    end = rows.needed_time(1);
    if (end < start) rows.broken("it ends before it starts");
  }

  void read_kernels() {
    SqliteRows rows(file_, kKernels,
                    {"start",
                     "end",
                     "correlationId",
                     "globalPid",
                     "deviceId",
                     "demangledName",
                     "shortName",
                     "gridX",
                     "gridY",
                     "gridZ",
                     "blockX",
                     "blockY",
                     "blockZ",
                     "clusterX",
                     "clusterY",
                     "clusterZ",
                     "dynamicSharedMemory",
                     "contextId",
                     "streamId",
                     "graphNodeId",
                     "registersPerThread",
                     "staticSharedMemory"});
    LaunchShape last;
    FunctionId last_function = 0;
    std::uint32_t last_shape = imported_.shapes.intern(last);
    while (rows.next()) {
      tick();
      NsysOperation kernel;
      times(rows, kernel.start_ns, kernel.end_ns);
      const NsysSource from = source(rows, 3, 4, 17, 18);
      const FunctionId function = texts_.function(rows, kName);
      LaunchShape shape;
      int column = kName + 2;
      for (Dim3* size : {&shape.grid, &shape.block, &shape.cluster}) {
        for (std::uint32_t* part : {&size->x, &size->y, &size->z}) {
          const auto value = rows.number(column++, kMost32);
          *part = value ? std::max<std::uint32_t>(static_cast<std::uint32_t>(*value), 1) : 1;
        }
      }
      shape.dynamic_shared = static_cast<std::uint32_t>(rows.number(column, kMost32).value_or(0));
      const bool fresh = !(shape == last);
      if (fresh) {
        last = shape;
        last_shape = imported_.shapes.intern(shape);
      }
      if (fresh || function != last_function) {
        last_function = function;
        const auto registers = rows.number(20, kMost32), fixed = rows.number(21, kMost32);
        if (registers && fixed && !rows.is_null(column))
          imported_.resources.tell(function, last_shape,
                                   {static_cast<std::uint32_t>(*registers),
                                    static_cast<std::uint32_t>(*fixed) + shape.dynamic_shared});
      }
      kernel.what = (std::uint64_t{function} << 32) | last_shape;
      keep(rows, kernel, from, 19);
    }
    kernels_ = places_;
  }

  void read_copies(const char* table, bool copy) {
    if (!file_.has(table)) return;
    const auto memory = nsys_host_memory(file_);
    SqliteRows rows(file_, table,
                    {"start", "end", "correlationId", "globalPid", "deviceId", "bytes",
                     copy ? "copyKind" : "value", "contextId", "streamId", "graphNodeId", "srcKind",
                     "dstKind"});
    while (rows.next()) {
      tick();
      NsysOperation each;
      times(rows, each.start_ns, each.end_ns);
      NsysSource from = source(rows, 3, 4, 7, 8);
      const auto bytes = rows.number(5);
      from.kernel = false;
      from.sized = bytes.has_value();
      each.what = bytes.value_or(0);
      const std::uint64_t kind = copy ? rows.number(6).value_or(0) : 0;
      from.kind = copy ? kind_of_copy(kind) : CopyKind::memset;
      const bool to_device = from.kind == CopyKind::host_to_device;
      if (to_device || from.kind == CopyKind::device_to_host) {
        const auto found = memory.find(rows.number(to_device ? 10 : 11).value_or(~0ull));
        if (found != memory.end()) from.host = found->second;
      }
      if (kind >= kFirstMigration && kind <= kLastMigration) from.host = HostMemory::managed;
      keep(rows, each, from, 9);
    }
  }

  // Of the calls only those that GPU work came from matter, and those that wait.
  void read_calls() {
    numbers_.resize(processes_.size());
    std::uint64_t last_thread = UINT64_MAX;
    std::uint32_t process = 0;
    bool has_work = false;  // the process of last_thread
    for (const char* table : kRuntime) {
      if (!file_.has(table)) continue;
      SqliteRows rows(file_, table, {"start", "correlationId", "globalTid", "end", "nameId"});
      while (rows.next()) {
        tick();
        imported_.has_calls = true;
        const std::uint64_t start = rows.needed_time(0);
        see(start);
        if (synchronises(texts_.call(rows, 4).what)) {
          const TracedCall wait = traced(rows);
          waits_.add({wait.start_ns, wait.end_ns(), wait.thread});
          see_thread(wait.thread, calls_.size());
        }
        const auto correlation = rows.number(1, kMost32);
        const auto thread = rows.number(2);
        if (!correlation || !thread) continue;
        if (*thread != last_thread) {
          last_thread = *thread;
          const auto found = processes_.find(*thread & ~kThreadPart);
          has_work = found != processes_.end() && found->second < numbers_.size();
          process = has_work ? found->second : 0;
        }
        if (!has_work) continue;
        numbers_[process].see(*correlation);
        const std::uint64_t key = nsys_key(process, *correlation);
        if (!work_.may_have(key)) continue;
        const auto row = static_cast<std::uint32_t>(std::min(calls_.size(), kMost32));
        calls_.add({key, start, thread_of(*thread), row});
      }
    }
  }

  // The row of the thread's first call that counts.
  void see_thread(std::uint32_t thread, std::uint64_t row) {
    if (first_rows_.size() <= thread) first_rows_.resize(thread + std::size_t{1}, UINT64_MAX);
    first_rows_[thread] = std::min(first_rows_[thread], row);
  }

  // Threads in the order of their first calls that GPU work came from or that wait, as layers are
  // in the order of their threads.
  void number_threads() {
    const NsysOperation* work = operations_.first();
    for (const NsysCall* call = calls_.first(); call != nullptr; call = calls_.next()) {
      while (work != nullptr && key_of(*work) < call->key) work = operations_.next();
      if (work != nullptr && key_of(*work) == call->key) see_thread(call->thread, call->row);
    }
    first_rows_.resize(threads_.size(), UINT64_MAX);
    std::vector<std::uint32_t> order(first_rows_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return first_rows_[a] < first_rows_[b];
    });
    thread_numbers_.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) thread_numbers_[order[i]] = i;
    std::erase_if(threads_,
                  [this](const auto& thread) { return first_rows_[thread.second] == UINT64_MAX; });
    for (auto& [global, number] : threads_) number = thread_numbers_[number];
    SortedRecords<NsysWait, NsysEarlier> waits;
    for (const NsysWait* wait = waits_.first(); wait != nullptr; wait = waits_.next()) {
      NsysWait numbered = *wait;
      numbered.thread = thread_numbers_[wait->thread];
      waits.add(numbered);
    }
    waits_ = std::move(waits);
  }

  static std::uint64_t key_of(const NsysOperation& operation) {
    return nsys_key(operation.caller, operation.correlation);
  }

  // Of the columns start, correlationId, globalTid, end and nameId.
  TracedCall traced(const SqliteRows& rows) {
    const NamedCall named = texts_.call(rows, 4);
    const std::uint64_t thread = rows.number(2).value_or(0);
    const std::uint64_t number = rows.number(1, kMost32).value_or(0);
    TracedCall call;
    call.start_ns = rows.needed_time(0);
    const std::uint64_t end = rows.time(3).value_or(call.start_ns);
    call.duration_ns = end > call.start_ns ? end - call.start_ns : 0;
    call.thread = thread_of(thread);
    if (number > 0) call.correlation = nsys_key(process_of(thread), number);
    call.what = named.what;
    call.asynchronous = named.asynchronous;
    return call;
  }

  std::uint32_t thread_of(std::uint64_t global) {
    return threads_.try_emplace(global, static_cast<std::uint32_t>(threads_.size())).first->second;
  }

  void read_ranges() {
    if (!file_.has(kRanges)) return;
    texts_.read_domains(kRanges);
    SqliteRows rows(file_, kRanges, kRangeColumns);
    while (rows.next()) {
      tick();
      const auto type = rows.integer(6);
      if (type != kPushPop && type != kStartEnd) continue;
      SweptRange range;
      range.start_ns = rows.needed_time(0);
      see(range.start_ns);
      const auto end = rows.time(1);
      range.end_ns = end.value_or(UINT64_MAX);  // it was open when the recording ended
      if (range.end_ns < range.start_ns) rows.broken("the range ends before it starts");
      const std::uint64_t thread = rows.number(2).value_or(0);
      range.thread = thread_of(thread);
      range.name = texts_.range(rows, thread & ~kThreadPart, names_);
      ranges_.add(range);
      // One that was open when the recording ended is no whole step.
      if (end && texts_.is_step(range.name))
        named_steps_.add(range.thread, range.start_ns, range.end_ns);
    }
  }

  // Layers of kernels and copies: those open on the calling thread when the call was made.
  void place() {
    if (named_steps_.asked()) {
      steps_ = steps_of_ranges(
          named_steps_, [this] { return outer(); }, file_.path(), imported_.step_range);
      if (!imported_.steps.empty())
        throw WrongUse(
            file_.path() +
            " has steps of its own, and so has a file before it: import each by itself.");
    }
    find_calls();
    sweep();
    if (early_kernels_ > 0)
      imported_.notes.push_back(early_note(early_kernels_, "kernel", "kernels", !steps_.empty()));
    if (early_copies_ > 0)
      imported_.notes.push_back(early_note(early_copies_, "copy", "copies", !steps_.empty()));
  }

  std::map<std::string, std::uint64_t> outer() {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& [name, count] : outer_ranges(ranges_)) counts[names_.text(name)] += count;
    return counts;
  }

  // Work and calls are walked through by their numbers. Of the calls of one number the first
  // counts.
  void find_calls() {
    const NsysCall* call = calls_.first();
    NsysCall found;
    bool any = false;
    for (const NsysOperation* each = operations_.first(); each != nullptr;
         each = operations_.next()) {
      while (call != nullptr && call->key <= key_of(*each)) {
        if (!any || call->key != found.key) found = *call;
        any = true;
        call = calls_.next();
      }
      if (any && found.key == key_of(*each)) {
        NsysCalled called{found.start_ns, *each};
        called.operation.caller = thread_numbers_[found.thread];
        called_.add(called);
      } else {
        take_without_call(*each);
      }
    }
    operations_.clear();
    calls_.clear();
  }

  void take_without_call(const NsysOperation& operation) {
    const bool kernel = sources_[operation.source].kernel;
    const bool early = is_early(operation), left_out = early && !steps_.empty();
    if (early) ++(kernel ? early_kernels_ : early_copies_);
    if (kernel && !left_out) ++imported_.without_call;
    take(operation, 0, left_out ? 0 : step_at(steps_, operation.start_ns), false);
  }

  // Ranges, and what was called and waited for in them, by thread and time.
  void sweep() {
    RangeSweep ranges(ranges_, names_, imported_.layers,
                      [this](const SweptRange& range, LayerId layer) {
                        const bool open = range.end_ns == UINT64_MAX;
                        imported_.spans.add({step_at(steps_, range.start_ns), layer, 1,
                                             open ? 0 : range.end_ns - range.start_ns, 0});
                      });
    const NsysCalled* called = called_.first();
    const NsysWait* wait = waits_.first();
    NsysWait outer;
    while (called != nullptr || wait != nullptr) {
      if (wait == nullptr ||
          (called != nullptr && std::tie(called->operation.caller, called->call_ns) <=
                                    std::tie(wait->thread, wait->start_ns))) {
        const NsysOperation& operation = called->operation;
        const LayerId layer = ranges.at(operation.caller, called->call_ns);
        ranges.project(sources_[operation.source].device, operation.start_ns, operation.end_ns);
        take(operation, layer, step_at(steps_, called->call_ns), true);
        called = called_.next();
        continue;
      }
      // Of a call within another the outer one counts.
      if (outer.thread != wait->thread || wait->start_ns >= outer.end_ns) {
        outer = *wait;
        imported_.spans.add({step_at(steps_, outer.start_ns),
                             ranges.at(outer.thread, outer.start_ns), 0, 0,
                             outer.end_ns - outer.start_ns});
      }
      wait = waits_.next();
    }
    ranges.finish(imported_);
    called_.clear();
    ranges_.clear();
  }

  void take(const NsysOperation& operation, LayerId layer, std::uint32_t step, bool placed) {
    const NsysSource& source = sources_[operation.source];
    if (source.kernel) {
      ImportedKernel kernel;
      kernel.start_ns = operation.start_ns - moved_by_;
      kernel.end_ns = operation.end_ns - moved_by_;
      kernel.function = static_cast<FunctionId>(operation.what >> 32);
      kernel.shape = static_cast<std::uint32_t>(operation.what);
      kernel.layer = layer;
      kernel.device = source.device;
      kernel.step = step;
      kernel.context = source.context;
      kernel.stream = source.stream;
      kernel.place = first_kernel_ + operation.place;
      kernel.message = name_message(imported_, kernel.function, source.process, source.stream);
      imported_.kernels.add_at(kernel);
      if (named_steps_.asked()) records_.add(operation, kernel);
    } else {
      ImportedCopy copy;
      copy.record = nsys_copy(operation, source);
      copy.record.start_ns -= moved_by_;
      copy.record.end_ns -= moved_by_;
      copy.layer = layer;
      copy.placed = placed;
      copy.step = step;
      copy.place = first_copy_ + operation.place - kernels_;
      imported_.copies.add(copy);
      if (named_steps_.asked()) records_.add(operation, copy);
    }
  }

  // Only the calls of the steps that are looked at are read.
  void record_steps() {
    NsysWaits waits(file_, {[this](std::uint64_t process, std::uint64_t correlation) {
                              return nsys_key(process_of(process), correlation);
                            },
                            [this](std::uint64_t process, std::uint64_t id) {
                              return contexts_.of(process_of(process), id);
                            }});
    records_.record(steps_, [&](const RecordWindow& window) {
      TracedSteps steps;
      steps.starts = window.starts;
      const auto in_file = [this](std::uint64_t time) {
        return std::to_string(static_cast<std::int64_t>(time) + file_.zero());
      };
      const std::string where = " WHERE start >= " + in_file(window.starts.front()) +
                                " AND start < " + in_file(window.starts.back());
      for (const char* table : kRuntime) {
        if (!file_.has(table)) continue;
        SqliteRows rows(file_, table, {"start", "correlationId", "globalTid", "end", "nameId"},
                        where);
        while (rows.next() && steps.calls.size() <= kMostTracedCalls)
          steps.calls.push_back(traced(rows));
      }
      waits.read(where, steps);
      if (texts_.any_input())
        steps.inputs = inputs(" WHERE start < " + in_file(window.starts.back()) + " AND end > " +
                              in_file(window.starts.front()));
      std::vector<std::uint64_t> processes(processes_.size());
      for (const auto& [process, index] : processes_) processes[index] = process;
      waits.read_streams(processes, steps);
      steps.others_block = true;
      return steps;
    });
  }

  // When the program fetched its next input.
  std::vector<InputWait> inputs(const std::string& where) {
    std::vector<InputWait> inputs;
    SqliteRows rows(file_, kRanges, kRangeColumns, where);
    while (rows.next()) {
      const std::uint64_t thread = rows.number(2).value_or(0);
      if (texts_.is_input(texts_.range(rows, thread & ~kThreadPart, names_)))
        inputs.push_back({rows.needed_time(0), rows.needed_time(1), thread_of(thread)});
    }
    return inputs;
  }

  // Its call was made before the recording began.
  [[nodiscard]] bool is_early(const NsysOperation& operation) const {
    return numbers_[sources_[operation.source].process].before(operation.correlation);
  }

  static constexpr int kName = 5;
  inline static const std::vector<std::string> kRangeColumns = {
      "start", "end", "globalTid", "domainId", "text", "textId", "eventType"};
  SqliteFile file_;
  Imported& imported_;
  Progress& progress_;
  StepRanges named_steps_;
  NsysTexts texts_;
  NsysContexts contexts_;
  NsysSources sources_;
  NsysSteps records_;
  RangeNames names_;
  std::vector<ImportedStep> steps_;
  std::unordered_map<std::uint64_t, std::uint32_t> processes_, threads_;
  std::uint64_t last_process_ = 0;
  std::uint32_t last_number_ = 0;
  std::vector<std::uint64_t> first_rows_;      // by thread
  std::vector<std::uint32_t> thread_numbers_;  // by thread, as it was when calls were read
  std::vector<CallNumbers> numbers_;           // by process that has work
  WorkNumbers work_;
  SortedRecords<NsysOperation, NsysEarlier> operations_;
  SortedRecords<NsysCall, NsysEarlier> calls_;
  SortedRecords<NsysCalled, NsysEarlier> called_;
  SortedRecords<NsysWait, NsysEarlier> waits_;
  SweptRanges ranges_;
  std::uint64_t first_kernel_ = 0, first_copy_ = 0, kernels_ = 0, places_ = 0;
  std::uint64_t early_kernels_ = 0, early_copies_ = 0;
  std::int64_t least_ = INT64_MAX;  // of all times
  std::uint64_t moved_by_ = 0;      // from the file's least time to the zero
  std::uint64_t done_ = 0;
};

}  // namespace

std::string nsys_rep_sentence(const std::string& path) {
  const std::string out = std::filesystem::path(path).stem().string() + ".sqlite";
  return path + " is a report of Nsight Systems: export it with `nsys export --type sqlite -o " +
         out + " " + path + "` and give that file with --nsys.";
}

void read_nsys_sqlite(const std::string& path, Imported& imported, Progress& progress,
                      const std::string& name) {
  const InputFile file(path, "a profile");
  if (!file.error().empty()) throw WrongUse(file.error());
  if (!file.is_regular())
    throw WrongUse(path + " is a pipe, and SQLite reads only files: save it as a file first.");
  if (file.size() == 0) throw WrongUse(path + " is empty.");
  Reader(path, name, imported, progress).read();
}

}  // namespace gable
