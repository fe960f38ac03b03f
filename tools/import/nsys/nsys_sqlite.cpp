// SPDX-License-Identifier: Apache-2.0
#include "tools/import/nsys/nsys_sqlite.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "analysis/base/input_file.h"
#include "tools/base/wrong_use.h"
#include "tools/calls/call_numbers.h"
#include "tools/calls/nsys_waits.h"
#include "tools/import/nsys/nsys_contents.h"
#include "tools/import/nsys/nsys_texts.h"
#include "tools/import/records/range_nest.h"
#include "tools/import/records/step_records.h"
#include "tools/streams/sqlite_file.h"

namespace gable {
namespace {

const char* const kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
const char* const kMemcpy = "CUPTI_ACTIVITY_KIND_MEMCPY";
const char* const kMemset = "CUPTI_ACTIVITY_KIND_MEMSET";
const char* const kRanges = "NVTX_EVENTS";
constexpr std::uint64_t kMost32 = 0xffffffff;
constexpr std::uint64_t kThreadPart = 0xffffff;  // of a globalTid; the rest is the process
constexpr int kPushPop = 59, kStartEnd = 60;
constexpr std::uint64_t kLeastRowBytes = 16;
constexpr std::uint64_t kMostRanges = 1u << 27;

// The call that GPU work came from. Some exports have a row for the runtime's call and one for the
// driver's within it: the first counts.
struct Call {
  std::uint64_t key = 0;  // process and correlation
  std::uint64_t start_ns = UINT64_MAX;
  std::uint32_t thread = 0;
  std::uint32_t range = RangeNest::kNone;
  [[nodiscard]] bool known() const { return start_ns != UINT64_MAX; }
};

// Calls by their keys. Those that are asked for follow each other, mostly.
class Calls {
 public:
  explicit Calls(const std::vector<std::uint64_t>& keys) {
    calls_.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) calls_[i].key = keys[i];
    const auto smaller = [](const Call& a, const Call& b) { return a.key < b.key; };
    // Most files have them in their order.
    if (!std::is_sorted(calls_.begin(), calls_.end(), smaller))
      std::sort(calls_.begin(), calls_.end(), smaller);
    const auto same = [](const Call& a, const Call& b) { return a.key == b.key; };
    calls_.erase(std::unique(calls_.begin(), calls_.end(), same), calls_.end());
  }
  Call* find(std::uint64_t key) {
    if (calls_.empty() || key > calls_.back().key) return nullptr;
    for (const std::size_t near : {last_, last_ + 1}) {
      if (near >= calls_.size() || calls_[near].key != key) continue;
      last_ = near;
      return &calls_[near];
    }
    const auto found =
        std::lower_bound(calls_.begin(), calls_.end(), key,
                         [](const Call& call, std::uint64_t wanted) { return call.key < wanted; });
    if (found->key != key) return nullptr;
    last_ = static_cast<std::size_t>(found - calls_.begin());
    return &*found;
  }
  std::vector<Call>& all() { return calls_; }

