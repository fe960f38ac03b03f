// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <tuple>

#include "analysis/base/units.h"
#include "tools/predict/predict.h"

namespace gable {
namespace {

constexpr std::uint64_t kMostBatch = 65536;
constexpr double kMostThatFits = 1e9;
constexpr double kRanksOfANode = 8;  // that NVLink joins in DGX and HGX

Maybe moved(const PlanOperator& of) {
  if (!of.read_bytes || !of.written_bytes) return std::nullopt;
  return *of.read_bytes + *of.written_bytes;
}

// Whether it stays an operator of its own where others are fused into it.
bool stays(const PlanOperator& of) { return !of.flops || *of.flops > 0; }

struct Parts {
  double compute = 0, memory = 0, launch = 0;
};

std::optional<Parts> parts_of(const PlanOperator& of, const GpuSpec& gpu,
                              const PlanOptions& options, Fusion fusion) {
  PredictOptions at;
  at.precision = type_on(of.type, gpu);
  at.efficiency = options.compute;
  const double flops = of.flops.value_or(0);
  const double bytes = (fusion == Fusion::none ? moved(of) : of.fused_bytes).value_or(0);
  const Prediction one = predict(flops, bytes / options.memory, gpu, at);
  if ((flops > 0 && !one.compute_ns) || (bytes > 0 && !one.memory_ns)) return std::nullopt;
  Parts out;
  out.compute = flops > 0 ? *one.compute_ns : 0;
  out.memory = bytes > 0 ? *one.memory_ns : 0;
  out.launch = fusion == Fusion::none || stays(of) ? options.launch_ns : 0;
  return out;
}

bool are_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

// "blocks/7" is "blocks/*", and "block_7" is "block_*".
std::string with_star(const std::string& name) {
  const std::size_t after = name.rfind('_') + 1;  // 0 where there is none
  return are_digits(std::string_view(name).substr(after)) ? name.substr(0, after) + "*" : name;
}

std::vector<std::string> with_stars(std::vector<std::string> path) {
  for (std::string& name : path) name = with_star(name);
  return path;
}

// A value that was found at some batches, at any batch.
class Line {
 public:
  void add(double batch, double value) { points_.emplace_back(batch, value); }
  [[nodiscard]] double at(double batch) const {
    std::size_t right = 1;
    while (right + 1 < points_.size() && points_[right].first < batch) ++right;
    const auto& [x0, y0] = points_[right - 1];
    const auto& [x1, y1] = points_[right];
    return y0 + (y1 - y0) * (batch - x0) / (x1 - x0);
  }

