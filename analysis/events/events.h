// SPDX-License-Identifier: Apache-2.0
// Plain events: what the collector hands to the analysis. No CUDA type appears here, so that
// importers, the playback tests and unit tests can build them by hand. Times are ns on CUPTI's
// clock (CLOCK_REALTIME by default), sizes bytes.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/words.h"
#include "analysis/events/gpu_state.h"

namespace gable {

using LayerId = std::uint32_t;     // index in a LayerTree; 0 is the root (no range open)
using FunctionId = std::uint32_t;  // index in a FunctionTable
using WindowId = std::uint32_t;    // 1, 2, …; 0 is "not in a window"

inline constexpr WindowId kNoWindow = 0;
// The window of ranges when nothing else is collected: the whole program.
inline constexpr WindowId kWholeRun = 0xffffffff;

enum class Direction : std::uint8_t { none, forward, backward, recompute };
template <>
inline constexpr auto kWordsOf<Direction> = std::to_array<Word<Direction>>({
    {Direction::forward, "forward"},
    {Direction::backward, "backward"},
    {Direction::recompute, "recompute"},
    {Direction::none, "none"},
});

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

// The identity under which windows are joined. The direction is a property of the layer.
struct LaunchKey {
  LayerId layer = 0;
  FunctionId function = 0;
  std::int32_t device = 0;
  Dim3 grid, block;
  Dim3 cluster;  // 1,1,1: no cluster
  std::uint32_t dynamic_shared = 0;
  friend bool operator==(const LaunchKey&, const LaunchKey&) = default;
};

// What a window collects. `group` counts the hardware passes from 0 (hw:1 has group 0) and is 0
// otherwise.
enum class PhaseKind : std::uint8_t { off, wait, warmup, hw, flops, time };
[[nodiscard]] constexpr bool is_counter(PhaseKind kind) {
  return kind == PhaseKind::hw || kind == PhaseKind::flops;
}
struct Phase {
  PhaseKind kind = PhaseKind::off;
  std::uint8_t group = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes <=> for a null
  friend auto operator<=>(const Phase&, const Phase&) = default;
};
// "hw:2", "flops", "time", "wait", "warmup", "off".
[[nodiscard]] std::string to_string(Phase phase);

// One kernel launch seen at the driver API.
struct LaunchEvent {
  LaunchKey key;
  WindowId window = kNoWindow;
  std::uint32_t correlation = 0;  // matches KernelRecord::correlation; 0 is none
  bool inherited_layer = false;   // the thread had no range open; the layer is the main thread's
  bool in_range = false;          // counted together with the other launches of its layer
};

// The call of a launch after a synchronisation on its thread, when its GPU may be idle.
struct CallAfterWait {
  std::uint64_t entered_ns = 0;  // when the call entered the driver
  WindowId window = kNoWindow;
  std::uint32_t correlation = 0;
};

// One call that copies or sets memory, so that its record can be given a layer.
struct CopyCall {
  LayerId layer = 0;
  WindowId window = kNoWindow;
  std::uint32_t correlation = 0;
};

// Tokens that one forward pass of text generation reads or makes.
struct TokenCount {
  LayerId layer = 0;  // the layer of prefill or decode
  WindowId window = kNoWindow;
  std::uint32_t sequences = 0, per_sequence = 0;
};

// Range instances of a layer that ended in a window.
struct LayerSpan {
  LayerId layer = 0;
  WindowId window = kNoWindow;
  std::uint64_t cpu_ns = 0;  // from push to pop, summed over those timed
  std::uint64_t calls = 1, timed = 1;
  std::uint64_t wait_ns = 0;  // in synchronising calls, those of layers within it excluded
};

using GraphId = std::uint32_t;  // 1, 2, … in the order of first launches; 0: nothing is known of it

// What a CUDA graph launches, as far as it was seen when it was captured or built.
struct GraphShape {
  LayerId layer = 0;          // the lowest layer that all its kernels are in
  std::uint32_t kernels = 0;  // kernels that one launch runs
  bool more = false;          // conditional nodes may run further kernels
  std::uint64_t blocks = 0;   // blocks of all kernels; 0: some are unknown
  std::uint64_t threads = 0;
  struct Kernel {
    LaunchKey key;
    std::uint32_t count = 0;
    friend bool operator==(const Kernel&, const Kernel&) = default;
  };
  std::vector<Kernel> known;  // all its kernels; if empty, only records name them
  friend bool operator==(const GraphShape&, const GraphShape&) = default;
};

// The launch of a graph. Launches of unknown graphs are only counted.
struct GraphLaunch {
  GraphId graph = 0;
  LaunchKey key;  // key of the whole graph, under which its counters are
  WindowId window = kNoWindow;
  std::uint32_t correlation = 0;
};

// SM resources of a kernel: registers per thread and shared memory per block.
struct KernelResources {
  std::uint32_t registers = 0;     // per thread; 0: neither value is known
  std::uint32_t shared_bytes = 0;  // static and dynamic, per block
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};
// One kernel's activity record. start = end = 0: no time was taken.
struct KernelRecord {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t correlation = 0;
  std::int32_t device = 0;
  std::uint32_t context = 0, stream = 0;
  KernelResources resources = {};
};

// The record of a kernel that a graph launched.
struct GraphKernelRecord {
  KernelRecord record;
  std::uint64_t node = 0;
  LaunchKey key;        // its layer is the node's
  bool placed = false;  // false: the node was not seen when it was made, the key has no layer
};

enum class CopyKind : std::uint8_t {
  host_to_device,
  device_to_host,
  device_to_device,
  peer,
  memset,
  other
};
template <>
inline constexpr auto kWordsOf<CopyKind> = std::to_array<Word<CopyKind>>({
    {CopyKind::host_to_device, "host_to_device"},
    {CopyKind::device_to_host, "device_to_host"},
    {CopyKind::device_to_device, "device_to_device"},
    {CopyKind::peer, "peer"},
    {CopyKind::memset, "memset"},
    {CopyKind::other, "other"},
});
// The kind of host memory of a copy. From pageable memory the driver first copies to its own.
enum class HostMemory : std::uint8_t { unknown, pinned, pageable, managed };
template <>
inline constexpr auto kWordsOf<HostMemory> =
    std::to_array<Word<HostMemory>>({{HostMemory::pinned, "pinned"},
                                     {HostMemory::pageable, "pageable"},
                                     {HostMemory::managed, "managed"}});
struct CopyRecord {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> bytes;
  std::uint32_t correlation = 0;
  std::int32_t device = 0;
  CopyKind kind = CopyKind::other;
  std::uint64_t node = 0;  // graph node that made the copy; 0: none
  bool placed = false;     // `layer` is the node's
  LayerId layer = 0;
  HostMemory host = HostMemory::unknown;  // for copies from and to the host
  bool asynchronous = false;              // the call may have returned before it was done
};

// Counter values of one launch, checked by the collector (checksum of CTAs, no dropped ranges)
// before they get here.
struct CounterSample {
  LaunchKey key;                   // range_key() for ranges
  const double* values = nullptr;  // one per metric of the phase's metric list; NaN is unknown
  std::uint64_t launches = 1;      // number of launches that the values sum
  KernelResources resources = {};  // if the source of the counters tells them
  bool pushed = false;             // of a range that was pushed: its duration is far too long
};

// How a window ended. One that is not kept contributes no sample, and its launches only to the
// launch counts.
struct WindowEnd {
  WindowId window = kNoWindow;
  Phase phase;
  bool keep = true;
  std::string reason;                      // a sentence, when not kept
  std::uint64_t start_ns = 0, end_ns = 0;  // ns on CUPTI's clock
  std::uint64_t overhead_ns = 0;  // time of Gable's callbacks on the program's threads within it
  // Whether CUPTI was switched to collect something else within the window, for which launches
  // waited, and how long they waited.
  bool changed = false;
  std::uint64_t change_ns = 0;
  std::uint64_t step = 0;  // the next step's window has the next number; 0 is unknown
  // The window only tells where the previous step ended; nothing else in it counts.
  bool reach = false;
  // What the program does between this window and the next belongs to no step.
  bool apart = false;
  std::uint64_t sequence_hash = 0;  // hash of its launches; differs between classes of steps
  std::uint64_t launches = 0;
};

// A device's links to others, according to NVML.
struct DeviceLinks {
  struct Pcie {
    int generation = 0, width = 0;  // width in lanes; 0 is unknown
    friend bool operator==(const Pcie&, const Pcie&) = default;
  };
  // The link's state while the GPU works, and the most that the GPU and its slot support.
  Pcie pcie, pcie_max;
  std::optional<std::int64_t> nvlinks;  // number of active links; 0: none
  int nvlink_version = 0;               // 4 for NVLink 4.0; 0: unknown
  friend bool operator==(const DeviceLinks&, const DeviceLinks&) = default;
};

struct DeviceInfo {
  std::int32_t id = 0;
  std::string name, chip;  // chip as CUPTI names it: "GH100"
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  std::uint64_t sm_clock_max_hz = 0, memory_clock_max_hz = 0;  // 0 is unknown
  std::uint32_t memory_bus_bits = 0;
  std::uint64_t memory_bytes = 0, l2_bytes = 0;
  DeviceLinks links;
  std::optional<GpuState> state;  // state while windows were collected
};

// What was lost, by kind; every field is shown in the report.
struct LostCounts {
  std::uint64_t records = 0;          // dropped by CUPTI or Gable
  std::uint64_t ranges = 0;           // counter ranges dropped or without a launch
  std::uint64_t zero_timestamps = 0;  // records without usable times
  std::uint64_t windows = 0;          // thrown away
  // Records without a launch, launches without a record, launches of unknown graphs.
  std::uint64_t unattributed_launches = 0;
  std::uint64_t folded_keys = 0;    // keys in the row (other)
  std::uint64_t folded_layers = 0;  // ranges that got no layer of their own (too deep or too many)
};

}  // namespace gable
