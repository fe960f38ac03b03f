// SPDX-License-Identifier: Apache-2.0
#include "tools/show/step_lines.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/events/kernel_kind.h"
#include "analysis/events/layer_tree.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/merge/waiting.h"
#include "tools/plot/own_work.h"
#include "tools/plot/row_query.h"

namespace gable {
namespace {

constexpr double kWorthNaming = 0.01;  // of the GPU time
constexpr double kMuchSpread = 0.1;    // of the mean
constexpr double kMuchHost = 0.1;      // of the critical path
constexpr std::size_t kNamedLayers = 3;

std::string counted(double count, const std::string& what) {
  const bool whole = std::floor(count) == count && count < 1e15;
  const std::string number =
      whole ? std::to_string(static_cast<std::uint64_t>(count)) : digits(count);
  return number + " " + what + (count == 1 ? "" : "s");
}

// The host may be far ahead of the GPU. Its waits are those of all threads.
std::string host_part(const Step& step) {
  if (!step.host_mean_ns) return {};
  std::string text = "host " + duration(step.host_mean_ns);
  if (step.sync_ns && *step.sync_ns > 0) text += ", waits " + duration(step.sync_ns);
  return text;
}

std::string step_line(const Step& step, bool several_gpus) {
  std::string text = "A step: ";
  const auto add = [&text](const char* what, const Maybe& ns) {
    if (ns && *ns > 0) text += std::string(", ") + what + " " + duration(ns);
  };
  if (step.wall_mean_ns.value_or(0) <= 0) {
    text += "unknown on the GPU";
    add("busy", step.busy_ns);
  } else {
    text += duration(step.wall_mean_ns);
    if (step.wall_stddev_ns && *step.wall_stddev_ns > kMuchSpread * *step.wall_mean_ns)
      text += " (+- " + duration(step.wall_stddev_ns) + ")";
    // Of the step itself: kernels of one step may run beside those of the next.
    const bool known = step.idle_ns && *step.idle_ns <= *step.wall_mean_ns;
    add(several_gpus ? "a GPU busy" : "GPU busy",
        known ? Maybe(*step.wall_mean_ns - *step.idle_ns) : step.busy_ns);
    add(several_gpus ? "all idle" : "idle", step.idle_ns);
    if (step.idle_ns && *step.idle_ns > 0)
      text += " (" + percent(*step.idle_ns / *step.wall_mean_ns) + ")";
  }
  add("copies", step.copy_ns);
  if (const std::string host = host_part(step); !host.empty()) text += ", " + host;
  return text;
}

// Fractions of roofs are of kernels; these are of the step.
std::string utilisation_line(const Report& report) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (report.step.mfu) add("model FLOP utilisation " + percent(report.step.mfu));
  if (const Maybe flops = report.step.model_flops; flops && *flops > 0) {
    const Maybe wall = report.step.wall_mean_ns;
    add(with_prefix(*flops, "FLOP") + " a step by formula" +
        (wall && *wall > 0 ? ", " + with_prefix(*flops / *wall * 1e9, "FLOP/s") : ""));
  }
  if (report.step.hfu)
    add((text.empty() ? "FLOP utilisation " : "as counted ") + percent(report.step.hfu));
  std::map<KernelKind, double> moving;
  double whole = 0;
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.counts_again() || !kernel.time_total_ns) continue;
    whole += *kernel.time_total_ns;
    const KernelKind kind = kind_of_kernel(kernel.name);
    if (kind != KernelKind::other) moving[kind] += *kernel.time_total_ns;
  }
  std::string kinds;
  for (const auto& [kind, time] : moving) {
    if (time < kWorthNaming * whole) continue;
    kinds +=
        (kinds.empty() ? "" : ", ") + std::string(words_for(kind)) + " " + percent(time / whole);
  }
  if (!kinds.empty()) add("of the GPU time " + kinds);
  return text;
}

// Of which layers the operators' FLOPs are unknown: "a, b, c and 4 more layers".
std::string layers_without_formula(const Report& report) {
  std::string names;
  std::set<std::vector<std::string>> seen;  // forward and backward are one layer to the reader
  std::size_t count = 0;
  for (const LayerRow& layer : report.layers) {
    if (!layer.model || layer.model->self.flops || !seen.insert(layer.path).second) continue;
    if (++count <= kNamedLayers) names += (count == 1 ? "" : ", ") + shown_path(layer.path);
  }
  if (count > kNamedLayers)
    names += " and " + counted(static_cast<double>(count - kNamedLayers), "more layer");
  return names;
}

