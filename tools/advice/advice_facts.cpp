// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/advice_facts.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/base/display.h"
#include "analysis/events/layer_tree.h"
#include "analysis/report/layers_by_id.h"
#include "tools/plot/own_work.h"

namespace gable {
namespace {

constexpr std::size_t kNamed = 3;

std::vector<AdvicePlace> sorted(const std::map<std::string, AdvicePlace>& places) {
  std::vector<AdvicePlace> out;
  out.reserve(places.size());
  for (const auto& [key, place] : places) out.push_back(place);
  std::stable_sort(out.begin(), out.end(), [](const AdvicePlace& a, const AdvicePlace& b) {
    return std::pair(a.saving_ns, a.time_ns) > std::pair(b.saving_ns, b.time_ns);
  });
  return out;
}

// The function alone, as `ncu -k` takes it: without type, namespaces, template and parameters.
std::string function_name(std::string name) {
  static const std::string kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = name.find(kAnonymous); at != std::string::npos; at = name.find(kAnonymous))
    name.erase(at, kAnonymous.size());
  // "(other)" and graphs are in brackets as a whole.
  const std::size_t end = name.find_first_of("<(");
  if (end == std::string::npos || end == 0) return name;
  const std::size_t begin = name.find_last_of(" :", end - 1);
  std::string out = name.substr(begin == std::string::npos ? 0 : begin + 1,
                                end - (begin == std::string::npos ? 0 : begin + 1));
  return out.empty() ? name : out;
}

// "a, b, c and 4 more".
std::string first_of(const std::vector<AdvicePlace>& places, bool directions) {
  constexpr std::size_t kWidth = 40;
  std::string text;
  std::set<std::string> named;  // those of another GPU, or shortened ones, may look the same
  std::size_t count = 0;
  for (const AdvicePlace& place : places) {
    if (count == kNamed) break;
    std::string name = shorten_middle(one_line(place.name), kWidth);
    if (directions && place.direction != Direction::none)
      name += " (" + to_string(place.direction) + ")";
    if (!named.insert(name).second) continue;
    text += (text.empty() ? "" : ", ") + name;
    ++count;
  }
  if (places.size() > count) text += " and " + std::to_string(places.size() - count) + " more";
  return text;
}

// Of a row's time: off the critical path nothing can be gained. 1 where that is not known.
double path_share(const Maybe& path_ns, double time_ns) {
  return path_ns && time_ns > 0 ? std::min(1.0, *path_ns / time_ns) : 1;
}

// What only PyTorch leaves in a report: module names, formulas of its operators, steps that its own
// calls end, its kernels, its profiler.
bool runs_torch(const Report& report) {
  const std::string& border = report.run.steps.border;
  return border == "optimizer" || border == "forward" ||
         std::any_of(report.layers.begin(), report.layers.end(),
                     [](const LayerRow& row) {
                       return !row.dotted.empty() || row.model || row.compiled;
                     }) ||
         std::any_of(report.kernels.begin(), report.kernels.end(),
                     [](const KernelRow& row) {
                       return row.name.find("at::native") != std::string::npos;
                     }) ||
         std::any_of(report.run.notes.begin(), report.run.notes.end(), [](const std::string& note) {
           return note.find("times from PyTorch's profiler (") != std::string::npos;
         });
}

// Forwards were seen, and nothing of a backward.
bool only_infers(const Report& report) {
  const auto has = [&report](Direction direction) {
    return std::any_of(report.layers.begin(), report.layers.end(),
                       [direction](const LayerRow& row) { return row.direction == direction; });
  };
  const std::string& border = report.run.steps.border;
  return (border == "forward" || has(Direction::forward)) && border != "optimizer" &&
         !has(Direction::backward) && !has(Direction::recompute);
}

}  // namespace

std::string AdviceFacts::how(const std::string& in_torch, const std::string& elsewhere) const {
  return torch ? in_torch : elsewhere;
}

std::string AdviceFacts::in_training(const std::string& in_torch,
                                     const std::string& otherwise) const {
  return torch && !inference ? in_torch : otherwise;
}

