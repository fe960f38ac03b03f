// SPDX-License-Identifier: Apache-2.0
#include "tools/merge/merge_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analysis/roofline/formula_roofs.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/link_roofs.h"
#include "analysis/roofline/roofline.h"
#include "tools/merge/merge_kernel.h"
#include "tools/merge/saving_bounds.h"

namespace gable {
namespace {

// Sum over GPUs, known where every report that has the row knows it.
struct Sum {
  double value = 0;
  bool known = true, any = false;
  void add(const Maybe& part) {
    any = true;
    known = known && part.has_value();
    value += part.value_or(0);
  }
  [[nodiscard]] Maybe over(double gpus) const {
    return any && known ? Maybe(value / gpus) : std::nullopt;
  }
};

// Means over the forwards of all GPUs that have the layer; known where all of them know it.
struct TokensMerge {
  double forwards = 0;
  std::size_t rows = 0;
  Sum per_forward, per_sequence, wall, host;

  void add(const std::optional<Tokens>& from) {
    if (!from) return;
    ++rows;
    const auto weight = static_cast<double>(from->forwards);
    forwards += weight;
    const auto weighed = [weight](const Maybe& value) {
      return value ? Maybe(*value * weight) : std::nullopt;
    };
    per_forward.add(weighed(from->per_forward));
    per_sequence.add(weighed(from->per_sequence));
    wall.add(weighed(from->wall_ns));
    host.add(weighed(from->host_ns));
  }
  // Of a layer of so many rows.
  [[nodiscard]] std::optional<Tokens> result(std::size_t all) const {
    if (rows < all || !(forwards > 0)) return std::nullopt;
    return Tokens{static_cast<std::uint64_t>(forwards), *per_forward.over(forwards),
                  *per_sequence.over(forwards), wall.over(forwards), host.over(forwards)};
  }
};

struct LayerMerge {
  LayerRow row;  // what all of them have: path, names
  std::size_t parent = 0;
  bool has_parent = false;
  Sum calls, cpu, span, sync, busy, allocated, path, host_path;
  SavingBounds saving, saving_self;
  TokensMerge tokens;
  double squares = 0;
  bool model_same = true, only_copies = true;
  std::size_t models = 0, rows = 0;

  void add(const LayerRow& from, std::int64_t process) {
    ++rows;
    calls.add(from.calls);
    cpu.add(from.cpu_ns);
    span.add(from.span_ns);
    sync.add(from.sync_ns);
    busy.add(from.time_busy_ns);
    path.add(from.path_ns);
    host_path.add(from.host_path_ns);
    saving.add(from.step_saving);
    saving_self.add(from.step_saving_self);
    tokens.add(from.tokens);
    only_copies = only_copies && from.time_total_ns == 0.0;
    if (row.dotted.empty()) row.dotted = from.dotted;
    if (!row.compiled && from.compiled) {
      row.compiled = from.compiled;
      for (SourceModule& module : row.compiled->modules) module.time_ns.reset();  // that rank's
    }
    add_model(from);
    if (!from.time_total_ns) return;
    const double time = *from.time_total_ns;
    RankSpread& spread = row.spread ? *row.spread : row.spread.emplace();
    if (spread.gpus == 0 || time > spread.max_ns) {
      spread.max_ns = time;
      spread.slowest = process;
    }
    spread.min_ns = spread.gpus == 0 ? time : std::min(spread.min_ns, time);
    ++spread.gpus;
    spread.mean_ns += (time - spread.mean_ns) / static_cast<double>(spread.gpus);
    squares += time * time;
  }

  // Formulas of ranks that did the same hold for the mean; of others, nobody's do.
  void add_model(const LayerRow& from) {
    if (!from.model) return;
    allocated.add(from.model->allocated_bytes);
    if (models++ == 0) {
      row.model = from.model;
    } else if (row.model->all.flops != from.model->all.flops ||
               row.model->all.bytes != from.model->all.bytes) {
      model_same = false;
    }
  }

