// SPDX-License-Identifier: Apache-2.0
// Parts of a trace of PyTorch's profiler beside its events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/events/events.h"
#include "tools/streams/json_stream.h"

namespace gable {

// The list deviceProperties, which comes next: the GPUs of the machine, used or not.
void read_trace_devices(JsonStream& json, std::map<std::int32_t, DeviceInfo>& devices);

// The GPU that work with this number ran on; nothing where the list does not tell. HIP's numbers
// count the host's processors, the list does not.
[[nodiscard]] std::optional<DeviceInfo> trace_device(
    const std::map<std::int32_t, DeviceInfo>& devices, std::int32_t id);

// The object distributedInfo, which comes next: the process's rank, and how many there are.
struct TraceRank {
  std::optional<std::int64_t> rank;
  std::optional<std::uint64_t> world_size;
};
[[nodiscard]] TraceRank read_trace_rank(JsonStream& json);

// Of a trace without kernels: what it is, and what to do. `pytorch`: PyTorch's profiler wrote it;
// `launches`: calls that launch kernels.
[[nodiscard]] std::string trace_without_kernels(const std::string& file, bool pytorch,
                                                std::string_view accelerator, std::size_t launches);

// Python functions with their parents, 0 for none. Throws WrongUse where one is above itself.
void check_parents(const JsonStream& json,
                   const std::vector<std::pair<std::uint64_t, std::uint64_t>>& parents);

}  // namespace gable
