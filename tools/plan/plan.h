// SPDX-License-Identifier: Apache-2.0
// How long the operators of a plan take at least on a GPU, by its published roofs. docs/plan.md has
// the formulas.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/gpus/gpu_catalogue.h"
#include "tools/plan/plan_file.h"

namespace gable {

struct PlanOptions {
  double compute = 1, memory = 1;  // shares of the roofs that are reached, above 0 and up to 1
  double launch_ns = 0;            // no operator takes less
  double overhead_ns = 0;          // added to a step once
  double ranks = 1;                // GPUs, each with a batch of its own
  bool sharded = false;            // parameters, gradients and the optimizer are divided among them
  double link = 0;                 // byte/s between GPUs, each way; 0: NVLink's, within a node
};

// Operators as they are, each reading and writing memory; or all without FLOPs fused into others.
enum class Fusion { none, full };

// unknown: of an operator whose work is.
enum class PlanLimit { none, unknown, compute, memory, launch };
template <>
inline constexpr auto kWordsOf<PlanLimit> =
    std::to_array<Word<PlanLimit>>({{PlanLimit::none, "-"},
                                    {PlanLimit::unknown, "unknown"},
                                    {PlanLimit::compute, "compute"},
                                    {PlanLimit::memory, "memory"},
                                    {PlanLimit::launch, "launch"}});

// The type as a GPU computes in it: TF32 is FP32 where there is no such unit, as in PyTorch.
[[nodiscard]] std::string type_on(const std::string& type, const GpuSpec& gpu);

// time of an operator = max(FLOP / (peak of its type x compute), bytes / (bandwidth x memory),
//                           launch)
// A part that is unknown counts 0, as times are lower bounds; the type's missing peak makes a time
// unknown, and so does a sum of nothing but unknown parts.
struct PlanTime {
  Maybe ns;               // sum over operators
  double compute_ns = 0;  // sums over operators of each part; where `ns` is known
  double memory_ns = 0;
  double launches = 0;
  std::map<PlanLimit, double> of;         // ns of the operators that each limit holds
  [[nodiscard]] PlanLimit limit() const;  // with most of the time
};

// One layer and direction, or the whole.
struct PlanWork {
  std::map<std::string, double> flops;  // by type, without types that do none
  double bytes = 0, fused_bytes = 0;    // without unknown ones
  double operators = 0;
  // Operators without a formula, those whose bytes are unknown, and those of either kind.
  double without_flops = 0, without_bytes = 0, unknown = 0;
  double unknown_bytes = 0;  // what those without a formula move
  [[nodiscard]] double all_flops() const;
};

[[nodiscard]] std::vector<const PlanOperator*> operators_of(const PlanRun& run);
[[nodiscard]] PlanWork work_of(const std::vector<const PlanOperator*>& operators);
[[nodiscard]] PlanTime time_of(const std::vector<const PlanOperator*>& operators,
                               const GpuSpec& gpu, const PlanOptions& options, Fusion fusion);

// Operators of equal layers: of one direction, with equal work, and names that differ in numbers.
struct PlanGroup {
  std::vector<std::string> path;  // of all of them; "*" where they differ
  Direction direction = Direction::none;
  std::string kind;
  double layers = 1;
  double parameters = 0;  // of all of them
  std::vector<const PlanOperator*> operators;
  [[nodiscard]] std::string name() const;  // "ResNet/layer1/*/conv1"
};
[[nodiscard]] std::vector<PlanGroup> groups_of(const Plan& plan, const PlanRun& run);

// What must lie in memory at that batch: parameters, buffers, inputs, what the optimizer keeps, the
// most that the run has at once, and keys and values. Of what is sharded a rank has its part, and
// all parameters of the largest layer.
[[nodiscard]] double memory_of(const Plan& plan, const PlanRun& run,
                               const PlanOptions& options = {});

// What ranks exchange in a step, over the link of one of them, by rings (n ranks):
//   gradients, each rank with all parameters   2 (n - 1) / n x bytes
//   sharded: gather parameters, in backward again, and scatter gradients   (n - 1) / n x bytes each
struct PlanExchange {
  double bytes = 0;  // on the bus
  Maybe link, ns;    // byte/s of the link; empty if it is not known
};
[[nodiscard]] PlanExchange exchange_of(const Plan& plan, const GpuSpec& gpu,
                                       const PlanOptions& options);

// What a GPU does with one run.
struct PlanRow {
  const GpuSpec* gpu = nullptr;
  const PlanRun* run = nullptr;
  double memory_bytes = 0;
  bool fits = true;
  PlanTime unfused, fused;  // a step's, with the overhead, before ranks exchange anything
  PlanExchange exchange;
  // The whole step if computing hides the exchange as far as it can, and if it hides nothing.
  [[nodiscard]] Maybe hidden_ns(Fusion fusion) const;
  [[nodiscard]] Maybe exposed_ns(Fusion fusion) const;
};

// Of one GPU, from how the sums grow between the batches that were run, and in a straight line
// beyond them. Empty: one batch alone was run, or a sum is unknown.
struct PlanBatches {
  // The smallest batch at which the sum over operators of compute is above that of memory; 0: none
  // up to 65,536.
  std::optional<std::uint64_t> compute_unfused, compute_fused;
  std::optional<std::uint64_t> most_that_fits;  // 0: not even one
};

[[nodiscard]] PlanRow row_of(const Plan& plan, const PlanRun& run, const GpuSpec& gpu,
                             const PlanOptions& options);
[[nodiscard]] PlanBatches batches_of(const Plan& plan, const GpuSpec& gpu,
                                     const PlanOptions& options);

// Per second and over all ranks, whose exchange is hidden as far as it can be: samples, or tokens
// where a sample has some. Unknown with the time.
[[nodiscard]] Maybe samples_per_s(const PlanRow& row, Fusion fusion, double ranks = 1);
[[nodiscard]] Maybe tokens_per_s(const PlanRow& row, Fusion fusion, double ranks = 1);

}  // namespace gable
