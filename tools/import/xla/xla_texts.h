// SPDX-License-Identifier: Apache-2.0
// What JAX's and TensorFlow's profiler say of GPU work in texts, and what these texts mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

// Of one event, in a trace and in an XPlane file alike.
struct XlaTexts {
  std::string name;  // of a scope
  std::string hlo_op, hlo_module, tf_op;
  std::string annotation;    // what profilers of 2020 have instead of tf_op
  std::string kernel, copy;  // "regs:32 grid:1,1,1 …"
  std::optional<std::uint64_t> correlation;
  bool numbered_step = false;  // the program says that this range is a step
  bool whole_graph = false;    // a CUDA graph recorded as one event
  // The text of that name; null where it is another.
  [[nodiscard]] std::string* find(std::string_view key);
  void clear();
};

// A plane or a process, by its name: "/device:GPU:1", "/host:CPU [4711]".
struct XlaPlace {
  enum class Kind : std::uint8_t { other, gpu, other_device, host };
  Kind kind = Kind::other;
  std::int32_t device = 0;
  std::string process;  // empty: the one that recorded
};
[[nodiscard]] XlaPlace xla_place(std::string_view name);

// A lane of a GPU, by its name.
enum class XlaLane : std::uint8_t { other, stream, overhead, steps };
[[nodiscard]] XlaLane xla_lane(std::string_view name);

// "grid:128,1,1 block:256,1,1 regs:32": what stands behind the key.
[[nodiscard]] std::string_view xla_detail(std::string_view details, std::string_view key);
[[nodiscard]] std::optional<std::uint64_t> xla_number(std::string_view text, std::uint64_t most);
[[nodiscard]] std::optional<Dim3> xla_size(std::string_view text);

[[nodiscard]] bool is_xla_copy(std::string_view name, const XlaTexts& texts);
[[nodiscard]] CopyKind xla_copy_kind(std::string_view name);
[[nodiscard]] HostMemory xla_host_memory(std::string_view details, CopyKind kind);

// The scope that the texts tell, with what is around its names.
[[nodiscard]] std::string_view xla_scope(const XlaTexts& texts);

}  // namespace gable