 private:
  std::vector<std::pair<double, double>> points_;
};

// Without that share of a part.
void take_part(const PlanTime& part, double share, PlanTime& of) {
  if (!of.ns || !part.ns) return;
  *of.ns -= share * *part.ns;
  of.compute_ns -= share * part.compute_ns;
  of.memory_ns -= share * part.memory_ns;
  for (const auto& [limit, ns] : part.of) of.of[limit] -= share * ns;
}

// The first of `least` to `most` for which it holds, where it holds for all after the first; 0: it
// holds for none.
std::uint64_t first_where(std::uint64_t most, const std::function<bool(double)>& holds) {
  if (!holds(static_cast<double>(most))) return 0;
  std::uint64_t low = 0, high = most;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (holds(static_cast<double>(middle)) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::string type_on(const std::string& type, const GpuSpec& gpu) {
  return type == "tf32" && !peak_of(gpu, type) ? "fp32" : type;
}

PlanLimit PlanTime::limit() const {
  PlanLimit out = PlanLimit::none;
  double most = 0;
  for (const auto& [limit, ns_of] : of) {
    if (ns_of <= most) continue;
    most = ns_of;
    out = limit;
  }
  return out;
}

double PlanWork::all_flops() const {
  double sum = 0;
  for (const auto& [type, of] : flops) sum += of;
  return sum;
}

std::vector<const PlanOperator*> operators_of(const PlanRun& run) {
  std::vector<const PlanOperator*> out;
  for (const PlanOperator& each : run.operators) out.push_back(&each);
  return out;
}

PlanWork work_of(const std::vector<const PlanOperator*>& operators) {
  PlanWork out;
  for (const PlanOperator* each : operators) {
    out.operators += each->count;
    if (each->flops.value_or(0) > 0) out.flops[each->type] += each->count * *each->flops;
    out.bytes += each->count * moved(*each).value_or(0);
    out.fused_bytes += each->count * each->fused_bytes.value_or(0);
    if (!each->flops || !moved(*each)) out.unknown += each->count;
    if (!each->flops) out.without_flops += each->count;
    if (!moved(*each)) out.without_bytes += each->count;
    if (!each->flops) out.unknown_bytes += each->count * moved(*each).value_or(0);
  }
  return out;
}

PlanTime time_of(const std::vector<const PlanOperator*>& operators, const GpuSpec& gpu,
                 const PlanOptions& options, Fusion fusion) {
  PlanTime out;
  out.ns = 0;
  bool unknown = false;
  for (const PlanOperator* each : operators) {
    const std::optional<Parts> parts = parts_of(*each, gpu, options, fusion);
    if (!parts) return {};
    const double ns = std::max({parts->compute, parts->memory, parts->launch});
    const bool known = each->flops && (fusion == Fusion::none ? moved(*each) : each->fused_bytes);
    unknown = unknown || !known;
    const PlanLimit limit = !known                 ? PlanLimit::unknown
                            : ns <= 0              ? PlanLimit::none
                            : parts->compute == ns ? PlanLimit::compute
                            : parts->memory == ns  ? PlanLimit::memory
                                                   : PlanLimit::launch;
    *out.ns += each->count * ns;
    out.of[limit] += each->count * ns;
    out.compute_ns += each->count * parts->compute;
    out.memory_ns += each->count * parts->memory;
    if (fusion == Fusion::none || stays(*each)) out.launches += each->count;
  }
  if (unknown && *out.ns <= 0) return {};
  return out;
}

std::vector<PlanGroup> groups_of(const Plan& plan, const PlanRun& run) {
  struct Layer {
    std::size_t layer = 0;
    std::vector<const PlanOperator*> operators;
  };
  std::map<std::pair<std::size_t, Direction>, Layer> layers;
  for (const PlanOperator& each : run.operators) {
    Layer& layer = layers[{each.layer, each.direction}];
    layer.layer = each.layer;
    layer.operators.push_back(&each);
  }
  using Work = std::tuple<std::string, std::string, Maybe, Maybe, Maybe, Maybe, double>;
  using Key =
      std::tuple<std::vector<std::string>, Direction, std::string, double, std::vector<Work>>;
  std::map<Key, std::size_t> places;
  std::vector<PlanGroup> out;
  for (const auto& [place, layer] : layers) {
    const PlanLayer& of = plan.layers[layer.layer];
    std::vector<Work> work;
    for (const PlanOperator* each : layer.operators)
      work.emplace_back(each->name, each->type, each->flops, each->read_bytes, each->written_bytes,
                        each->fused_bytes, each->count);
    std::sort(work.begin(), work.end());
    const Key key{with_stars(of.path), place.second, of.kind, of.parameters, work};
    const auto [found, fresh] = places.emplace(key, out.size());
    if (fresh) {
      out.push_back({of.path, place.second, of.kind, 1, of.parameters, layer.operators});
      continue;
    }
    PlanGroup& group = out[found->second];
    for (std::size_t i = 0; i < group.path.size(); ++i)
      if (group.path[i] != of.path[i]) group.path[i] = with_star(of.path[i]);
    group.layers += 1;
    group.parameters += of.parameters;
    group.operators.insert(group.operators.end(), layer.operators.begin(), layer.operators.end());
  }
  return out;
}

std::string PlanGroup::name() const {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : "/") + part;
  return out;
}

double memory_of(const Plan& plan, const PlanRun& run, const PlanOptions& options) {
  const double all = plan.parameter_bytes + plan.buffer_bytes + run.input_bytes + run.peak_bytes +
                     run.kv_bytes.value_or(0) +
                     (plan.training ? plan.training->optimizer_bytes : 0);
  if (!options.sharded || options.ranks <= 1) return all;
  double shared = plan.parameter_bytes, largest = 0;
  if (plan.training) shared += plan.training->gradient_bytes + plan.training->optimizer_bytes;
  for (const PlanLayer& layer : plan.layers) largest = std::max(largest, layer.parameters);
  const double element = plan.parameters > 0 ? plan.parameter_bytes / plan.parameters : 0;
  return all - shared * (1 - 1 / options.ranks) + largest * element;
}

PlanExchange exchange_of(const Plan& plan, const GpuSpec& gpu, const PlanOptions& options) {
  PlanExchange out;
  if (options.ranks <= 1) {
    out.ns = 0;
    return out;
  }
  const double others = (options.ranks - 1) / options.ranks;
  const double gradients = plan.training ? plan.training->gradient_bytes : 0;
  out.bytes = options.sharded
                  ? others * (plan.parameter_bytes * (plan.training ? 2 : 1) + gradients)
                  : 2 * others * gradients;
  if (options.link > 0) {
    out.link = options.link;
  } else if (options.ranks <= kRanksOfANode) {
    for (const Ceiling& link : link_ceilings_of(gpu, 0))
      if (link.name == "nvlink") out.link = link.value;
  }
  out.ns = out.bytes > 0 ? quotient(out.bytes, out.link, kNsPerSecond) : Maybe(0);
  return out;
}

Maybe PlanRow::hidden_ns(Fusion fusion) const {
  const Maybe& ns = fusion == Fusion::none ? unfused.ns : fused.ns;
  return ns && exchange.ns ? Maybe(std::max(*ns, *exchange.ns)) : std::nullopt;
}

Maybe PlanRow::exposed_ns(Fusion fusion) const {
  const Maybe& ns = fusion == Fusion::none ? unfused.ns : fused.ns;
  return ns && exchange.ns ? Maybe(*ns + *exchange.ns) : std::nullopt;
}

PlanRow row_of(const Plan& plan, const PlanRun& run, const GpuSpec& gpu,
               const PlanOptions& options) {
  PlanRow out{&gpu, &run, memory_of(plan, run, options), true, {}, {}, {}};
  out.fits = gpu.memory_gb <= 0 || out.memory_bytes <= gpu.memory_gb * kGiga;
  const std::vector<const PlanOperator*> all = operators_of(run);
  out.unfused = time_of(all, gpu, options, Fusion::none);
  out.fused = time_of(all, gpu, options, Fusion::full);
  if (options.sharded && options.ranks > 1) {
    std::vector<const PlanOperator*> optimizer;
    for (const PlanOperator* each : all)
      if (each->direction == Direction::none) optimizer.push_back(each);
    for (const auto& [time, fusion] :
         {std::pair(&out.unfused, Fusion::none), std::pair(&out.fused, Fusion::full)})
      take_part(time_of(optimizer, gpu, options, fusion), 1 - 1 / options.ranks, *time);
  }
  for (PlanTime* each : {&out.unfused, &out.fused})
    if (each->ns) *each->ns += options.overhead_ns;
  out.exchange = exchange_of(plan, gpu, options);
  return out;
}

PlanBatches batches_of(const Plan& plan, const GpuSpec& gpu, const PlanOptions& options) {
  PlanBatches out;
  if (plan.runs.size() < 2) return out;
  Line memory;
  std::array<Line, 2> compute, moves;
  bool known = true;
  for (const PlanRun& run : plan.runs) {
    const double batch = static_cast<double>(run.batch);
    memory.add(batch, memory_of(plan, run, options));
    for (const Fusion fusion : {Fusion::none, Fusion::full}) {
      const PlanTime time = time_of(operators_of(run), gpu, options, fusion);
      known = known && time.ns.has_value();
      const std::size_t place = fusion == Fusion::none ? 0 : 1;
      compute.at(place).add(batch, time.compute_ns);
      moves.at(place).add(batch, time.memory_ns);
    }
  }
  const auto bound_from = [&](std::size_t place) {
    return first_where(kMostBatch, [&](double batch) {
      return compute.at(place).at(batch) > moves.at(place).at(batch);
    });
  };
  if (known) {
    out.compute_unfused = bound_from(0);
    out.compute_fused = bound_from(1);
  }
  if (gpu.memory_gb > 0) {
    const double size = gpu.memory_gb * kGiga;
    const std::uint64_t too_large =
        first_where(static_cast<std::uint64_t>(kMostThatFits),
                    [&](double batch) { return memory.at(batch) > size; });
    if (too_large > 0) out.most_that_fits = too_large - 1;
  }
  return out;
}

Maybe samples_per_s(const PlanRow& row, Fusion fusion, double ranks) {
  return quotient(ranks * static_cast<double>(row.run->batch), row.hidden_ns(fusion), kNsPerSecond);
}

Maybe tokens_per_s(const PlanRow& row, Fusion fusion, double ranks) {
  const Maybe samples = samples_per_s(row, fusion, ranks);
  if (!samples || !row.run->tokens_per_sample) return std::nullopt;
  return *samples * *row.run->tokens_per_sample;
}

}  // namespace gable
