// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/advice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/display.h"
#include "analysis/base/units.h"
#include "analysis/events/kernel_kind.h"
#include "analysis/roofline/occupancy.h"
#include "tools/advice/advice_facts.h"
#include "tools/advice/advice_on_use.h"
#include "tools/advice/link_facts.h"
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

// --- Where neither roof holds the program: latency, overhead, idle time, copies, waits and
// communication.

constexpr const char* kGraphs = " (torch.compile(model, mode=\"reduce-overhead\"))";
constexpr double kMuchIdle = 0.1, kLongWait = 0.1, kMuchCopying = 0.05;  // of the step

Bound bound_is(const PlotRow& row) { return row.sum.roof.bound; }

// Ranks that wait for a slower one gain nothing from a faster link.
std::string exchange_action(const AdviceFacts& facts, const std::optional<WaitingShare>& waiting) {
  constexpr double kMostly = 0.5;
  if (!waiting || waiting->of_time < kMostly)
    return "Hide communication behind computing: " +
           facts.in_training(
               "larger gradient buckets (DistributedDataParallel(..., "
               "bucket_cap_mb=100)), gradient accumulation, or fewer bytes "
               "(bf16_compress_hook).",
               "start it as soon as its data is ready, in a stream of its own; or "
               "send fewer bytes (narrower types).");
  if (waiting->for_whom.empty())
    return "Even out the ranks: the same amount of work on each in every step, and no host that "
           "comes late. They wait for each other in turn; faster links would not change that.";
  return "Even out the ranks: find what " + waiting->for_whom +
         " takes longer for (compare its report with another's by gable diff: clocks, host, share "
         "of the work). The others wait for it; faster links would not change that.";
}

std::string waiting_text(const std::optional<WaitingShare>& waiting) {
  return waiting ? ", " + percent(waiting->of_time) + " of that waiting for other ranks"
                 : std::string();
}

double time_of_copies(const AdviceFacts& facts) {
  if (facts.unit == Unit::step && facts.report->step.copy_ns) return *facts.report->step.copy_ns;
  double sum = 0;
  for (const CopyRow& copy : facts.report->copies) sum += copy.time_ns.value_or(0);
  return sum;
}

// Of a step. Where nothing says which copies kernels hide, the idle time may be that of copies.
Maybe idle_without_copies(const AdviceFacts& facts) {
  const Step& step = facts.report->step;
  if (facts.unit != Unit::step || !step.idle_ns) return std::nullopt;
  if (step.exposed) return step.idle_ns;
  return std::max(0.0, *step.idle_ns - time_of_copies(facts));
}

