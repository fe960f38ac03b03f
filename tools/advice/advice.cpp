// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/advice.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/display.h"
#include "analysis/base/units.h"
#include "analysis/events/kernel_kind.h"
#include "tools/advice/advice_facts.h"
#include "tools/advice/advice_on_the_rest.h"
#include "tools/advice/advice_on_use.h"
#include "tools/plot/matrix_kernel.h"

namespace gable {
namespace {

// --- Where computing holds the kernels.

constexpr double kNearCompute = 0.6;  // of the roof: little is left but to compute less

// Compute decides over these kernels' roofs, whether they reach them or not.
bool compute_holds(const PlotRow& row) {
  const Roof& roof = row.sum.roof;
  return roof.compute_ns && roof.memory_ns && *roof.compute_ns > *roof.memory_ns &&
         !is_beside_roofs(roof.bound);
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

void advise_on_compute(const AdviceFacts& facts, std::vector<Advice>& advice) {
  struct Move {
    const char *id, *from, *to, *action;
    const char *in_torch, *elsewhere;  // how
    const char* what;
  };
  constexpr const char* kOnTensorCores = "Let matrix products and convolutions use tensor cores: ";
  const Move moves[] = {
      {"tensor_cores", "fp32", "tf32_tensor", kOnTensorCores,
       "TF32 (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32), or BF16 or "
       "FP16 by automatic mixed precision.",
       "TF32 (CUBLAS_TF32_TENSOR_OP_MATH in cuBLAS), BF16 or FP16.", "FP32 work on CUDA cores"},
      {"tensor_cores", "fp32", "fp16_tensor", kOnTensorCores, "FP16 by automatic mixed precision.",
       "FP16.", "FP32 work on CUDA cores"},
      {"tensor_cores_fp64", "fp64", "fp64_tensor",
       "Let FP64 matrix products use tensor cores (cuBLAS does for sizes that fit them).", "", "",
       "FP64 work on CUDA cores"},
      {"lower_precision", "tf32_tensor", "bf16_tensor", "Compute in BF16 or FP16",
       " (automatic mixed precision).", ".", "TF32 work on tensor cores"},
      {"lower_precision_8", "bf16_tensor", "fp8_tensor", "Compute in FP8 where accuracy allows it.",
       "", "", "BF16 work on tensor cores"},
      {"lower_precision_8", "fp16_tensor", "fp8_tensor", "Compute in FP8 where accuracy allows it.",
       "", "", "FP16 work on tensor cores"},
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
          // What multiplies no matrices finds nothing to do on tensor cores.
          return row.precision == move.from && compute_holds(row) && from && to && *to > *from &&
                 is_matrix_kernel(*row.kernel, row.layer);
        },
        [&](const PlotRow& row) { return under(facts, row, move.to); });
    if (part.saving_ns < kLeastShare * facts.unit_ns) continue;
    advice.push_back({move.id, move.action + facts.how(move.in_torch, move.elsewhere),
                      percent(part.share(facts.kernels_ns)) + " of the GPU time is " + move.what +
                          "; its roof is compute, not memory.",
                      part.saving_ns});
    place(advice.back(), part);
  }
  const AdviceFacts::Part near = facts.part([](const PlotRow& row) {
    return compute_holds(row) && row.sum.roof.fraction.value_or(0) >= kNearCompute;
  });
  if (near.share(facts.kernels_ns) >= 0.25) {
    advice.push_back(
        {"fewer_operations",
         "Compute less" +
             facts.how(" (pruning, distillation, a smaller model)", " (another algorithm)") +
             ", or take a GPU with a higher compute roof (gable predict REPORT --gpu H200,B200): "
             "the kernels themselves leave little to gain.",
         percent(near.share(facts.kernels_ns)) +
             " of the GPU time is kernels that reach at least " + percent(kNearCompute) +
             " of their compute roof.",
         std::nullopt});
    place(advice.back(), near);
  }
}

// --- Where bytes hold the kernels.

constexpr double kNearMemory = 0.75;  // of the memory roof: the accesses themselves are good
constexpr double kMuch = 0.25;        // of the GPU time

// In each layer, memory-bound kernels that follow each other could read and write once: what all
// but the one with the most bytes take.
void advise_fusion(const AdviceFacts& facts, std::vector<Advice>& advice) {
  struct Layer {
    double time = 0, longest = 0, launches = 0;
    std::vector<const PlotRow*> rows;
  };
  std::map<const LayerRow*, Layer> layers;
  for (const PlotRow& row : facts.kernels) {
    // Kernels without a layer have nothing in common but the program.
    if (!memory_holds(row) || !row.sum.time_total_ns || !has_layer(row)) continue;
    if (kind_of_kernel(row.name) != KernelKind::other) continue;
    if (is_matrix_kernel(*row.kernel, row.layer)) continue;
    Layer& layer = layers[row.layer];
    layer.time += *row.sum.time_total_ns;
    layer.longest = std::max(layer.longest, *row.sum.time_total_ns);
    layer.launches += row.sum.launches.value_or(0);
    layer.rows.push_back(&row);
  }
  double saving = 0, time = 0;
  std::size_t count = 0;
  AdviceFacts::Part part;
  for (const auto& [layer, sum] : layers) {
    if (sum.launches < 2 || sum.time <= sum.longest) continue;
    saving += sum.time - sum.longest;
    time += sum.time;
    ++count;
    bool kept = false;  // one pass over the data remains
    for (const PlotRow* row : sum.rows) {
      const bool longest = !kept && *row->sum.time_total_ns == sum.longest;
      kept = kept || longest;
      part.each.emplace_back(row, longest ? 0 : *row->sum.time_total_ns);
    }
  }
  if (saving < kLeastShare * facts.unit_ns) return;
  advice.push_back(
      {"fuse",
       "Fuse kernels that are bound by memory, so that data is read and written once" +
           facts.how(": model = torch.compile(model)", "") +
           facts.in_training(", torch.optim.AdamW(..., fused=True)", "") + ".",
       percent(time / facts.kernels_ns) +
           " of the GPU time is memory-bound kernels in layers that launch several of them (" +
           std::to_string(count) + (count == 1 ? " layer)." : " layers)."),
       saving});
  place(advice.back(), part);
}

void advise_access(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const AdviceFacts::Part below = facts.part(
      [](const PlotRow& row) {
        return memory_holds(row) && row.sum.roof.bound == Bound::memory &&
               row.sum.roof.fraction.value_or(1) < kNearMemory;
      },
      [](const PlotRow& row) { return row.sum.roof.memory_ns; });
  if (below.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"tile",
                      "Use each byte better: tile for cache or shared memory, load wider. "
                      "gable profile --metrics cache shows hit rates and sectors per load.",
                      percent(below.share(facts.kernels_ns)) +
                          " of the GPU time is memory-bound kernels below " + percent(kNearMemory) +
                          " of the memory roof.",
                      below.saving_ns});
    place(advice.back(), below);
  }
}

