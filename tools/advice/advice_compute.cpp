// SPDX-License-Identifier: Apache-2.0
// Where computing holds the kernels.
#include <algorithm>

#include "analysis/base/display.h"
#include "tools/advice/advice_rules.h"

namespace gable {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kNearRoof = 0.6;  // of the roof: little is left but to compute less

// Compute decides over these kernels' roofs, whether they reach them or not.
bool compute_holds(const PlotRow& row) {
  const Roof& roof = row.sum.roof;
  return roof.compute_ns && roof.memory_ns && *roof.compute_ns > *roof.memory_ns &&
         roof.bound != "communication" && roof.bound != "overhead";
}

// The time that would remain if the row's FLOPs were under another roof, at the fraction it reaches
// today, or its bytes if those take longer.
Maybe under(const AdviceFacts& facts, const PlotRow& row, const std::string& ceiling) {
  const Maybe roof = facts.roof(row, ceiling);
  if (!roof || !row.sum.flops.total || !row.sum.roof.memory_ns || !row.sum.roof.fraction ||
      !(*row.sum.roof.fraction > 0))
    return std::nullopt;
  const double computing = *row.sum.flops.total / *roof * kNsPerSecond;
  return std::max(computing, *row.sum.roof.memory_ns) / std::min(1.0, *row.sum.roof.fraction);
}

}  // namespace

void advise_on_compute(const AdviceFacts& facts, std::vector<Advice>& advice) {
  struct Move {
    const char *id, *from, *to, *action, *what;
  };
  const Move moves[] = {
      {"tensor_cores", "fp32", "tf32_tensor",
       "Let matrix products and convolutions use tensor cores: TF32 "
       "(torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32), or BF16 or FP16 "
       "by automatic mixed precision.",
       "FP32 on CUDA cores"},
      {"tensor_cores", "fp32", "fp16_tensor",
       "Let matrix products and convolutions use tensor cores: FP16 by automatic mixed precision.",
       "FP32 on CUDA cores"},
      {"tensor_cores_fp64", "fp64", "fp64_tensor",
       "Let FP64 matrix products use tensor cores (cuBLAS does for sizes that fit them).",
       "FP64 on CUDA cores"},
      {"lower_precision", "tf32_tensor", "bf16_tensor",
       "Compute in BF16 or FP16 (automatic mixed precision).", "TF32 on tensor cores"},
      {"lower_precision_8", "bf16_tensor", "fp8_tensor", "Compute in FP8 where accuracy allows it.",
       "BF16 on tensor cores"},
      {"lower_precision_8", "fp16_tensor", "fp8_tensor", "Compute in FP8 where accuracy allows it.",
       "FP16 on tensor cores"},
  };
  const auto given = [&](const char* id) {
    return std::any_of(advice.begin(), advice.end(),
                       [&](const Advice& each) { return each.id == id; });
  };
  for (const Move& move : moves) {
    if (given(move.id)) continue;  // by a better way already
    const AdviceFacts::Part part = facts.part(
        [&](const PlotRow& row) {
          const Maybe from = facts.roof(row, move.from), to = facts.roof(row, move.to);
          return row.precision == move.from && compute_holds(row) && from && to && *to > *from;
        },
        [&](const PlotRow& row) { return under(facts, row, move.to); });
    if (part.saving_ns < kLeastShare * facts.unit_ns) continue;
    advice.push_back({move.id, move.action,
                      percent(part.share(facts.kernels_ns)) + " of the GPU time is " + move.what +
                          " whose roof is computing, not bytes.",
                      part.saving_ns});
  }
  const AdviceFacts::Part near = facts.part([](const PlotRow& row) {
    return compute_holds(row) && row.sum.roof.fraction.value_or(0) >= kNearRoof;
  });
  if (near.share(facts.kernels_ns) >= 0.25) {
    advice.push_back({"fewer_operations",
                      "Compute less (pruning, distillation, a smaller model), or take a GPU with a "
                      "higher compute roof: the kernels themselves leave little.",
                      percent(near.share(facts.kernels_ns)) + " of the GPU time is within " +
                          percent(kNearRoof) + " or more of a compute roof.",
                      std::nullopt});
  }
}

}  // namespace gable
