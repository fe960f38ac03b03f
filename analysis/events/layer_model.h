// SPDX-License-Identifier: Apache-2.0
// What the program's framework says of its layers: the work of a step's operators by formula, and
// the tensors of its modules. Shapes are in elements, bytes are by the tensors' types; a multiply
// and an add are 2 floating-point operations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/events/step_memory.h"

namespace gable {

struct TensorShape {
  std::string dtype;  // as PyTorch names it: "float32", "bfloat16"
  std::vector<std::int64_t> sizes;
  friend bool operator==(const TensorShape&, const TensorShape&) = default;
};

// Work of the operators that ran in one layer in one step, without those of layers within it.
struct OperatorWork {
  std::map<std::string, double> flops;  // by type: "fp32", "tf32", "bf16", "fp64" …
  double bytes_read = 0, bytes_written = 0;
  std::uint64_t operators = 0;
  bool flops_known = true, bytes_known = true;  // known for all operators
};

// Facts about a module, from its first call in the step.
struct ModuleFacts {
  std::vector<TensorShape> inputs, outputs;
  std::vector<std::string> dtypes;  // types of its parameters, each once
  std::uint64_t parameters = 0;     // elements, those of modules within it included
  // Bytes allocated by its calls in the step, including modules within it; empty: unknown.
  std::optional<std::uint64_t> allocated = std::nullopt;
};

// Modules that the framework compiled together: those of a region, in the order of
// named_modules(), or those that a kernel was made of.
struct SourceModule {
  std::string name;  // "encoder.0", as PyTorch's users know it
  std::string kind;  // its class
  // Time of the kernels below the layer that are known to be its own, and an equal part of those
  // that were made of several modules. Set in reports.
  std::optional<double> time_ns = std::nullopt;
};
struct CompiledRegion {
  std::vector<SourceModule> modules;
  std::uint64_t left_out = 0;  // number of further modules
  bool fused = false;          // each kernel of the layer does what all of them do
};

// Calls of an operator in one layer, with inputs of the same shapes and from the same place.
struct OperatorCalls {
  LayerId layer = 0;
  std::string name;                 // "aten::addmm"
  std::vector<TensorShape> inputs;  // tensors among its arguments, in their order
  std::string place;                // "train.py:31 in step", of the program; empty: not asked for
  std::uint64_t calls = 0;
  double flops = 0, bytes = 0;  // by formula, all calls
  bool flops_known = true, bytes_known = true;
  // Kernels that its calls launched, and how often. `left_out`: launches of further kernels.
  std::vector<std::pair<LaunchKey, std::uint64_t>> launches;
  std::uint64_t left_out = 0;
};
struct ModelDescription {
  std::uint64_t sequence_hash = 0;  // hash of the described step's launches
  std::uint64_t steps = 1;          // steps with that hash that `work` sums
  std::map<std::pair<std::int32_t, LayerId>, OperatorWork> work;  // by device and layer
  std::map<LayerId, ModuleFacts> modules;
  std::vector<OperatorCalls> operators;
  std::uint64_t operators_left_out = 0;  // calls of more operators than are kept apart
  std::optional<StepMemory> memory;      // of one such step, that with the highest peak
};

}  // namespace gable
