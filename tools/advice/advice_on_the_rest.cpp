// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/advice_on_the_rest.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/display.h"
#include "analysis/roofline/occupancy.h"
#include "tools/advice/link_facts.h"

namespace gable {
namespace {

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

// Without copies and communication that nothing hides; no more than a step without the host's work
// between its calls would be shorter, and its launches on the path; and without what other items
// promise of it.
Maybe idle_of_host(const Step& step, double of_others_ns) {
  if (!step.exposed || !step.critical_path) return std::nullopt;
  const double host = step.exposed->without.host.high_ns + step.critical_path->launches_ns;
  return std::max(0.0, std::min(step.exposed->idle_ns, host) - of_others_ns);
}

// Of those that are known; unknown if the first is.
Maybe least_of(const std::vector<Maybe>& values) {
  Maybe least = values.front();
  for (const Maybe& value : values)
    if (least && value) least = std::min(*least, *value);
  return least;
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
  const double of_others = input_ns + (waits ? waits->high_ns : 0);
  const Maybe host =
      step.critical_path && step.exposed
          ? Maybe(step.critical_path->host_ns - of_others + step.critical_path->launches_ns)
          : idle_without_copies(facts);
  const Maybe idle =
      host ? least_of({step.idle_ns, host, idle_of_host(step, of_others)}) : std::nullopt;
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

}  // namespace

double time_of_copies(const AdviceFacts& facts) {
  if (facts.unit == Unit::step && facts.report->step.copy_ns) return *facts.report->step.copy_ns;
  // GPUs copy at the same time.
  std::map<std::int32_t, double> sums;
  double most = 0;
  for (const CopyRow& copy : facts.report->copies)
    most = std::max(most, sums[copy.device] += copy.time_ns.value_or(0));
  return most;
}

void advise_on_the_rest(const AdviceFacts& facts, std::vector<Advice>& advice) {
  advise_on_launches(facts, advice);
  const Step& step = facts.report->step;
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

}  // namespace gable