void advise_on_launches(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const Step& step = facts.report->step;
  const AdviceFacts::Part overhead =
      facts.part([](const PlotRow& row) { return bound_is(row) == Bound::overhead; });
  // A single launch has nothing to be joined with.
  if (overhead.launches > 1 && overhead.share(facts.kernels_ns) >= kLeastShare) {
    // Graphs and fusion take the latency away, not the kernels; and one launch remains.
    const Maybe idle = idle_without_copies(facts);
    const double most = (overhead.launches - 1) * step.launch_latency_ns.value_or(0);
    advice.push_back({"fewer_launches",
                      "Launch less often: CUDA graphs" + facts.how(kGraphs, "") +
                          ", a larger batch, fused kernels.",
                      digits(overhead.launches) + " launches a " + to_string(facts.unit) +
                          " are shorter than the launch latency of " +
                          duration(step.launch_latency_ns) + ".",
                      idle ? Maybe(std::min(*idle, most)) : std::nullopt});
    place(advice.back(), overhead);
  }
  // At the roofs.
  const auto least = [](const PlotRow& row) {
    const Roof& roof = row.sum.roof;
    return roof.compute_ns && roof.memory_ns ? Maybe(std::max(*roof.compute_ns, *roof.memory_ns))
                                             : std::nullopt;
  };
  const AdviceFacts::Part small =
      facts.part([](const PlotRow& row) { return bound_is(row) == Bound::small; }, least);
  if (small.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"more_parallel_work",
                      "Give each kernel more to do at once: a larger batch, independent work on "
                      "several streams, split-K or another algorithm for small sizes.",
                      percent(small.share(facts.kernels_ns)) +
                          " of the GPU time is kernels with small grids, below " +
                          percent(kLatencyFraction) + " of both roofs.",
                      small.saving_ns});
    place(advice.back(), small);
  }
  const AdviceFacts::Part full =
      facts.part([](const PlotRow& row) { return bound_is(row) == Bound::latency; }, least);
  if (full.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back(
        {"latency",
         "See what the warps wait for: ncu --set full -k regex:NAME. Usual remedies: more loads in "
         "flight (wider loads, unrolled loops), fewer bank conflicts and barriers, "
         "less shared memory or fewer registers a block.",
         percent(full.share(facts.kernels_ns)) + " of the GPU time is kernels below " +
             percent(kLatencyFraction) + " of both roofs whose grids are not known to be small.",
         full.saving_ns});
    place(advice.back(), full);
  }
  const AdviceFacts::Part tail = facts.part(
      [](const PlotRow& row) {
        return row.kernel->has_flag(kTail) && !is_beside_roofs(bound_is(row));
      },
      [](const PlotRow& row) {
        return Maybe(*row.sum.time_total_ns * (1 - tail_share(*row.kernel).value_or(0)));
      });
  if (tail.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"tail",
                      "Fill the last wave of blocks: a grid that is a multiple of what the GPU "
                      "holds at once (another tile or batch size), or blocks that take the next "
                      "piece of work themselves (a persistent kernel, stream-K).",
                      percent(tail.share(facts.kernels_ns)) +
                          " of the GPU time is kernels whose last wave leaves SMs without work.",
                      tail.saving_ns});
    place(advice.back(), tail);
  }
}

// `input` and `waits`: whether these have no item of their own.
std::string busy_action(const AdviceFacts& facts, bool input, bool waits) {
  const std::string loader = input ? "DataLoader(..., num_workers=8, pin_memory=True), " : "";
  const std::string item = waits ? "no .item() or print of GPU values within a step, " : "";
  const std::string no_waits = waits ? "do not wait for the GPU within a step, " : "";
  return "Keep the GPU busy: " +
         facts.how(
             loader + item + "CUDA graphs",
             "prepare input ahead of the step that needs it, " + no_waits + "use CUDA graphs") +
         facts.how(kGraphs, "") + ".";
}

// No step was timed on the GPU: it takes at least as long as the host needs for it.
void advise_on_a_long_host(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const Step& step = facts.report->step;
  if (!step.host_mean_ns || !(facts.kernels_ns > 0)) return;
  const double busy = facts.kernels_ns + time_of_copies(facts);
  const double idle = *step.host_mean_ns - step.sync_ns.value_or(0) - busy;
  if (idle < kMuchIdle * *step.host_mean_ns) return;
  advice.push_back({"idle", busy_action(facts, true, true),
                    "The host takes " + duration(step.host_mean_ns) + " a step, " +
                        (step.sync_ns && *step.sync_ns > 0
                             ? duration(step.sync_ns) + " of that waiting for the GPU, "
                             : std::string()) +
                        "and the kernels " + duration(facts.kernels_ns) +
                        ". How long a step takes on the GPU was not measured.",
                    idle});
}