void advise_bandwidth(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const AdviceFacts::Part near = facts.part([](const PlotRow& row) {
    return memory_holds(row) && row.sum.roof.fraction.value_or(0) >= kNearMemory;
  });
  if (near.share(facts.kernels_ns) < kMuch) return;
  advice.push_back(
      {"more_bandwidth",
       "Move fewer bytes (smaller types, fused kernels), or take a GPU with more "
       "memory bandwidth (gable predict REPORT --gpu H200,B200): the kernels themselves "
       "leave little to gain.",
       percent(near.share(facts.kernels_ns)) + " of the GPU time is kernels that reach at least " +
           percent(kNearMemory) + " of the memory roof.",
       std::nullopt});
  place(advice.back(), near);
}

// The forwards that make one token after another. Looked up, as layers and kernels may be very
// many.
class Decoding {
 public:
  explicit Decoding(const Report& report) {
    for (const LayerRow& layer : report.layers) {
      if (!layer.tokens || layer.tokens->per_sequence != 1) continue;
      lengths_.insert(layer.path.size());
      paths_.insert(layer.path);
    }
  }
  [[nodiscard]] bool has(const LayerRow* layer) const {
    if (layer == nullptr) return false;
    return std::any_of(lengths_.begin(), lengths_.end(), [&](std::size_t length) {
      const auto begin = layer->path.begin();
      return length <= layer->path.size() &&
             paths_.contains({begin, begin + static_cast<std::ptrdiff_t>(length)});
    });
  }