// Types of which the model has FLOPs and a GPU no roof: "fp8, int8".
std::string types_without_roof(const Report& report) {
  std::set<std::string> roofs, types;
  for (const Ceiling& ceiling : report.ceilings) roofs.insert(ceiling.name);
  for (const LayerRow& layer : report.layers)
    if (layer.model)
      for (const auto& [type, flops] : layer.model->self.types)
        if (flops.value_or(0) > 0 && !roofs.contains(type) && !roofs.contains(type + "_tensor"))
          types.insert(type);
  std::string out;
  for (const std::string& type : types) out += (out.empty() ? "" : ", ") + type;
  return out;
}

// The largest parts first.
std::string path_line(const PathTimes& path, const StepGraphFacts& graph) {
  struct Part {
    double ns = 0;
    const char* what = "";
    Maybe input_ns = std::nullopt, waits_ns = std::nullopt;
  };
  std::vector<Part> parts = {
      {path.kernels_ns, "kernels"},
      {path.communication_ns, "communication"},
      {path.copies_ns, "copies"},
      {path.host_ns, "the host", path.input_ns, path.waits_ns},
      {path.launches_ns, "launching"},
      {path.gaps_ns, "gaps between kernels"},
      {path.unexplained_ns, "unexplained"},
  };
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.ns > b.ns; });
  std::string text;
  for (const auto& [ns, what, input_ns, waits_ns] : parts) {
    if (ns < kWorthNaming * graph.wall_ns) continue;
    text += (text.empty() ? "Critical path: " : ", ") + std::string(what) + " " +
            percent(ns / graph.wall_ns);
    std::string of_it;
    if (waits_ns.value_or(0) >= kWorthNaming * graph.wall_ns)
      of_it = "after waits for the GPU " + percent(*waits_ns / graph.wall_ns);
    if (input_ns.value_or(0) >= kWorthNaming * graph.wall_ns)
      of_it +=
          (of_it.empty() ? "" : ", ") + ("fetching input " + percent(*input_ns / graph.wall_ns));
    if (!of_it.empty()) text += " (" + of_it + ")";
  }
  return text;
}

// Before whose launches the host's part of the path is: the layers with most of it, their own.
std::string host_line(const Report& report) {
  constexpr std::size_t kNamed = 3;
  const auto parts = own_host_parts(report, kWorthNaming * report.step.graph->wall_ns);
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, parts.size()); ++i) {
    const LayerRow& layer = *parts[i].layer;
    text += (text.empty() ? "The host's part, by what it launches next: " : ", ") +
            (layer.path.empty() ? "outside of layers" : shown_path(layer.path));
    if (layer.direction != Direction::none) text += " (" + to_string(layer.direction) + ")";
    text += " " + duration(parts[i].ns);
  }
  if (parts.size() > kNamed) text += " and " + std::to_string(parts.size() - kNamed) + " more";
  return text;
}

// How much shorter a step would be without what nothing hides.
std::string exposed_line(const ExposedTimes& exposed, const PathTimes& path, double step_ns) {
  std::string text;
  const auto add = [&](const char* what, const char* it, double ns, const StepSaving& saving) {
    if (ns < kWorthNaming * step_ns && saving.high_ns < kWorthNaming * step_ns) return;
    text += (text.empty() ? "Not hidden: " : "; ") + std::string(what) + " " + duration(ns) +
            " (without " + it + " a step would be " + saving_text(saving) + " shorter)";
  };
  add("communication", "it", exposed.communication_ns, exposed.without.communication);
  add("copies", "them", exposed.copies_ns, exposed.without.copies);
  if (path.input_ns && exposed.without.input)
    add("fetching input", "it", *path.input_ns, *exposed.without.input);
  if (path.waits_ns && exposed.without.waits)
    add("the host after waits for the GPU", "waits", *path.waits_ns, *exposed.without.waits);
  return text;
}

// What of the collectives' time is waiting for other ranks.
std::string collectives_line(const Report& report) {
  const std::vector<Waiter> all = waiters(report);
  if (all.empty()) return {};
  const Waiter mean = mean_waiter(all);
  if (!(mean.time_ns > 0)) return {};
  std::string text = "Collectives: " + duration(mean.time_ns) +
                     (report.run.processes.empty() ? " on a GPU, " : " of a process, ") +
                     mean.at_least() + duration(mean.wait_ns) +
                     " of that waiting for other ranks (" + percent(mean.wait_ns / mean.time_ns) +
                     ") and " + duration(mean.transfer_ns) + " transfer";
  if (const auto late = late_one(all)) text += "; they wait mostly for " + late->name;
  return text;
}