// What the program does before it launches. Where it says when it fetches its input, that is apart.
void advise_on_idling(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const Step& step = facts.report->step;
  if (facts.unit != Unit::step) return;
  if (!step.wall_mean_ns) {
    advise_on_a_long_host(facts, advice);
    return;
  }
  const bool tells_input = step.critical_path && step.critical_path->input_ns;
  const double input_ns = tells_input ? step.critical_path->input_ns.value_or(0) : 0;
  if (tells_input && step.exposed && step.exposed->without.input &&
      step.exposed->without.input->high_ns >= kMuchIdle * facts.unit_ns) {
    advice.push_back(
        {"input",
         "Load data faster: DataLoader(..., num_workers=8, persistent_workers=True, "
         "pin_memory=True), more of it ahead (prefetch_factor), less work for each sample, "
         "decoding on the GPU.",
         "The program fetches its next input for " + percent(input_ns / facts.unit_ns) +
             " of a step, while nothing else holds the step up.",
         step.exposed->without.input->high_ns});
  }
  // An idle GPU that waits for a copy or for other ranks does not wait for the host, and what the
  // host's waits cost is an item of its own.
  const std::optional<StepSaving> waits =
      step.exposed ? step.exposed->without.waits : std::optional<StepSaving>();
  const Maybe host = step.critical_path && step.exposed
                         ? Maybe(step.critical_path->host_ns - input_ns -
                                 (waits ? waits->high_ns : 0) + step.critical_path->launches_ns)
                         : idle_without_copies(facts);
  const Maybe idle = host && step.idle_ns ? Maybe(std::min(*host, *step.idle_ns)) : std::nullopt;
  if (!idle || *idle < kMuchIdle * facts.unit_ns) return;
  const double copies_ns = step.exposed ? 0 : std::min(time_of_copies(facts), *step.idle_ns);
  advice.push_back(
      {"idle", busy_action(facts, !tells_input, !waits),
       "The GPU idles for " + percent(*step.idle_ns / facts.unit_ns) + " of a step" +
           (copies_ns > 0 ? ", up to " + duration(copies_ns) + " of that for copies" : "") +
           "; fractions of roofs do not show that." +
           (waits ? " " + duration(idle) +
                        " of a step is the host's work between launches, not its waits for the GPU."
                  : std::string()),
       idle});
  place_host(advice.back(), *facts.report);
}

// While kernels run, copies cost nothing. Without recorded steps nothing says which of them do; the
// time in which no kernel runs is then the most that they can cost, and without that their own.
void advise_on_copies(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const Step& step = facts.report->step;
  const double whole = time_of_copies(facts);
  const bool timed = facts.unit == Unit::step && step.wall_mean_ns;
  const double shown = step.exposed            ? step.exposed->without.copies.high_ns
                       : timed && step.idle_ns ? std::min(whole, *step.idle_ns)
                                               : whole;
  if (!(whole > 0) || shown < kMuchCopying * facts.unit_ns) return;
  const HostCopies copies = host_copies(*facts.report);
  const std::string pinned =
      facts.how("DataLoader(..., pin_memory=True), batch.to(device, non_blocking=True)",
                "pinned memory (cudaHostAlloc), cudaMemcpyAsync");
  std::string action = "Overlap copies with computing: " + pinned +
                       " and a stream of their own; or keep the data on the GPU.";
  if (copies.mostly_pageable())
    action = "Copy from pinned memory, and beside computing: " + pinned +
             ". From pageable memory a copy goes through a buffer of the driver, and its call "
             "waits for that.";
  else if (copies.all_pinned())
    action =
        "Overlap copies with computing: " +
        facts.how(
            "batch.to(device, non_blocking=True) in a stream of their own, a batch ahead",
            "cudaMemcpyAsync in a stream of their own, ahead of the step that needs the data") +
        "; or keep the data on the GPU. The host's memory is pinned already.";
  std::string trigger = timed ? "Copies take " + percent(whole / facts.unit_ns) + " of a step"
                              : "Copies take " + duration(whole) + " a " + to_string(facts.unit) +
                                    " and kernels " + duration(facts.kernels_ns) +
                                    "; whether kernels hide them is unknown";
  if (copies.mostly_pageable())
    trigger += "; between host and GPU, copies from or to pageable memory take " +
               percent(copies.pageable_ns / copies.time_ns) + " of the time";
  advice.push_back({"copies", action, trigger + "." + rate_of_copies(*facts.report), shown});
  place_copies(advice.back(), *facts.report);
}