AdviceFacts::Part AdviceFacts::part(const std::function<bool(const PlotRow&)>& fits,
                                    const std::function<Maybe(const PlotRow&)>& least) const {
  Part sum;
  bool computes = false;
  for (const PlotRow& row : kernels) {
    if (!row.sum.time_total_ns || !fits(row)) continue;
    const double time = *row.sum.time_total_ns;
    ++sum.rows;
    sum.time_ns += time;
    sum.launches += row.sum.launches.value_or(0);
    const Maybe left = least ? least(row) : std::nullopt;
    double saving = left && *left < time ? (time - *left) * path_share(row.sum.path_ns, time) : 0;
    // What was replayed with the kernel at its roofs bounds every change that leaves these.
    const Roof& roof = row.sum.roof;
    if (row.sum.step_saving && left && roof.compute_ns && roof.memory_ns &&
        *left >= std::max(*roof.compute_ns, *roof.memory_ns))
      saving = std::min(saving, row.sum.step_saving->high_ns);
    sum.saving_ns += saving;
    sum.each.emplace_back(&row, saving);
    computes = computes || row.sum.roof.bound != Bound::communication;
  }
  // Then communication, copies or the host are the limit.
  if (const auto& exposed = report->step.exposed; exposed && computes) {
    const double most = exposed->without.compute.high_ns;
    sum.saving_ns = std::min(sum.saving_ns, most);
    for (auto& [row, saving] : sum.each) saving = std::min(saving, most);
  }
  return sum;
}

std::optional<OccupancyLimit> AdviceFacts::occupancy_limit(const PlotRow& row) const {
  for (const DeviceInfo& device : report->devices) {
    if (device.id == row.kernel->device) return gable::occupancy_limit(device, *row.kernel);
  }
  return std::nullopt;
}

bool memory_holds(const PlotRow& row) {
  const Roof& roof = row.sum.roof;
  return roof.compute_ns && roof.memory_ns && *roof.memory_ns >= *roof.compute_ns &&
         *roof.memory_ns > 0 && !is_beside_roofs(roof.bound);
}

bool has_layer(const PlotRow& row) { return row.layer != nullptr && !row.layer->path.empty(); }

void place(Advice& advice, const AdviceFacts::Part& part) {
  std::map<std::string, AdvicePlace> layers, kernels;
  const auto add = [](std::map<std::string, AdvicePlace>& to, const std::string& key,
                      const std::string& name, const PlotRow& row, double saving) {
    AdvicePlace& at = to[key];
    at.name = name;
    at.direction = row.direction;
    at.device = row.sum.device;
    at.time_ns += *row.sum.time_total_ns;
    at.saving_ns += saving;
  };
  for (const auto& [row, saving] : part.each) {
    if (has_layer(*row)) {
      const std::string path = shown_path(row->layer->path);
      add(layers, path + "\n" + to_string(row->layer->direction) + std::to_string(row->sum.device),
          path, *row, saving);
    }
    const std::string function = function_name(row->name);
    add(kernels, function, function, *row, saving);
  }
  advice.layers = sorted(layers);
  advice.kernels = sorted(kernels);
  if (!advice.layers.empty()) advice.where = "Layers: " + first_of(advice.layers, true) + ".";
  if (!advice.kernels.empty())
    advice.where +=
        (advice.where.empty() ? "Kernels: " : " Kernels: ") + first_of(advice.kernels, false) + ".";
}

void place_host(Advice& advice, const Report& report) {
  constexpr double kWorthNaming = 0.01;  // of the step
  if (!report.step.graph) return;
  for (const HostPart& part : own_host_parts(report, kWorthNaming * report.step.graph->wall_ns)) {
    if (part.layer->path.empty()) continue;
    advice.layers.push_back({shown_path(part.layer->path), part.layer->direction,
                             part.layer->device, part.ns,
                             std::min(part.ns, advice.saving_ns.value_or(part.ns))});
  }
  if (!advice.layers.empty())
    advice.where = "The host is busy before it launches: " + first_of(advice.layers, true) + ".";
}

void place_copies(Advice& advice, const Report& report) {
  const LayersById rows(report);
  std::map<std::string, AdvicePlace> layers;
  for (const CopyRow& copy : report.copies) {
    const LayerRow* row = copy.layer ? rows.find(*copy.layer) : nullptr;
    if (row == nullptr || row->path.empty()) continue;
    const std::string path = shown_path(row->path);
    AdvicePlace& at = layers[path + "\n" + to_string(copy.direction)];
    at.name = path;
    at.direction = copy.direction;
    at.device = copy.device;
    at.time_ns += copy.time_ns.value_or(0);
  }
  advice.layers = sorted(layers);
  if (!advice.layers.empty()) advice.where = "Layers: " + first_of(advice.layers, true) + ".";
}

AdviceFacts advice_facts(const Report& report) {
  AdviceFacts facts{&report, Roofline(report.ceilings, report.step.launch_latency_ns), {}, 0, 0,
                    {}};
  for (PlotRow& row : plot_kernels(report)) {
    if (row.counts_again) continue;
    facts.kernels_ns += row.sum.time_total_ns.value_or(0);
    facts.kernels.push_back(std::move(row));
  }
  facts.unit = report.run.unit;
  facts.torch = runs_torch(report);
  facts.inference = only_infers(report);
  facts.unit_ns = report.step.wall_mean_ns && facts.unit == Unit::step ? *report.step.wall_mean_ns
                                                                       : facts.kernels_ns;
  return facts;
}

}  // namespace gable