std::string graph_line(const StepGraphFacts& graph, bool savings) {
  std::string text = savings ? "Savings replayed from " : "Savings are of kernels' time: ";
  text += counted(static_cast<double>(graph.steps), "recorded step") + ", " +
          percent(graph.explained) + " explained";
  if (graph.replay_error) text += ", replay error " + percent(graph.replay_error);
  if (graph.overlapped >= kWorthNaming)
    text += ", " + percent(graph.overlapped) + " of kernels' time beside others";
  return text;
}

// By the GPU's time where that is known; else by the host's.
Maybe forward_time(const Tokens& tokens) {
  return tokens.wall_ns ? tokens.wall_ns : tokens.host_ns;
}

std::string tokens_line(const LayerRow& layer, const Tokens& tokens, double forward_ns) {
  std::string text = layer.path.back() + ": ";
  text += tokens.per_sequence == 1
              ? duration(forward_ns / tokens.per_sequence) + " a token"
              : duration(forward_ns) + " for " + counted(tokens.per_sequence, "token");
  if (!tokens.wall_ns) text += " on the host";
  return text + ", " + with_prefix(tokens.per_forward / forward_ns * 1e9, "tokens/s") + " (" +
         counted(tokens.per_forward / tokens.per_sequence, "sequence") + ", " +
         counted(static_cast<double>(tokens.forwards), "forward") + " timed)";
}

}  // namespace

std::vector<std::string> unknown_utilisation_lines(const Report& report) {
  std::vector<std::string> lines;
  const Step& step = report.step;
  if (!(step.wall_mean_ns.value_or(0) > 0)) return lines;
  const bool described = std::any_of(report.layers.begin(), report.layers.end(),
                                     [](const LayerRow& layer) { return layer.model.has_value(); });
  if (described && !step.mfu) {
    const std::string names = layers_without_formula(report), types = types_without_roof(report);
    std::string why =
        "layers whose kernels belong to no operator of PyTorch take more than 5 % of its time";
    if (step.model_flops)
      why = "no roof is known" + (types.empty() ? std::string(" for its FLOPs") : " for " + types);
    else if (!names.empty())
      why = "no formula tells the FLOPs of operators in " + names;
    lines.push_back("Model FLOP utilisation unknown: " + why);
  }
  const bool any = std::any_of(report.layers.begin(), report.layers.end(), [](const LayerRow& row) {
    return !row.parent && row.flops.total.value_or(0) > 0;
  });
  if (any && !step.hfu)
    lines.push_back("FLOP utilisation as counted unknown: FLOPs were counted for " +
                    percent(coverage_of(report, &Coverage::flops)) +
                    " of the GPU time and bytes for " +
                    percent(coverage_of(report, &Coverage::bytes)) +
                    "; it takes 95 % with both and their roofs");
  return lines;
}

std::vector<std::string> path_lines(const Report& report) {
  std::vector<std::string> lines;
  const Step& step = report.step;
  if (!step.critical_path || !step.graph || !(step.graph->wall_ns > 0)) return lines;
  lines.push_back(path_line(*step.critical_path, *step.graph));
  if (step.critical_path->host_ns >= kMuchHost * step.graph->wall_ns) {
    if (std::string text = host_line(report); !text.empty()) lines.push_back(std::move(text));
  }
  if (step.exposed) {
    std::string text = exposed_line(*step.exposed, *step.critical_path, step.graph->wall_ns);
    if (!text.empty()) lines.push_back(std::move(text));
  }
  lines.push_back(graph_line(*step.graph, step.exposed.has_value()));
  return lines;
}

std::vector<std::string> step_lines(const Report& report) {
  std::vector<std::string> lines;
  if (!report.step.wall_mean_ns && !report.step.host_mean_ns) {
    if (std::string text = collectives_line(report); !text.empty())
      lines.push_back(std::move(text));
    return lines;
  }
  // Those that ran something, and no others that the process could see.
  const auto gpus = std::count_if(report.layers.begin(), report.layers.end(),
                                  [](const LayerRow& layer) { return !layer.parent; });
  lines.push_back(step_line(report.step, gpus > 1));
  if (std::string text = utilisation_line(report); !text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    lines.push_back(std::move(text));
  }
  for (std::string& text : unknown_utilisation_lines(report)) lines.push_back(std::move(text));
  for (std::string& text : path_lines(report)) lines.push_back(std::move(text));
  if (std::string text = collectives_line(report); !text.empty()) lines.push_back(std::move(text));
  for (const LayerRow& layer : report.layers) {
    const Maybe forward_ns = layer.tokens ? forward_time(*layer.tokens) : std::nullopt;
    if (forward_ns.value_or(0) > 0 && !layer.path.empty())
      lines.push_back(tokens_line(layer, *layer.tokens, *forward_ns));
  }
  return lines;
}

}  // namespace gable
