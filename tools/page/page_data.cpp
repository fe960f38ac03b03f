// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "analysis/base/text.h"
#include "analysis/report/report_json.h"
#include "analysis/roofline/set_metrics.h"
#include "tools/advice/advice.h"
#include "tools/plot/plot.h"
#include "tools/show/memory_table.h"
#include "tools/show/operators_table.h"
#include "tools/show/sources.h"
#include "tools/show/step_lines.h"

namespace gable {
namespace {

using Json = nlohmann::json;

Json number(const Maybe& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  const std::string text = significant(*value, 5);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  constexpr double kExact = 1e15;  // smaller whole numbers are exact, and shorter without ".0"
  if (std::floor(rounded) == rounded && std::fabs(rounded) < kExact)
    return static_cast<std::int64_t>(rounded);
  return rounded;
}

class Strings {
 public:
  std::size_t place(const std::string& text) {
    const std::string shown = clean_name(text, kLongestText);
    const auto [found, fresh] = places_.try_emplace(shown, all_.size());
    if (fresh) all_.push_back(shown);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return all_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> all_;
};

// Rows below their columns' names: the first row names them.
class Rows {
 public:
  explicit Rows(Strings& strings) : strings_(strings) {}
  void next() { rows_.emplace_back(); }
  void add(const char* column, const Maybe& value) { cell(column, number(value)); }
  template <typename Integer>
  requires std::is_integral_v<Integer>
  void add(const char* column, Integer value) { cell(column, value); }
  void add(const char* column, const std::string& text) {
    cell(std::string("$") + column, strings_.place(text));
  }
  // Parts that are more than 0: name, value, name, value. A name alone is all of `whole`.
  void add(const char* column, const std::vector<std::pair<std::string, Maybe>>& parts,
           const Maybe& whole = {}) {
    Json list = Json::array();
    for (const auto& [name, value] : parts) {
      if (!value || *value <= 0) continue;
      list.push_back(strings_.place(name));
      list.push_back(number(value));
    }
    if (list.size() == 2 && whole && list[1] == number(whole)) list.erase(1);
    cell(std::string("%") + column, std::move(list));
  }
  [[nodiscard]] Json json() const {
    Json same = Json::object(), columns = Json::array(), rows(rows_.size(), Json::array());
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const Json& first = rows_.front()[column];
      const bool alike = std::all_of(rows_.begin(), rows_.end(),
                                     [&](const auto& row) { return row[column] == first; });
      if (alike) {
        same[columns_[column]] = first;
        continue;
      }
      columns.push_back(columns_[column]);
      for (std::size_t row = 0; row < rows_.size(); ++row) rows[row].push_back(rows_[row][column]);
    }
    return {{"columns", columns}, {"rows", rows}, {"same", same}};
  }

