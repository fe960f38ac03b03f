// SPDX-License-Identifier: Apache-2.0
// How long a launch takes to reach an idle GPU: from entering the driver to the kernel's start,
// measured at launches that follow a synchronisation on their thread, where nothing else ran on
// that GPU in between. Launches into a busy GPU wait in its queue and are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/base/moments.h"
#include "analysis/events/events.h"
#include "analysis/profile/key_table.h"
#include "analysis/profile/layer_stats.h"
#include "analysis/profile/step_record.h"

namespace gable {

// The launch latencies of one time window.
class LaunchLatency {
 public:
  static constexpr std::size_t kMaxCalls = 256;    // further ones are not measured
  static constexpr std::size_t kMaxCopies = 4096;  // with more, the GPU's idle time is unknown

  // The call of the launch with this correlation entered the driver at `entered_ns`.
  void add_call(std::uint32_t correlation, std::uint64_t entered_ns);
  // Takes the kernel's record; ignores other launches.
  void add_start(const KernelRecord& record) {
    if (!entered_.empty()) start(record);
  }
  void add_copy(const CopyRecord& record);
  // Adds the latencies of those launches that found their GPU idle, ns. `records`: all kernels of
  // the window, by start.
  void finish(const std::vector<HeldRecord>& records, const KeyTable& keys, Moments& latency);

 private:
  struct Launch {
    std::uint64_t entered_ns = 0, start_ns = 0;
    std::int32_t device = 0;
  };
  struct Copy {
    std::uint64_t start_ns = 0, end_ns = 0;
    std::int32_t device = 0;
  };
  void start(const KernelRecord& record);

  std::unordered_map<std::uint32_t, std::uint64_t> entered_;  // by correlation
  std::vector<Launch> launches_;
  std::vector<Copy> copies_;
};

// The same for recorded steps after the first, for every kernel launch that found its GPU idle and
// its stream waiting for nothing, whatever its thread did before.
void add_launch_latencies(const StepRecord& record, Moments& latency);

}  // namespace gable
