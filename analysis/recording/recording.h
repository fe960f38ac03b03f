// SPDX-License-Identifier: Apache-2.0
// Recordings: what a program did and what its GPU counted, line by line, for the playback GPU and
// `gable dump`. The format is docs/recordings.md. Times are in ns, sizes in bytes, counter values
// per launch.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

inline constexpr int kRecordingVersion = 1;

// Counter values by full metric name; NaN is unknown.
using CounterValues = std::map<std::string, double, std::less<>>;

struct RecordedKernel {
  std::string id, name;
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t registers = 0;  // per thread; 0: CUPTI does not tell
  std::uint32_t static_shared = 0;
  std::uint64_t time_ns = 1000;
  CounterValues counters;
  std::vector<std::string> unknown;  // metrics whose value is NaN; "*": all without a value
};

// A fault that starts at a line of a recording.
enum class Fault : std::uint8_t {
  call,   // a call returns an error
  hang,   // a call never returns
  delay,  // a call takes long
  lose_records,
  zero_timestamps,
  drop_ranges,
  wrong_ctas,
  no_permission,
  unsupported
};
template <>
inline constexpr auto kWordsOf<Fault> = std::to_array<Word<Fault>>({
    {Fault::call, "call"},
    {Fault::hang, "hang"},
    {Fault::delay, "delay"},
    {Fault::lose_records, "lose_records"},
    {Fault::zero_timestamps, "zero_timestamps"},
    {Fault::drop_ranges, "drop_ranges"},
    {Fault::wrong_ctas, "wrong_ctas"},
    {Fault::no_permission, "no_permission"},
    {Fault::unsupported, "unsupported"},
});
struct RecordedFault {
  Fault fault = Fault::call;
  std::string call;         // call, hang, delay: the function's name
  std::int32_t code = 999;  // call: the error returned
  std::string holder;       // call: who holds CUPTI, as cuptiSubscribe_v2 names it
  std::uint64_t after = 0;  // call, hang: successful calls before it
  std::int64_t times = -1;  // call: how often; -1: always
  std::uint64_t count = 0;  // other faults: how many
  std::string why;          // unsupported: why CUPTI takes no counters on the GPU
};

enum class OpKind : std::uint8_t {
  push,
  pop,
  start,
  end,
  launch,
  graph_launch,
  copy,
  sync,
  event_record,
  stream_wait,
  idle,
  sleep,
  gable_step,
  profiler_start,
  profiler_stop,
  load_module,
  context,
  destroy_context,
  capture_begin,
  capture_end,
  graph_destroy,
  play,
  print,
  exit,
  fault,
  set_switch,
};
[[nodiscard]] std::string_view to_string(OpKind kind);
// The format's word for a kind of copy, such as "h2d"; empty if there is none.
[[nodiscard]] std::string_view recorded_copy(CopyKind kind);

enum class LaunchApi : std::uint8_t { kernel, kernel_ex, cooperative };

// One operation. Which fields count depends on the kind; the rest keep their defaults.
struct RecordedOp {
  OpKind kind = OpKind::idle;
  Direction direction = Direction::none;  // push, start
  LaunchApi api = LaunchApi::kernel;
  bool per_thread = false;     // launch: the _ptsz variant of the call
  bool whole_context = false;  // sync: no stream was named
  bool update = false;         // capture_end: an executable graph takes what was captured
  CopyKind copy = CopyKind::other;
  HostMemory host = HostMemory::pinned;  // copy: kind of the host's memory
  std::int32_t thread = 0;
  std::uint32_t line = 0;
  std::uint32_t stream = 0, context = 0;
  std::int32_t device = 0;  // context
  // start, end: the range; capture_end, graph_launch, graph_destroy: the graph (0: none);
  // event_record, stream_wait, sync: the event (0: none).
  std::int64_t id = 0;
  std::uint32_t kernel = 0;              // launch: index in Recording::kernels
  std::uint32_t index = 0;               // play: index of the sequence; fault: in Recording::faults
  std::optional<std::uint64_t> time_ns;  // launch, graph_launch, copy
  std::uint64_t host_ns = 2000;          // cost of the call on the virtual clock
  std::uint64_t amount = 0;              // copy: bytes; idle: ns; sleep: ms; play: times
  std::int32_t code = 0;                 // exit
  double scale = 1;                      // launch
  std::string name;    // push, start: the range; print: the text; exit: how; set_switch: which
  std::string domain;  // push, pop, start, end
  bool has_domain = false;
  std::string value;                              // set_switch
  std::vector<std::uint32_t> kernels;             // graph_launch
  std::shared_ptr<const CounterValues> counters;  // launch: replace single values
};

struct RecordedSequence {
  std::string name;
  std::vector<RecordedOp> ops;
};

struct Recording {
  std::string path, origin, note;
  // Metrics that were collected; all others are unknown. Empty: not stated.
  std::optional<std::set<std::string, std::less<>>> metrics;
  std::vector<DeviceInfo> devices;  // by id, without gaps; one H200 if the file has none
  // NVML's successive readings of a device; the last one repeats.
  std::map<std::int32_t, std::vector<GpuReading>> readings;
  std::vector<RecordedKernel> kernels;
  std::vector<RecordedSequence> sequences;
  std::vector<RecordedOp> ops;        // the main sequence
  std::vector<RecordedFault> faults;  // the first `initial_faults` of them hold from the start
  std::size_t initial_faults = 0;
  std::map<std::string, std::string> switches;  // switches before the first operation
};

struct RecordingResult {
  std::unique_ptr<Recording> recording;  // null if the file is invalid
  std::string error;                     // one sentence with file:line
};

[[nodiscard]] RecordingResult read_recording(const std::string& path);
// `name`: of the file, for messages.
[[nodiscard]] RecordingResult parse_recording(std::string_view text, const std::string& name);

// Lines of {"fault": …} and {"switch": …} alone, as GABLE_PLAYBACK_FAULTS holds them. Returns an
// error or "".
[[nodiscard]] std::string parse_faults(std::string_view text, const std::string& name,
                                       std::vector<RecordedFault>& faults,
                                       std::map<std::string, std::string>& switches);

// The device of a recording that defines none.
[[nodiscard]] DeviceInfo default_device();

}  // namespace gable
