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

namespace gable {

struct TensorShape {
  std::string dtype;  // as PyTorch names it: "float32", "bfloat16"
  std::vector<std::int64_t> sizes;
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

// A module whose forward pass the framework compiled: its code is one layer.
struct SourceModule {
  std::string name;  // "encoder.0", as PyTorch's users know it
  std::string kind;  // its class
};
struct CompiledRegion {
  std::vector<SourceModule> modules;  // those within it, in the order of named_modules()
  std::uint64_t left_out = 0;         // number of further modules
};

struct ModelDescription {
  std::uint64_t sequence_hash = 0;  // hash of the described step's launches
  std::uint64_t steps = 1;          // steps with that hash that `work` sums
  std::map<std::pair<std::int32_t, LayerId>, OperatorWork> work;  // by device and layer
  std::map<LayerId, ModuleFacts> modules;
};

}  // namespace gable
