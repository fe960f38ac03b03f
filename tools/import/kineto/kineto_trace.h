// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler (Kineto), old and new, packed or not: kernels and copies with their
// times, in the layers that record_function, modules and operators name, or CUPTI's counters.
#pragma once

#include "tools/import/records/imported.h"
#include "tools/streams/byte_source.h"

namespace gable {

// Metadata of the trace, its environment and distributed set-up are skipped. Throws WrongUse.
void read_kineto_trace(ByteSource& source, Imported& imported);

// The rank that the trace's header names. Reads no further than to there, if there is one.
[[nodiscard]] std::optional<std::int64_t> rank_of_trace(ByteSource& source);

}  // namespace gable
