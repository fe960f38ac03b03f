// SPDX-License-Identifier: Apache-2.0
// What layers do themselves: a report's kernels, summed into the layer that launched them, layers
// below excluded. No work is in two of these rows, except a graph's (`counts_again`), so they can
// be shown side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

struct OwnWork {
  const LayerRow* layer = nullptr;  // of the report; null where it has no such row
  // Its name where the row is one: a CUDA graph, or the launches of one kernel by one grid and
  // block. A kernel that has several has them behind its name: "gemm <<<16x2, 128>>>".
  std::string kernel;
  std::string place;             // of its kernel: "kernels.py:12"; empty: unknown
  LayerRow sum;                  // of the row's kernels, per unit of the report
  bool counts_again = false;     // a graph: its time is that of other rows
  bool analytic = false;         // nothing was counted: FLOPs and bytes are those of operators
  Flops formula;                 // of an analytic row: what its operators do, by type
  bool tensor_inferred = false;  // FLOPs unknown: on tensor cores by a kernel's name
  // Whether they are known of all its kernels. Where times are known, coverage says how much.
  bool flops_known = true, bytes_known = true;
};

// How much shorter a step would be with all these rows of kernels at their roofs: of one row what
// was worked out; of several at least what the best of them saves alone, and at most what they have
// on the critical path. Empty where a part is not known.
[[nodiscard]] std::optional<StepSaving> saving_together(
    const std::vector<const KernelRow*>& kernels);

// The host's part of the critical path until it launches a layer's own work, layers below excluded:
// the largest first, and no part below `least_ns`. Empty where no step was recorded.
struct HostPart {
  const LayerRow* layer = nullptr;
  double ns = 0;
};
[[nodiscard]] std::vector<HostPart> own_host_parts(const Report& report, double least_ns);

// By device, layer and name. `by_kernel`: a row for every kernel, grid and block in every layer, as
// launches of other sizes are other work.
[[nodiscard]] std::vector<OwnWork> own_work(const Report& report, bool by_kernel = false);

}  // namespace gable