 private:
  void cell(const std::string& column, Json value) {
    if (rows_.size() == 1) columns_.push_back(column);
    rows_.back().push_back(std::move(value));
  }
  Strings& strings_;
  std::vector<std::string> columns_;
  std::vector<std::vector<Json>> rows_;
};

std::vector<std::pair<std::string, Maybe>> types_of(const Flops& flops,
                                                    const std::map<std::string, Maybe>& ops) {
  std::vector<std::pair<std::string, Maybe>> types = {
      {"fp64", flops.fp64}, {"fp32", flops.fp32}, {"fp16", flops.fp16}};
  for (const auto& [type, value] : flops.tensor) types.emplace_back(type + " tensor", value);
  for (const auto& [type, value] : ops) types.emplace_back(type + " operations", value);
  return types;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// "float32 2x3x32x32"
std::string shapes_text(const std::optional<std::vector<TensorShape>>& shapes) {
  std::string text;
  if (!shapes) return text;
  for (const TensorShape& each : *shapes) {
    if (!text.empty()) text += ", ";
    text += each.dtype + " ";
    for (std::size_t i = 0; i < each.sizes.size(); ++i)
      text += (i == 0 ? "" : "x") + std::to_string(each.sizes[i]);
  }
  return text;
}

void add_metrics(Rows& rows, const std::optional<SetMetrics>& of_row) {
  static const SetMetrics kNone;
  const SetMetrics& metrics = of_row ? *of_row : kNone;
  for (const NamedMetric& each : kSetMetrics) rows.add(each.name, metrics.*each.value);
  rows.add("mix",
           std::vector<std::pair<std::string, Maybe>>{metrics.mix.begin(), metrics.mix.end()});
  rows.add("memory_mix", std::vector<std::pair<std::string, Maybe>>{metrics.memory_mix.begin(),
                                                                    metrics.memory_mix.end()});
}

// What rows of the tree and of the chart share.
void add_work(Rows& rows, const LayerRow& row) {
  rows.add("launches", row.launches);
  rows.add("time", row.time_total_ns);
  rows.add("timeSource", to_string(row.time_source));
  rows.add("flops", row.flops.total);
  rows.add("types", types_of(row.flops, row.ops), row.flops.total);
  rows.add("dram", row.bytes.dram);
  rows.add("l2", row.bytes.l2);
  rows.add("l1", row.bytes.l1);
  rows.add("fraction", row.roof.fraction);
  rows.add("bound", to_string(row.roof.bound));
  rows.add("ceiling", row.roof.ceiling);
  rows.add("level", to_string(row.roof.level));
  rows.add("source", row.roof.source);
  rows.add("saving", row.saving_ns);
  rows.add("onPath", row.path_ns);
  rows.add("savingLow", row.step_saving ? Maybe(row.step_saving->low_ns) : std::nullopt);
  rows.add("savingHigh", row.step_saving ? Maybe(row.step_saving->high_ns) : std::nullopt);
  rows.add("coverTime", row.coverage.time);
  rows.add("coverFlops", row.coverage.flops);
  rows.add("coverBytes", row.coverage.bytes);
  add_metrics(rows, row.metrics);
}

// What follows from a kernel's numbers, and not from a layer's: its parts may be known in part.
void add_ratios(Rows& rows, const LayerRow& row) {
  rows.add("intensity", row.intensity.dram);
  rows.add("intensityL2", row.intensity.l2);
  rows.add("intensityL1", row.intensity.l1);
  rows.add("rate", row.flops_per_s);
  rows.add("bandwidth", row.bytes_per_s);
}

// The modules that torch.compile made one layer of, those that take longest first.
std::string modules_text(const LayerRow& row) {
  constexpr std::size_t kMost = 12;
  std::string text;
  if (!row.compiled) return text;
  auto modules = row.compiled->modules;
  std::stable_sort(modules.begin(), modules.end(), [](const auto& a, const auto& b) {
    return a.time_ns.value_or(0) > b.time_ns.value_or(0);
  });
  for (std::size_t i = 0; i < std::min(modules.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + modules[i].name + " (" + modules[i].kind + ")";
    if (modules[i].time_ns) text += " " + duration(modules[i].time_ns);
  }
  const std::uint64_t more =
      modules.size() - std::min(modules.size(), kMost) + row.compiled->left_out;
  if (more > 0) text += " and " + std::to_string(more) + " more";
  return row.compiled->fused ? text + "; together in each kernel" : text;
}

void add_model(Rows& rows, const LayerRow& row) {
  static const LayerModel kNone;
  const LayerModel& model = row.model ? *row.model : kNone;
  rows.add("modules", modules_text(row));
  rows.add("inputs", shapes_text(model.inputs));
  rows.add("outputs", shapes_text(model.outputs));
  rows.add("parameters", model.parameters);
  rows.add("modelFlops", model.all.flops);
  rows.add("modelBytes", model.all.bytes);
  rows.add("modelFlopsCover", model.flops_coverage);
  rows.add("modelBytesCover", model.bytes_coverage);
  rows.add("flopsRatio", model.flops_ratio);
  rows.add("bytesRatio", model.bytes_ratio);
  rows.add("allocated", model.allocated_bytes);
}

Json tree(const Report& report, Strings& strings) {
  Rows rows(strings);
  for (const LayerRow& row : report.layers) {
    rows.next();
    rows.add("id", row.id);
    rows.add("parent", row.parent ? Maybe(static_cast<double>(*row.parent)) : std::nullopt);
    rows.add("name", row.path.empty() ? std::string() : row.path.back());
    rows.add("dotted", row.dotted);
    rows.add("direction", to_string(row.direction));
    rows.add("device", row.device);
    rows.add("depth", row.depth);
    rows.add("calls", row.calls);
    rows.add("self", row.time_self_ns);
    rows.add("busy", row.time_busy_ns);
    rows.add("host", row.cpu_ns);
    rows.add("span", row.span_ns);
    rows.add("wait", row.sync_ns);
    rows.add("share", row.time_share);
    rows.add("hostPath", row.host_path_ns);
    rows.add("overForward", row.flops_over_forward);
    rows.add("tokenNs", row.tokens ? row.tokens->ns_each() : std::nullopt);
    add_work(rows, row);
    add_ratios(rows, row);
    add_model(rows, row);
  }
  return rows.json();
}

// "all_reduce of 4.19 MB among 8 ranks, 75.0 GB/s on the bus, 25.0 % of nvlink"; empty where
// nothing is known.
std::string exchange(const std::optional<CollectiveRow>& row) {
  if (!row) return {};
  std::string text = row->kind == Collective::unknown ? "a collective" : to_string(row->kind);
  if (row->bytes) text += " of " + with_prefix(*row->bytes, "B");
  if (row->ranks) text += " among " + std::to_string(*row->ranks) + " ranks";
  if (row->one_node) text += " of one machine";
  if (row->bus_bytes_per_s)
    text += ", " + with_prefix(*row->bus_bytes_per_s, "B/s") + " on the bus";
  if (row->roof.fraction) text += ", " + percent(*row->roof.fraction) + " of " + row->roof.ceiling;
  if (row->wait_ns && row->transfer_ns)
    text += ", " + duration(row->wait_ns) + " waiting for other ranks and " +
            duration(row->transfer_ns) + " transfer";
  return text;
}

Json dots(const std::vector<PlotRow>& plot, Strings& strings) {
  Rows rows(strings);
  for (const PlotRow& row : plot) {
    rows.next();
    rows.add("layer",
             row.layer == nullptr ? std::nullopt : Maybe(static_cast<double>(row.layer->id)));
    rows.add("name", row.name);
    rows.add("direction", to_string(row.direction));
    rows.add("device", row.sum.device);
    rows.add("precision", row.precision);
    rows.add("analytic", row.analytic ? 1 : 0);
    rows.add("again", row.counts_again ? 1 : 0);
    rows.add("computeTime", row.times ? Maybe(row.times->compute_ns) : std::nullopt);
    rows.add("memoryTime", row.times ? Maybe(row.times->memory_ns) : std::nullopt);
    rows.add("overRoof", row.times ? Maybe(row.times->over_roof) : std::nullopt);
    add_work(rows, row.sum);
    if (row.kernel == nullptr) {
      add_ratios(rows, row.sum);
      continue;
    }
    rows.add("flags", joined(row.kernel->flags));
    const auto size = [](const Dim3& dim) {
      return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
    };
    rows.add("shape", size(row.kernel->grid) + " blocks of " + size(row.kernel->block));
    rows.add("place", row.kernel->place);
    rows.add("registers", row.kernel->registers);
    rows.add("shared", row.kernel->shared_bytes);
    rows.add("perSm", row.kernel->blocks_per_sm);
    rows.add("waves", row.kernel->waves);
    rows.add("exchange", exchange(row.kernel->collective));
    rows.add("median", row.kernel->time_median_ns);
    rows.add("deviation", row.kernel->time_stddev_ns);
    rows.add("samplesHw", row.kernel->samples_hw);
    rows.add("samplesFlops", row.kernel->samples_flops);
    rows.add("samplesTime", row.kernel->samples_time);
  }
  return rows.json();
}

// Kernels by function: only where no layer tells more.
Json advice_of(const Report& report) {
  const bool layers = report.layers.size() > 1;
  Json list = Json::array();
  for (const Advice& each : advise(report)) {
    Json places = Json::array();
    for (const AdvicePlace& place : each.layers)
      places.push_back({place.name, to_string(place.direction), number(place.saving_ns)});
    Json functions = Json::array();
    for (const AdvicePlace& place : layers ? std::vector<AdvicePlace>() : each.kernels)
      functions.push_back(place.name);
    list.push_back({{"id", each.id},
                    {"places", std::move(places)},
                    {"functions", std::move(functions)},
                    {"action", each.action},
                    {"where", each.where},
                    {"trigger", each.trigger},
                    {"saving", number(each.saving_ns)}});
  }
  return list;
}

Json path_of(const Report& report) {
  Json list = Json::array();
  for (const auto& lines : {unknown_utilisation_lines(report), path_lines(report)})
    for (const std::string& line : lines) list.push_back(clean_name(line, kLongestText));
  return list;
}

// Of layers, and of kernels only where there are no layers: a page is looked at.
Json compared(const std::string& text) {
  Json comparison = Json::parse(text);
  if (comparison["layers"].size() > 1) comparison["kernels"] = Json::array();
  for (const char* kind : {"layers", "kernels"}) {
    for (Json& row : comparison[kind]) {
      for (const char* name : {"name", "before", "layer"}) {
        if (row.contains(name)) row[name] = clean_name(row[name].get<std::string>(), kLongestText);
      }
    }
  }
  return comparison;
}

// Of each layer what the pane has room for: its id, the operator's name, shapes and place, calls
// and time. The longest come first; how many more there are is the last one's number.
Json operators_of(const Report& report) {
  constexpr std::size_t kOfLayer = 4;
  std::map<std::int64_t, std::vector<const OperatorRow*>> layers;
  for (const OperatorRow& row : report.operators)
    if (row.launches > 0) layers[row.layer].push_back(&row);
  Json list = Json::array();
  for (const auto& [layer, rows] : layers) {
    Json shown = Json::array();
    for (std::size_t i = 0; i < std::min(kOfLayer, rows.size()); ++i)
      shown.push_back({clean_name(rows[i]->name, kLongestText),
                       clean_name(shown_shapes(rows[i]->inputs), kLongestText),
                       clean_name(rows[i]->place, kLongestText), rows[i]->calls,
                       number(rows[i]->time_ns)});
    list.push_back({layer, std::move(shown), rows.size() - std::min(kOfLayer, rows.size())});
  }
  return list;
}

// Points as [operators before it, layer's id, operator, bytes], and what is held as [layers,
// purpose, tensors, bytes].
Json memory_of(const Report& report) {
  constexpr std::size_t kMostRows = 12;
  if (!report.memory) return nullptr;
  const MemoryOfStep& memory = *report.memory;
  const auto point = [](const MemoryOfStep::Point& of) {
    return Json{of.at, of.layer ? Json(*of.layer) : Json(), clean_name(of.name, kLongestText),
                of.bytes};
  };
  Json timeline = Json::array(), purposes = Json::array(), rows = Json::array();
  for (const MemoryOfStep::Point& each : memory.timeline) timeline.push_back(point(each));
  for (const auto& [name, bytes] : held_purposes(memory)) purposes.push_back({name, bytes});
  const std::vector<HeldRow> held = held_rows(memory, false);
  for (std::size_t i = 0; i < std::min(kMostRows, held.size()); ++i)
    rows.push_back({clean_name(held[i].layers, kLongestText), shown_purpose(held[i].held_for),
                    held[i].tensors, held[i].bytes});
  return {{"device", memory.device},
          {"source", to_string(memory.source)},
          {"peak", point(memory.peak)},
          {"timeline", std::move(timeline)},
          {"purposes", std::move(purposes)},
          {"explained", memory.unexplained().has_value()},
          {"held", std::move(rows)},
          {"more", held.size() - std::min(kMostRows, held.size())},
          {"allocatorPeak", number(memory.allocator_peak)},
          {"reserved", number(memory.reserved)}};
}

Json without_rows(const Report& report) {
  Report head = report;
  head.layers.clear();
  head.kernels.clear();
  head.operators.clear();
  head.memory.reset();
  return Json::parse(to_json(head));
}

}  // namespace

std::string page_data(const std::vector<Report>& reports, const std::vector<std::string>& files,
                      const std::string& comparison) {
  Strings strings;
  // What every row has: short places for many rows.
  for (const char* word : {"", "memory", "compute", "latency", "small", "dram", "fp32", "time"})
    strings.place(word);
  Json list = Json::array();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    list.push_back({{"file", files[i]},
                    {"command", shown_command(report.run)},
                    {"report", without_rows(report)},
                    {"advice", advice_of(report)},
                    {"path", path_of(report)},
                    {"layers", tree(report, strings)},
                    {"operators", operators_of(report)},
                    {"memory", memory_of(report)},
                    {"dots",
                     {{"layers", dots(plot_layers(report), strings)},
                      {"kernels", dots(plot_kernels(report), strings)}}}});
  }
  Json data = {{"reports", std::move(list)}, {"strings", strings.all()}};
  if (!comparison.empty()) data["comparison"] = compared(comparison);
  const std::string text = data.dump(-1, ' ', true, Json::error_handler_t::replace);
  // Nothing in it may end the element that holds it. Only texts have such characters.
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace gable
