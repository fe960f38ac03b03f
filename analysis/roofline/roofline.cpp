// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/roofline.h"

#include <algorithm>

#include "analysis/base/units.h"
#include "analysis/events/collective.h"
#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/occupancy.h"
#include "analysis/roofline/work.h"

namespace gable {
namespace {

constexpr double kRounding = 1e-9;  // share of a time

// One pipe of the SM: types share it, so their times add up.
struct Pipe {
  bool known = true;
  double ns = 0;
  std::string ceiling;  // of the type that takes longest
  double longest = -1;

  void add(double operations, const Maybe& ceiling_value, const std::string& name) {
    if (operations <= 0) return;
    if (!ceiling_value || *ceiling_value <= 0) {
      known = false;
      return;
    }
    const double time = operations / *ceiling_value * kNsPerSecond;
    ns += time;
    if (time > longest) {
      longest = time;
      ceiling = name;
    }
  }
};

Maybe larger(const Maybe& a, const Maybe& b) {
  return a && b ? Maybe(std::max(*a, *b)) : std::nullopt;
}

}  // namespace

Maybe RoofTimes::min_ns() const {
  if (!compute_ns || !memory_ns) return std::nullopt;
  return std::max(*compute_ns, *memory_ns);
}

Maybe least_ns(const RoofTimes& times, const KernelRow& kernel) {
  const Maybe least = times.min_ns();
  if (least || !kernel.metrics || !kernel.time_mean_ns) return least;
  const Maybe busiest =
      larger(kernel.metrics->compute_throughput, kernel.metrics->memory_throughput);
  return busiest ? Maybe(*busiest * *kernel.time_mean_ns) : std::nullopt;
}

Roofline::Roofline(const std::vector<Ceiling>& ceilings, Maybe launch_latency_ns)
    : launch_latency_ns_(launch_latency_ns) {
  for (const Ceiling& ceiling : ceilings) {
    Ceiling& known = ceilings_[{ceiling.device, ceiling.name}];
    if (known.name.empty() || preference(ceiling) > preference(known)) known = ceiling;
  }
}

Maybe Roofline::ceiling(std::int32_t device, const std::string& name) const {
  const auto found = ceilings_.find({device, name});
  if (found == ceilings_.end()) return std::nullopt;
  return found->second.value;
}

std::string Roofline::source(std::int32_t device, const std::string& name) const {
  const auto found = ceilings_.find({device, name});
  if (found == ceilings_.end()) return {};
  return found->second.source.substr(0, found->second.source.find(':'));
}

RoofTimes Roofline::times(const KernelRow& kernel) const {
  RoofTimes times;
  const auto roof = [&](const std::string& name) { return ceiling(kernel.device, name); };
  if (kernel.flops.total) {
    Pipe fp64, fma, tensor;
    fp64.add(kernel.flops.fp64.value_or(0), roof("fp64"), "fp64");
    fma.add(kernel.flops.fp32.value_or(0), roof("fp32"), "fp32");
    fma.add(kernel.flops.fp16.value_or(0), roof("fp16"), "fp16");
    const std::map<std::string, double> sparse = sparse_operations(kernel.counters);
    for (const auto* types : {&kernel.flops.tensor, &kernel.ops}) {
      for (const auto& [type, operations] : *types) {
        const double all = operations.value_or(0);
        const auto found = sparse.find(type);
        const std::string name = tensor_ceiling_name(type), fast = sparse_ceiling_name(type);
        const double fast_part =
            found == sparse.end() || !roof(fast) ? 0 : std::min(found->second, all);
        tensor.add(all - fast_part, roof(name), name);
        tensor.add(fast_part, roof(fast), fast);
      }
    }
    const Pipe* longest = &fma;
    for (const Pipe* pipe : {&fp64, &tensor}) {
      if (pipe->ns > longest->ns) longest = pipe;
    }
    const bool any_roof = std::any_of(ceilings_.begin(), ceilings_.end(), [&](const auto& each) {
      return each.first.first == kernel.device && each.second.kind == CeilingKind::compute;
    });
    if (any_roof && fp64.known && fma.known && tensor.known) {
      times.compute_ns = longest->ns;
      times.compute_ceiling = longest->ceiling;
    }
  }
  const std::pair<MemoryLevel, const Maybe&> levels[] = {{MemoryLevel::dram, kernel.bytes.dram},
                                                         {MemoryLevel::l2, kernel.bytes.l2},
                                                         {MemoryLevel::l1, kernel.bytes.l1}};
  for (const auto& [level, bytes] : levels) {
    const Maybe ns = quotient(bytes, roof(to_string(level)), kNsPerSecond);
    if (!ns || (times.memory_ns && *ns <= *times.memory_ns)) continue;
    times.memory_ns = ns;
    times.memory_ceiling = word_of(level);
    times.memory_level = level;
  }
  // Without DRAM's bytes a cache's roof would only be a lower one.
  if (!kernel.bytes.dram) times.memory_ns.reset();
  return times;
}

Bound bound_of(const BoundFacts& facts) {
  if (facts.communicates) return Bound::communication;
  if (facts.launch_ns && facts.latency_ns && *facts.launch_ns < *facts.latency_ns)
    return Bound::overhead;
  const Maybe busiest = larger(facts.compute_throughput, facts.memory_throughput);
  const Maybe reached = facts.fraction ? facts.fraction : busiest;
  if (!reached) return Bound::unknown;
  if (*reached < kLatencyFraction) return facts.small ? Bound::small : Bound::latency;
  const bool memory =
      facts.fraction ? facts.memory : *facts.memory_throughput >= *facts.compute_throughput;
  return memory ? Bound::memory : Bound::compute;
}

void Roofline::apply(KernelRow& kernel) const {
  const Maybe time = kernel.time_mean_ns;
  kernel.intensity.dram = quotient(kernel.flops.total, kernel.bytes.dram);
  kernel.intensity.l2 = quotient(kernel.flops.total, kernel.bytes.l2);
  kernel.intensity.l1 = quotient(kernel.flops.total, kernel.bytes.l1);
  kernel.flops_per_s = quotient(kernel.flops.total, time, kNsPerSecond);
  kernel.bytes_per_s = quotient(kernel.bytes.dram, time, kNsPerSecond);

  Roof& roof = kernel.roof;
  roof = Roof{};
  const RoofTimes times = this->times(kernel);
  const Maybe least = times.min_ns();
  const bool memory = least && *times.memory_ns >= *times.compute_ns;
  roof.compute_ns = times.compute_ns;
  roof.memory_ns = times.memory_ns;
  if (least) {
    roof.fraction = quotient(least, time);
    roof.ceiling = memory ? times.memory_ceiling : times.compute_ceiling;
    roof.level = memory ? times.memory_level : MemoryLevel::none;
    roof.source = source(kernel.device, roof.ceiling);
  }
  const SetMetrics metrics = kernel.metrics.value_or(SetMetrics());
  roof.bound = bound_of({.communicates = is_collective(kernel.name),
                         .launch_ns = time,
                         .latency_ns = launch_latency_ns_,
                         .fraction = roof.fraction,
                         .small = kernel.has_flag(kSmallGrid),
                         .memory = memory,
                         .compute_throughput = metrics.compute_throughput,
                         .memory_throughput = metrics.memory_throughput});
  std::erase(kernel.flags, kTail);
  if (tail_share(kernel).value_or(0) > kWorthTail) kernel.flags.emplace_back(kTail);
  if (const Maybe possible = least_ns(times, kernel); possible && time)
    kernel.saving_ns =
        *time - *possible > kRounding * *time ? (*time - *possible) * kernel.launches : 0;
  if (roof.fraction && *roof.fraction > 1) kernel.flags.emplace_back("above_roof");
}

}  // namespace gable
