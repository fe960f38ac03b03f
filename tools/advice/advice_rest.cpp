// SPDX-License-Identifier: Apache-2.0
// Where neither roof holds the program.
#include <algorithm>

#include "analysis/base/display.h"
#include "tools/advice/advice_rules.h"

namespace gable {
namespace {

constexpr double kMuchIdle = 0.1, kLongWait = 0.1, kMuchCopying = 0.05;  // of the step

std::string bound_is(const PlotRow& row) { return row.sum.roof.bound; }

void advise_on_launches(const AdviceFacts& facts, std::vector<Advice>& advice) {
  const Step& step = facts.report->step;
  const AdviceFacts::Part overhead =
      facts.part([](const PlotRow& row) { return bound_is(row) == "overhead"; });
  if (overhead.launches > 0 && overhead.share(facts.kernels_ns) >= kLeastShare) {
    // Graphs and fusion take the latency away, not the kernels.
    const Maybe idle = facts.unit == "step" ? step.idle_ns : std::nullopt;
    const double most = overhead.launches * step.launch_latency_ns.value_or(0);
    advice.push_back({"fewer_launches",
                      "Launch less often: CUDA graphs (torch.compile mode reduce-overhead), a "
                      "larger batch, fused kernels.",
                      digits(overhead.launches) + " launches a " + facts.unit +
                          " are shorter than the launch latency of " +
                          duration(step.launch_latency_ns) + ".",
                      idle ? Maybe(std::min(*idle, most)) : std::nullopt});
  }
  const AdviceFacts::Part latency =
      facts.part([](const PlotRow& row) { return bound_is(row) == "latency"; },
                 [](const PlotRow& row) {
                   const Roof& roof = row.sum.roof;
                   return roof.compute_ns && roof.memory_ns
                              ? Maybe(std::max(*roof.compute_ns, *roof.memory_ns))
                              : std::nullopt;
                 });
  if (latency.saving_ns >= kLeastShare * facts.unit_ns) {
    advice.push_back({"more_parallel_work",
                      "Give each kernel more to do at once: a larger batch, independent work on "
                      "several streams, split-K or another algorithm for small sizes.",
                      percent(latency.share(facts.kernels_ns)) +
                          " of the GPU time is kernels below " + percent(kLatencyFraction) +
                          " of both roofs.",
                      latency.saving_ns});
  }
}

}  // namespace

void advise_on_the_rest(const AdviceFacts& facts, std::vector<Advice>& advice) {
  advise_on_launches(facts, advice);
  const Step& step = facts.report->step;
  const bool steps = facts.unit == "step" && step.wall_mean_ns;
  if (steps && step.idle_ns && *step.idle_ns >= kMuchIdle * facts.unit_ns) {
    advice.push_back({"idle",
                      "Keep the GPU busy: more workers for loading data, prefetching, no .item() "
                      "or print of GPU values within a step, CUDA graphs.",
                      "The GPU idles for " + percent(*step.idle_ns / facts.unit_ns) +
                          " of a step; fractions of roofs do not show that.",
                      step.idle_ns});
  }
  if (steps && step.copy_ns && *step.copy_ns >= kMuchCopying * facts.unit_ns) {
    advice.push_back({"copies",
                      "Overlap copies with computing: pinned memory, non_blocking=True, a stream "
                      "of their own; or keep the data on the GPU.",
                      "Copies take " + percent(*step.copy_ns / facts.unit_ns) + " of a step.",
                      step.copy_ns});
  }
  const AdviceFacts::Part communication =
      facts.part([](const PlotRow& row) { return bound_is(row) == "communication"; },
                 [](const PlotRow&) { return Maybe(0.0); });
  if (communication.share(facts.kernels_ns) >= kMuchIdle) {
    advice.push_back(
        {"communication",
         "Hide communication behind computing: larger buckets, gradient "
         "accumulation, or fewer bytes (BF16 gradients).",
         percent(communication.share(facts.kernels_ns)) + " of the GPU time is collectives.",
         communication.saving_ns});
  }
  // A host that waits while the GPU is busy loses nothing.
  if (!steps || step.idle_ns.value_or(0) < kMuchCopying * facts.unit_ns) return;
  // The innermost layers that wait: a parent waits for its children's sake.
  const LayerRow* longest = nullptr;
  for (const LayerRow& layer : facts.report->layers) {
    if (layer.path.empty() || !layer.sync_ns || !layer.span_ns || !(*layer.span_ns > 0)) continue;
    if (*layer.sync_ns <= kLongWait * *layer.span_ns) continue;
    if (*layer.sync_ns < kLeastShare * facts.unit_ns) continue;
    const bool inner = longest == nullptr || *layer.sync_ns > *longest->sync_ns ||
                       (*layer.sync_ns == *longest->sync_ns && layer.depth > longest->depth);
    if (inner) longest = &layer;
  }
  if (longest != nullptr) {
    std::string path;
    for (const std::string& name : longest->path) path += (path.empty() ? "" : "/") + name;
    advice.push_back({"waits",
                      "Wait for the GPU less often (.item(), .cpu(), synchronize): the host then "
                      "runs ahead and launches stay cheap.",
                      "The host waits for " + duration(longest->sync_ns) + " in " +
                          shorten_middle(path, 60) + ", " +
                          percent(*longest->sync_ns / *longest->span_ns) + " of its span.",
                      std::nullopt});
  }
}

}  // namespace gable