 private:
  std::vector<Call> calls_;
  std::size_t last_ = 0;
};

CopyKind kind_of_copy(std::uint64_t kind) {
  switch (kind) {
    case 1:
      return CopyKind::host_to_device;
    case 2:
      return CopyKind::device_to_host;
    case 8:
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
      : path_(path),
        file_(path, name),
        imported_(imported),
        progress_(progress),
        nest_(imported.layers),
        named_steps_(imported.step_range),
        texts_(file_, imported.functions, named_steps_) {}

  void read() {
    check_tables();
    std::uint64_t rows = 0;
    for (const char* table : {kKernels, kMemcpy, kMemset, kRanges}) rows += file_.rows(table);
    for (const char* table : {kRuntime[0], kRuntime[1]}) rows += file_.rows(table);
    progress_.begin(file_.path(), rows);
    // What ran before the session's zero has negative times, and a record at 0 would count as one
    // without a time.
    const auto least =
        file_.least({kKernels, kMemcpy, kMemset, kRuntime[0], kRuntime[1], kRanges}, "start");
    if (least && *least <= 0) file_.set_zero(std::max(*least, INT64_MIN + 1) - 1);
    read_nsys_devices(file_, imported_);
    first_kernel_ = imported_.kernels.size();
    first_copy_ = imported_.copies.size();
    reserve();
    read_kernels();
    read_copies(kMemcpy, true);
    read_copies(kMemset, false);
    read_calls();
    read_ranges();
    place();
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
                     " is an SQLite file, and not one of nsys: export one with nsys "
                     "export --type sqlite.");
    if (file_.rows(kKernels) == 0) throw WrongUse(nsys_without_kernels(file_));
    for (const char* column : {"start", "end", "correlationId", "gridX", "blockX"}) {
      if (!file_.has(kKernels, column))
        throw WrongUse(file_.path() + ": " + kKernels + " has no column " + column +
                       ": the schema is none of those from 2.9 to 3.x.");
    }
  }

  std::uint32_t process_of(std::uint64_t global) {
    const std::uint64_t process = global & ~kThreadPart;
    return processes_.try_emplace(process, static_cast<std::uint32_t>(processes_.size()))
        .first->second;
  }

  void tick() {
    if ((++done_ & 0xfff) == 0) progress_.at(done_);
  }

  static std::uint64_t key_of(std::uint32_t process, std::uint64_t correlation) {
    return (std::uint64_t{process} << 32) | correlation;
  }

  void call(const SqliteRows& rows, int correlation, int process) {
    const std::uint64_t number = rows.number(correlation, kMost32).value_or(0);
    keys_.push_back(key_of(process_of(rows.number(process).value_or(0)), number));
  }

  // Where work ran, which only records of steps need.
  void origin(const SqliteRows& rows, int context, int stream, int node) {
    if (!named_steps_.asked()) return;
    const auto process = static_cast<std::uint32_t>(keys_.back() >> 32);
    if (const auto id = rows.number(node).value_or(0); id > 0)
      graph_nodes_.emplace(origins_.size(), id);
    origins_.emplace_back(contexts_.of(process, rows.number(context).value_or(0)),
                          static_cast<std::uint32_t>(rows.number(stream, kMost32).value_or(0)));
  }

  // As many rows as the file can have.
  [[nodiscard]] std::uint64_t most_rows() const {
    std::error_code code;
    const auto size = std::filesystem::file_size(path_, code);
    return code ? 0 : size / kLeastRowBytes;
  }

  void reserve() {
    const std::uint64_t most = most_rows();
    const std::uint64_t kernels = std::min(file_.rows(kKernels), most);
    imported_.kernels.reserve(imported_.kernels.size() + kernels);
    keys_.reserve(kernels + std::min(file_.rows(kMemcpy) + file_.rows(kMemset), most));
  }

  static void times(const SqliteRows& rows, std::uint64_t& start, std::uint64_t& end) {
    start = rows.needed_time(0);
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
      ImportedKernel kernel;
      times(rows, kernel.start_ns, kernel.end_ns);
      call(rows, 2, 3);
      origin(rows, 17, 18, 19);
      kernel.device = static_cast<std::int32_t>(rows.number(4, 1u << 20).value_or(0));
      kernel.function = texts_.function(rows, kName);
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
      kernel.shape = last_shape;
      if (fresh || kernel.function != last_function) {
        last_function = kernel.function;
        const auto registers = rows.number(20, kMost32), fixed = rows.number(21, kMost32);
        if (registers && fixed && !rows.is_null(column))
          imported_.resources.tell(kernel.function, kernel.shape,
                                   {static_cast<std::uint32_t>(*registers),
                                    static_cast<std::uint32_t>(*fixed) + shape.dynamic_shared});
      }
      name_message(imported_, kernel, static_cast<std::uint32_t>(keys_.back() >> 32),
                   static_cast<std::uint32_t>(rows.number(18, kMost32).value_or(0)));
      imported_.kernels.push_back(kernel);
    }
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
      ImportedCopy each;
      times(rows, each.record.start_ns, each.record.end_ns);
      call(rows, 2, 3);
      each.record.device = static_cast<std::int32_t>(rows.number(4, 1u << 20).value_or(0));
      each.record.bytes = rows.number(5);
      each.record.kind = copy ? kind_of_copy(rows.number(6).value_or(0)) : CopyKind::memset;
      origin(rows, 7, 8, 9);
      const bool to_device = each.record.kind == CopyKind::host_to_device;
      if (to_device || each.record.kind == CopyKind::device_to_host) {
        const auto found = memory.find(rows.number(to_device ? 10 : 11).value_or(~0ull));
        if (found != memory.end()) each.record.host = found->second;
      }
      imported_.copies.push_back(each);
    }
  }

  // Of the calls only those that GPU work came from matter, and those that wait.
  void read_calls() {
    calls_.emplace(keys_);
    for (const char* table : kRuntime) {
      if (!file_.has(table)) continue;
      SqliteRows rows(file_, table, {"start", "correlationId", "globalTid", "end", "nameId"});
      while (rows.next()) {
        tick();
        imported_.has_calls = true;
        if (synchronises(texts_.call(rows, 4).what)) waits_.push_back(traced(rows));
        const auto correlation = rows.number(1, kMost32);
        const auto thread = rows.number(2);
        if (!correlation || !thread) continue;
        const auto process = processes_.find(*thread & ~kThreadPart);
        if (process == processes_.end()) continue;
        numbers_[process->second].see(*correlation);
        Call* call = calls_->find(key_of(process->second, *correlation));
        if (call == nullptr) continue;
        const std::uint64_t start = rows.needed_time(0);
        if (start >= call->start_ns) continue;
        call->start_ns = start;
        call->thread = thread_of(*thread);
      }
    }
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
    if (number > 0) call.correlation = key_of(process_of(thread), number);
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
    SqliteRows rows(file_, kRanges, {"start", "end", "globalTid", "domainId", "text", "textId"},
                    " WHERE eventType IN (" + std::to_string(kPushPop) + ", " +
                        std::to_string(kStartEnd) + ")");
    nest_.reserve(std::min(file_.rows(kRanges), most_rows()));
    std::uint64_t count = 0;
    while (rows.next()) {
      tick();
      if (++count > kMostRanges) rows.broken("these are too many ranges");
      RangeNest::Range range;
      range.start_ns = rows.needed_time(0);
      const auto end = rows.time(1);
      range.end_ns = end.value_or(UINT64_MAX);  // it was open when the recording ended
      if (range.end_ns < range.start_ns) rows.broken("the range ends before it starts");
      const std::uint64_t thread = rows.number(2).value_or(0);
      range.thread = thread_of(thread);
      range.name = texts_.range(rows, thread & ~kThreadPart, nest_);
      nest_.add(range);
      // One that was open when the recording ended is no whole step.
      if (end && texts_.is_step(range.name))
        named_steps_.add(range.thread, range.start_ns, range.end_ns);
    }
  }

  [[nodiscard]] std::uint32_t step_at(std::uint64_t when) const {
    const auto behind = std::upper_bound(
        steps_.begin(), steps_.end(), when,
        [](std::uint64_t time, const ImportedStep& step) { return time < step.start_ns; });
    if (behind == steps_.begin() || std::prev(behind)->end_ns <= when) return 0;
    return static_cast<std::uint32_t>(behind - steps_.begin());
  }

  // Layers of kernels and copies: those open on the calling thread when the call was made.
  void place() {
    nest_.nest();
    if (named_steps_.asked()) {
      steps_ = steps_of_ranges(named_steps_, nest_, file_.path(), imported_.step_range);
      if (!imported_.steps.empty())
        throw WrongUse(
            file_.path() +
            " has steps of its own, and so has a file before it: import each by itself.");
    }
    for (Call& call : calls_->all()) {
      if (call.known()) call.range = nest_.at(call.thread, call.start_ns);
    }
    std::uint64_t early_kernels = 0, early_copies = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Call* found = calls_->find(keys_[i]);
      const bool known = found->known();
      const bool early = !known && is_early(keys_[i]), left_out = early && !steps_.empty();
      const std::size_t kernels = imported_.kernels.size() - first_kernel_;
      if (i < kernels) {
        ImportedKernel& kernel = imported_.kernels[first_kernel_ + i];
        kernel.layer = nest_.layer(found->range);
        kernel.step = left_out ? 0 : step_at(known ? found->start_ns : kernel.start_ns);
        if (early) ++early_kernels;
        if (!known && !left_out) ++imported_.without_call;
        nest_.project(found->range, kernel.device, kernel.start_ns, kernel.end_ns);
      } else {
        ImportedCopy& copy = imported_.copies[first_copy_ + i - kernels];
        copy.layer = nest_.layer(found->range);
        copy.placed = known;
        copy.step = left_out ? 0 : step_at(known ? found->start_ns : copy.record.start_ns);
        if (early) ++early_copies;
        nest_.project(found->range, copy.record.device, copy.record.start_ns, copy.record.end_ns);
      }
    }
    if (early_kernels > 0)
      imported_.notes.push_back(early_note(early_kernels, "kernel", "kernels", !steps_.empty()));
    if (early_copies > 0)
      imported_.notes.push_back(early_note(early_copies, "copy", "copies", !steps_.empty()));
    for (const RangeNest::Range& range : nest_.ranges()) {
      ImportedSpan& span = imported_.spans[{step_at(range.start_ns), range.layer}];
      ++span.calls;
      if (range.end_ns != UINT64_MAX) span.cpu_ns += range.end_ns - range.start_ns;
    }
    add_waits(
        std::move(waits_), nest_, [this](std::uint64_t when) { return step_at(when); }, imported_);
    nest_.finish(imported_);
  }

  // Only the calls of the steps that are looked at are read.
  void record_steps() {
    StepRecords records(imported_, first_kernel_, first_copy_);
    const std::size_t kernels = imported_.kernels.size() - first_kernel_;
    NsysWaits waits(file_, {[this](std::uint64_t process, std::uint64_t correlation) {
                              return key_of(process_of(process), correlation);
                            },
                            [this](std::uint64_t process, std::uint64_t id) {
                              return contexts_.of(process_of(process), id);
                            }});
    for (const RecordWindow& window : records.windows(steps_)) {
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
      std::vector<std::uint64_t> processes(processes_.size());
      for (const auto& [process, index] : processes_) processes[index] = process;
      waits.read_streams(processes, steps);
      steps.others_block = true;
      records.add(std::move(steps), [&](bool kernel, std::size_t i) {
        const std::size_t at = kernel ? i : kernels + i;
        const auto node = graph_nodes_.find(at);
        const std::uint64_t correlation = (keys_[at] & kMost32) > 0 ? keys_[at] : 0;
        return WorkOrigin{correlation, node != graph_nodes_.end() ? node->second : 0,
                          origins_[at].second, origins_[at].first};
      });
    }
  }

  // Its call was made before the recording began.
  [[nodiscard]] bool is_early(std::uint64_t key) const {
    const auto numbers = numbers_.find(static_cast<std::uint32_t>(key >> 32));
    return numbers != numbers_.end() && numbers->second.before(key & kMost32);
  }

  static constexpr int kName = 5;
  const std::string path_;
  SqliteFile file_;
  Imported& imported_;
  Progress& progress_;
  RangeNest nest_;
  StepRanges named_steps_;
  NsysTexts texts_;
  NsysContexts contexts_;
  std::vector<ImportedStep> steps_;
  std::vector<TracedCall> waits_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> origins_;  // context, stream; as keys_
  std::unordered_map<std::size_t, std::uint64_t> graph_nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> processes_, threads_;
  std::unordered_map<std::uint32_t, CallNumbers> numbers_;  // by process
  std::vector<std::uint64_t> keys_;  // of the calls of kernels, then of copies
  std::optional<Calls> calls_;
  std::size_t first_kernel_ = 0, first_copy_ = 0;
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
    throw WrongUse(path + " is a pipe, and SQLite reads files alone: save it as a file first.");
  if (file.size() == 0) throw WrongUse(path + " is empty.");
  Reader(path, name, imported, progress).read();
}

}  // namespace gable