  void finish(double gpus) {
    row.calls = calls.over(gpus);
    row.cpu_ns = cpu.over(gpus);
    row.span_ns = span.over(static_cast<double>(rows));  // a stretch of time, not a sum
    row.sync_ns = sync.over(gpus);
    row.time_busy_ns = busy.over(gpus);
    row.path_ns = path.over(gpus);
    row.host_path_ns = host_path.over(gpus);
    row.step_saving = saving.of(gpus);
    row.step_saving_self = saving_self.of(gpus);
    row.tokens = tokens.result(rows);
    if (only_copies) row.time_total_ns = 0;
    if (row.spread) {
      const auto n = static_cast<double>(row.spread->gpus);
      const double mean = row.spread->mean_ns;
      row.spread->stddev_ns = std::sqrt(std::max(0.0, squares / n - mean * mean));
    }
    if (!row.model) return;
    if (!model_same || static_cast<double>(models) < gpus) {
      row.model.reset();
      return;
    }
    // What was made of one rank's time is not of all of them: it is made again of the mean.
    LayerModel& model = *row.model;
    model.flops_ratio = model.bytes_ratio = model.intensity = std::nullopt;
    model.flops_coverage = model.bytes_coverage = std::nullopt;
    model.flops_per_s = model.bytes_per_s = model.saving_ns = std::nullopt;
    model.allocated_bytes = allocated.over(gpus);
    model.roof = Roof{};
    model.roof.bound = Bound::unknown;
  }
};

class Rows {
 public:
  Rows(const std::vector<Report>& reports, const MergedDevices& devices, Report& out)
      : reports_(reports), devices_(devices), out_(out) {}

  void run() {
    for (std::size_t i = 0; i < reports_.size(); ++i) read(i);
    write_layers();
    write_kernels();
    write_copies();
    fill_link_roofs(out_);
  }

 private:
  using Key = std::tuple<std::int32_t, Direction, std::vector<std::string>>;
  // What keeps kernels of one name apart; knowing a number or not does too.
  static std::string kernel_key(const KernelRow& row, std::size_t layer) {
    std::string key = row.name + '\0' + std::to_string(layer);
    for (const Dim3* dim : {&row.grid, &row.block, &row.cluster}) {
      for (const auto part : {dim->x, dim->y, dim->z}) key += ' ' + std::to_string(part);
    }
    key += ' ' + std::to_string(row.dynamic_shared) + ' ' + to_string(row.time_source);
    for (const bool part : {row.time_mean_ns.has_value(), row.flops.total.has_value(),
                            row.bytes.dram.has_value(), row.graph.has_value(),
                            row.ranges.has_value(), row.collective && row.collective->transfer_ns})
      key += part ? '1' : '0';
    if (row.nodes) key += std::to_string(*row.nodes);
    return key;
  }

  void read(std::size_t i) {
    const Report& report = reports_[i];
    std::unordered_map<std::int64_t, std::size_t> places;
    for (const LayerRow& layer : report.layers) {
      const std::int32_t device = devices_.of(i, layer.device);
      const auto [found, fresh] =
          layer_places_.try_emplace(Key{device, layer.direction, layer.path}, layers_.size());
      if (fresh) {
        LayerMerge& merge = layers_.emplace_back();
        merge.row.path = layer.path;
        merge.row.direction = layer.direction;
        merge.row.device = device;
        merge.row.depth = layer.depth;
        if (layer.parent) {
          const auto parent = places.find(*layer.parent);
          merge.has_parent = parent != places.end();
          if (merge.has_parent) merge.parent = parent->second;
        }
      }
      places[layer.id] = found->second;
      layers_[found->second].add(layer, static_cast<std::int64_t>(i));
    }
    for (const KernelRow& kernel : report.kernels) {
      const auto layer = places.find(kernel.layer);
      if (layer == places.end()) continue;
      const auto [found, fresh] =
          kernel_places_.try_emplace(kernel_key(kernel, layer->second), kernels_.size());
      if (fresh) kernels_.push_back({layer->second, {}});
      kernels_[found->second].merge.add(kernel);
    }
    for (const CopyRow& copy : report.copies) {
      const auto layer = copy.layer ? places.find(*copy.layer) : places.end();
      const std::int64_t place =
          layer == places.end() ? -1 : static_cast<std::int64_t>(layer->second);
      CopySum& sum = copies_[{copy.kind, copy.direction, devices_.of(i, copy.device), place,
                              copy.host_memory}];
      sum.count += copy.count;
      sum.bytes.add(copy.bytes);
      sum.time.add(copy.time_ns);
    }
  }

