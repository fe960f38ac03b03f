// SPDX-License-Identifier: Apache-2.0
// What the program's framework says of its layers: what a step's operators have to do by formula,
// and the tensors of its modules. Shapes in elements, bytes as the tensors' types have them,
// floating-point operations with 2 for a multiply and an add.
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

// Of the operators that ran in one layer, those of layers within it excluded, in one step.
struct OperatorWork {
  std::map<std::string, double> flops;  // by type: "fp32", "tf32", "bf16", "fp64" …
  double bytes_read = 0, bytes_written = 0;
  std::uint64_t operators = 0;
  bool flops_known = true, bytes_known = true;  // of all of them
};

// Of a module, as its first call in the step had it.
struct ModuleFacts {
  std::vector<TensorShape> inputs, outputs;
  std::vector<std::string> dtypes;  // of its parameters, each once
  std::uint64_t parameters = 0;     // elements, those of modules within it included
  // Bytes that its calls in the step allocated, those of modules within it included; empty:
  // unknown.
  std::optional<std::uint64_t> allocated = std::nullopt;
};

// A module whose forward the framework compiled to code of its own: that code is one layer.
struct SourceModule {
  std::string name;  // "encoder.0", as PyTorch's users know it
  std::string kind;  // its class
};
struct CompiledRegion {
  std::vector<SourceModule> modules;  // those within it, in the order of named_modules()
  std::uint64_t left_out = 0;         // more of them
};

struct ModelDescription {
  std::uint64_t sequence_hash = 0;  // of the launches in the step that was described
  std::uint64_t steps = 1;          // of that sequence, of which `work` is the sum
  std::map<std::pair<std::int32_t, LayerId>, OperatorWork> work;  // by device and layer
  std::map<LayerId, ModuleFacts> modules;
};

}  // namespace gable
