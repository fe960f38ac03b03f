// SPDX-License-Identifier: Apache-2.0
// A timeline for Perfetto (ui.perfetto.dev) and chrome://tracing, in the Trace Event Format: host
// threads with their ranges and calls, streams of the GPU with kernels and copies, an arrow from
// each call to its work. Times are us with three decimals, so they are exact.
#pragma once

#include <string>

#include "analysis/recording/recording.h"
#include "tools/export/timeline.h"

namespace gable {

[[nodiscard]] std::string export_trace(const Recording& recording, const Timeline& timeline);

}  // namespace gable