  // Parents before children; siblings as they were first seen.
  void write_layers() {
    std::vector<std::vector<std::size_t>> children(layers_.size());
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].has_parent) {
        children[layers_[i].parent].push_back(i);
      } else {
        roots.push_back(i);
      }
    }
    ids_.assign(layers_.size(), 0);
    std::vector<std::size_t> stack(roots.rbegin(), roots.rend());
    while (!stack.empty()) {
      const std::size_t place = stack.back();
      stack.pop_back();
      LayerMerge& merge = layers_[place];
      ids_[place] = static_cast<std::int64_t>(out_.layers.size());
      merge.row.id = ids_[place];
      if (merge.has_parent) merge.row.parent = ids_[merge.parent];
      merge.finish(devices_.gpus.at(merge.row.device));
      out_.layers.push_back(std::move(merge.row));
      stack.insert(stack.end(), children[place].rbegin(), children[place].rend());
    }
  }

  void write_kernels() {
    const Roofline roofline(out_.ceilings, out_.step.launch_latency_ns);
    for (const auto& [layer, merge] : kernels_) {
      const LayerRow& own = out_.layers[static_cast<std::size_t>(ids_[layer])];
      KernelRow row = merge.result(devices_.gpus.at(own.device));
      row.layer = own.id;
      row.device = own.device;
      roofline.apply(row);
      out_.kernels.push_back(std::move(row));
    }
    sum_layers(out_, roofline);
    fill_ratios_to_forward(out_.layers);
    fill_formula_roofs(roofline, rows_with_operators(), models_are_timed(), out_.layers);
    std::stable_sort(out_.kernels.begin(), out_.kernels.end(),
                     [](const KernelRow& a, const KernelRow& b) { return a.layer < b.layer; });
  }

  // Those that have operators which are of no layer below them.
  [[nodiscard]] std::vector<bool> rows_with_operators() const {
    constexpr double kRounding = 1e-9;
    std::vector<double> below(out_.layers.size());
    for (const LayerRow& row : out_.layers)
      if (row.parent && row.model && is_of_model(row))
        below[static_cast<std::size_t>(*row.parent)] += row.model->operators;
    std::vector<bool> own(out_.layers.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto& model = out_.layers[i].model;
      own[i] = model && model->operators - below[i] > kRounding * model->operators;
    }
    return own;
  }

  // A report whose steps are not like those that were described has no rate by formula.
  [[nodiscard]] bool models_are_timed() const {
    return std::all_of(reports_.begin(), reports_.end(), [](const Report& report) {
      const auto has_model = [](const LayerRow& row) { return row.model.has_value(); };
      const auto has_rate = [](const LayerRow& row) {
        return row.model && (row.model->flops_per_s || row.model->bytes_per_s);
      };
      return std::none_of(report.layers.begin(), report.layers.end(), has_model) ||
             std::any_of(report.layers.begin(), report.layers.end(), has_rate);
    });
  }

  void write_copies() {
    for (const auto& [key, sum] : copies_) {
      const auto& [kind, direction, device, layer, host_memory] = key;
      const double gpus = devices_.gpus.at(device);
      CopyRow& row = out_.copies.emplace_back();
      row.kind = kind;
      row.direction = direction;
      row.device = device;
      row.host_memory = host_memory;
      if (layer >= 0) row.layer = ids_[static_cast<std::size_t>(layer)];
      row.count = sum.count / gpus;
      row.bytes = sum.bytes.over(gpus);
      row.time_ns = sum.time.over(gpus);
    }
  }

  struct KernelOfLayer {
    std::size_t layer = 0;
    KernelMerge merge;
  };
  struct CopySum {
    double count = 0;
    Sum bytes, time;
  };
  const std::vector<Report>& reports_;
  const MergedDevices& devices_;
  Report& out_;
  std::vector<LayerMerge> layers_;
  std::map<Key, std::size_t> layer_places_;
  std::vector<KernelOfLayer> kernels_;
  std::unordered_map<std::string, std::size_t> kernel_places_;
  std::map<std::tuple<CopyKind, Direction, std::int32_t, std::int64_t, HostMemory>, CopySum>
      copies_;
  std::vector<std::int64_t> ids_;  // of layers_ in the result
};

}  // namespace

void merge_rows(const std::vector<Report>& reports, const MergedDevices& devices, Report& out) {
  Rows(reports, devices, out).run();
}

}  // namespace gable
