// SPDX-License-Identifier: Apache-2.0
// How long a kernel takes on another GPU, of what is known of it on this one. docs/predict.md has
// the formulas and where they are from. Internal to this folder.
#pragma once

#include <string>

#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"
#include "tools/predict/predict.h"

namespace gable {

// A GPU by its published numbers: never by a clock that was measured, as others have none.
struct Machine {
  Roofline roofs;
  double sm_count = 0, sm_clock_hz = 0;  // 0: unknown
  const GpuSpec* spec = nullptr;         // null: not of the catalogue
};

// Compute roofs and DRAM's: of caches there are no published peaks. Its `device` of a report is
// `device`.
[[nodiscard]] Machine machine_of(const GpuSpec& gpu, std::int32_t device);
// Of the catalogue; null where it lacks the board, or the device has other SMs: a part of a GPU
// (MIG) may have the name of the whole.
[[nodiscard]] const GpuSpec* board_of(const DeviceInfo& device);
// By the board of the catalogue; else what the report says of the device at its highest clock.
[[nodiscard]] Machine machine_of(const Report& report, const DeviceInfo& device);

struct ScalingFacts {
  Maybe time_ns, least_here_ns, least_there_ns;  // of one launch
  double blocks = 0;                             // of its grid; 0: unknown
  Maybe launch_latency_ns;
  bool stays = false;  // launches or other ranks hold it
};

// Time there / time here; empty where a part is unknown.
[[nodiscard]] Maybe time_factor(const ScalingFacts& facts, const Machine& here,
                                const Machine& there);

// As if matrix products were done in `precision`: their FLOPs are of that type. Every element has
// that type's size; `usual` is the type that elements have now where a kernel does not tell.
void change_precision(KernelRow& kernel, bool matrix, const std::string& precision,
                      const std::string& usual);
// The type of most of the FLOPs of matrix kernels; "fp32" where there are none.
[[nodiscard]] std::string usual_type(const Report& report);

}  // namespace gable