// The innermost layer that waits longest: a parent waits for its children's sake.
const LayerRow* longest_wait(const AdviceFacts& facts) {
  const LayerRow* longest = nullptr;
  for (const LayerRow& layer : facts.report->layers) {
    if (layer.path.empty() || !layer.sync_ns || !layer.span_ns || !(*layer.span_ns > 0)) continue;
    if (*layer.sync_ns <= kLongWait * *layer.span_ns) continue;
    if (*layer.sync_ns < kLeastShare * facts.unit_ns) continue;
    const bool inner = longest == nullptr || *layer.sync_ns > *longest->sync_ns ||
                       (*layer.sync_ns == *longest->sync_ns && layer.depth > longest->depth);
    if (inner) longest = &layer;
  }
  return longest;
}

// A host that waits while the GPU is busy loses nothing; one that has nothing launched ahead when
// it returns lets the GPU idle. By replay without the waits, where steps were recorded.
void advise_on_waits(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const Step& step = facts.report->step;
  if (facts.unit != Unit::step || !step.wall_mean_ns) return;
  const bool replayed = step.critical_path && step.critical_path->waits_ns && step.exposed &&
                        step.exposed->without.waits;
  const double lost_ns = replayed ? step.exposed->without.waits->high_ns : step.idle_ns.value_or(0);
  if (lost_ns < kMuchCopying * facts.unit_ns) return;
  const LayerRow* longest = longest_wait(facts);
  if (longest == nullptr && !replayed) return;
  std::string trigger, path;
  if (replayed)
    trigger = "After waits for the GPU it takes the host " +
              duration(step.critical_path->waits_ns) + " of a step (" +
              percent(*step.critical_path->waits_ns / facts.unit_ns) +
              ") until it launches again; the GPU idles.";
  if (longest != nullptr) {
    for (const std::string& name : longest->path) path += (path.empty() ? "" : "/") + name;
    trigger += std::string(trigger.empty() ? "" : " ") + "The host waits for " +
               duration(longest->sync_ns) + " in " + shorten_middle(path, 60) + ", " +
               percent(*longest->sync_ns / *longest->span_ns) + " of its span.";
  }
  std::string action = "Wait for the GPU less often" +
                       facts.how(" (.item(), .cpu(), synchronize)", "") +
                       ": the host then runs ahead of it.";
  if (replayed)
    action += " Or have it do less between a wait and the next launch" +
              facts.how(
                  ": values read a step later, DataLoader(..., num_workers=8, "
                  "pin_memory=True)",
                  ": values read a step later, input prepared ahead") +
              ".";
  advice.push_back({"waits", action, trigger,
                    replayed ? Maybe(step.exposed->without.waits->high_ns) : std::nullopt});
  if (replayed) place_host(advice.back(), *facts.report);
}

void advise_on_the_rest(const AdviceFacts& facts, std::vector<Advice>& advice) {
  advise_on_launches(facts, advice);
  const Step& step = facts.report->step;
  const bool steps = facts.unit == Unit::step && step.wall_mean_ns;
  advise_on_idling(facts, advice);
  advise_on_copies(facts, advice);
  const AdviceFacts::Part communication =
      facts.part([](const PlotRow& row) { return bound_is(row) == Bound::communication; },
                 [](const PlotRow&) { return Maybe(0.0); });
  // What other kernels hide need not be hidden.
  const double shown =
      step.exposed ? step.exposed->without.communication.high_ns : communication.saving_ns;
  const auto waiting = waiting_share(*facts.report);
  if (communication.share(facts.kernels_ns) >= kMuchIdle &&
      (!step.exposed || shown >= kLeastShare * facts.unit_ns)) {
    advice.push_back({"communication", exchange_action(facts, waiting),
                      percent(communication.share(facts.kernels_ns)) +
                          " of the GPU time is collectives" + waiting_text(waiting) + "." +
                          rate_of_collectives(*facts.report),
                      shown});
    place(advice.back(), communication);
  }
  advise_on_waits(facts, advice);
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
