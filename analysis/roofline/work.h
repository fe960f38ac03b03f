// SPDX-License-Identifier: Apache-2.0
// Computes a launch's work from its raw counters: FLOP by type, integer operations, bytes by level.
// docs/report.md has the formulas; quantities.h says which metric counts what.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

struct Work {
  Flops flops;
  std::map<std::string, Maybe> ops;
  Bytes bytes;
  Maybe duration_ns;               // measured in counter windows
  std::vector<std::string> flags;  // "tensor_inferred", "tensor_unknown", "cuda_cores_unknown",
                                   // "hfma_moves", "integer_unknown", "narrow_together",
                                   // "l1_partial", "l1_unchecked", "l2_all"
};

// `counters`: means per launch by the metric's full name, empty if a requested metric has no value.
// `threads`: launched threads. `name`: the kernel's, from which tensor-core work is inferred where
// it was not counted.
//  - A quantity is known when every metric collected for it has a value.
//  - bytes.l1 is empty where instructions ran that its counter misses, or where that was not
//  counted.
//  - flops.total is the sum of the known types; it is empty when it would pass for less than what
//  was done: no counter of
//    the CUDA cores and no tensor work, or tensor cores not counted and a name that says they were
//    used.
[[nodiscard]] Work work_of(const std::map<std::string, Maybe>& counters, std::uint64_t threads,
                           std::string_view name);

// Operations of sparse tensor-core instructions by input type, if counted separately and not 0.
[[nodiscard]] std::map<std::string, double> sparse_operations(
    const std::map<std::string, Maybe>& counters);

// Whether a kernel's name says that it uses tensor cores ("hmma", "gmma", "s16816gemm", "bf16 …
// gemm" …).
[[nodiscard]] bool names_tensor_cores(std::string_view name);

}  // namespace gable