 private:
  std::set<std::size_t> lengths_;
  std::set<std::vector<std::string>> paths_;
};

bool is_softmax(const PlotRow& row) {
  return row.name.find("softmax") != std::string::npos ||
         row.name.find("SoftMax") != std::string::npos;
}

void advise_on_memory(const AdviceFacts& facts, std::vector<Advice>& advice) {
  advise_fusion(facts, advice);
  advise_access(facts, advice);
  advise_bandwidth(facts, advice);

  for (const KernelKind kind :
       {KernelKind::layout, KernelKind::cast, KernelKind::padding, KernelKind::copy}) {
    const AdviceFacts::Part part =
        facts.part([&](const PlotRow& row) { return kind_of_kernel(row.name) == kind; },
                   [](const PlotRow&) { return Maybe(0.0); });
    if (part.time_ns < kLeastShare * facts.unit_ns) continue;
    const std::string action =
        kind == KernelKind::layout
            ? "Keep one layout from the input on" +
                  facts.how(
                      ": model.to(memory_format=torch.channels_last), and the same for its inputs",
                      "") +
                  "."
        : kind == KernelKind::cast
            ? "Keep data in one type, or cast once: weights that are cast in each "
              "step can be kept in that type" +
                  facts.how(" (model.to(torch.bfloat16))", "") + "."
        : kind == KernelKind::padding
            ? "Choose sizes that need no padding, or let the convolution pad."
            : "Avoid copies: " + facts.how("views instead of contiguous(), ", "") +
                  "outputs written in place instead of concatenated.";
    advice.push_back({std::string(flag_of(kind)), action,
                      percent(part.share(facts.kernels_ns)) + " of the GPU time is " +
                          std::string(words_for(kind)) + ", which compute nothing.",
                      part.saving_ns});
    place(advice.back(), part);
  }

  const AdviceFacts::Part softmax = facts.part(
      [](const PlotRow& row) {
        return is_softmax(row) && memory_holds(row) && row.layer != nullptr &&
               !row.layer->path.empty() && row.layer->path.back().find("att") != std::string::npos;
      },
      [](const PlotRow&) { return Maybe(0.0); });
  if (softmax.time_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"fused_attention",
                      "Use fused attention" +
                          facts.how(" (torch.nn.functional.scaled_dot_product_attention)", "") +
                          ", which never writes the matrix of scores.",
                      percent(softmax.share(facts.kernels_ns)) +
                          " of the GPU time is softmax kernels of attention layers.",
                      softmax.saving_ns});
    place(advice.back(), softmax);
  }

  const Decoding decoding(*facts.report);
  const AdviceFacts::Part tokens =
      facts.part([&](const PlotRow& row) { return memory_holds(row) && decoding.has(row.layer); },
                 [](const PlotRow& row) { return Maybe(*row.sum.time_total_ns / 2); });
  if (tokens.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back(
        {"quantise",
         "Quantise the weights or the KV cache (half the bytes take half the time here), or "
         "serve more sequences at once.",
         percent(tokens.share(facts.kernels_ns)) +
             " of the GPU time is decoding, limited by the bytes that each token reads.",
         tokens.saving_ns});
    place(advice.back(), tokens);
  }
}

}  // namespace

std::vector<Advice> advise(const Report& report) {
  const AdviceFacts facts = advice_facts(report);
  std::vector<Advice> advice;
  if (!(facts.unit_ns > 0)) return advice;
  advise_on_compute(facts, advice);
  advise_on_memory(facts, advice);
  advise_on_use(facts, advice);
  advise_on_the_rest(facts, advice);
  // Kernels that overlap take more time together than the step has. Where no step was timed it has
  // at least what the host takes for it, and a run what kernels and copies take.
  const double most = facts.unit == Unit::step && report.step.wall_mean_ns
                          ? facts.unit_ns
                          : std::max(facts.kernels_ns + time_of_copies(facts),
                                     report.step.host_mean_ns.value_or(0));
  for (Advice& each : advice) {
    if (each.saving_ns) each.saving_ns = std::min(*each.saving_ns, most);
  }
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) {
    return a.saving_ns.value_or(-1) > b.saving_ns.value_or(-1);
  });
  return advice;
}

}  // namespace gable
