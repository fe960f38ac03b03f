// SPDX-License-Identifier: Apache-2.0
#include "tools/show/memory_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/events/layer_tree.h"
#include "analysis/report/layers_by_id.h"
#include "tools/show/columns.h"
#include "tools/show/equal_layers.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

using Point = MemoryOfStep::Point;

std::string bytes_text(double bytes) { return with_prefix(bytes, "B"); }

// "in Net/fc (backward), after aten::mm"
std::string where(const Point& point, const LayersById& layers) {
  std::string text;
  if (const LayerRow* layer = point.layer ? layers.find(*point.layer) : nullptr;
      layer != nullptr && !layer->path.empty()) {
    text = " in " + one_line(shown_path(layer->path));
    if (layer->direction != Direction::none) text += " (" + to_string(layer->direction) + ")";
  }
  if (!point.name.empty()) text += ", after " + one_line(point.name);
  return text;
}

// Over the step's operators: for each column the highest of its points.
std::string chart(const MemoryOfStep& memory, std::size_t columns) {
  constexpr std::size_t kLines = 6, kSteps = 8, kNarrowest = 20;
  static constexpr std::array<const char*, kSteps + 1> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                                  "▅", "▆", "▇", "█"};
  const std::string top = bytes_text(memory.peak.bytes);
  const std::size_t edge = top.size() + 2;
  if (memory.timeline.size() < 2 || columns < edge + kNarrowest || !(memory.peak.bytes > 0))
    return {};
  const double last = static_cast<double>(std::max<std::int64_t>(memory.end.at, 1));
  const std::size_t width = std::min(columns - edge, memory.timeline.size());
  std::vector<double> heights(width, 0);
  for (const Point& point : memory.timeline) {
    const double share = static_cast<double>(point.at) / last;
    const auto column = std::min(
        width - 1, static_cast<std::size_t>(std::max(share, 0.0) * static_cast<double>(width)));
    heights[column] = std::max(heights[column], point.bytes / memory.peak.bytes);
  }
  for (std::size_t i = 1; i < width; ++i)
    if (heights[i] == 0) heights[i] = heights[i - 1];  // no operator falls there
  std::string out;
  for (std::size_t line = kLines; line-- > 0;) {
    const std::string label = line + 1 == kLines ? top : line == 0 ? "0" : "";
    std::string text = std::string(top.size() - label.size(), ' ') + label + " ┤";
    for (const double height : heights) {
      const double filled =
          height * static_cast<double>(kLines * kSteps) - static_cast<double>(line * kSteps);
      text += kBlocks[static_cast<std::size_t>(
          std::clamp(std::round(filled), 0.0, static_cast<double>(kSteps)))];
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  const std::string axis = "operators of the step, 0 to " + std::to_string(memory.end.at);
  return out + std::string(edge, ' ') + shorten_end(axis, columns - edge) + "\n";
}

std::string held_table(const MemoryOfStep& memory, const MemoryTable& options) {
  const std::vector<HeldRow> rows = held_rows(memory, options.each);
  const std::size_t count = std::min(options.rows, rows.size());
  if (count == 0) return {};
  std::vector<Column> table;
  const auto add = [&](const std::string& head, bool left, auto cell) {
    Column& column = table.emplace_back(Column{head, left, {}, {}, false});
    for (std::size_t i = 0; i < count; ++i) column.cells.push_back(cell(rows[i]));
  };
  add("layer", true, [](const HeldRow& row) { return one_line(row.layers); });
  add("held for", true, [](const HeldRow& row) { return shown_purpose(row.held_for); });
  add("tensors", false, [](const HeldRow& row) { return digits(row.tensors); });
  add("bytes", false, [](const HeldRow& row) { return bytes_text(row.bytes); });
  add("share", false, [&](const HeldRow& row) { return percent(row.bytes / memory.peak.bytes); });
  return "Held there, " + std::to_string(count) + " of " + std::to_string(rows.size()) +
         ", largest first:\n" +
         render_columns(std::move(table), count, options.columns, options.colours);
}

std::string purposes_text(const MemoryOfStep& memory) {
  std::string text;
  for (const auto& [name, bytes] : held_purposes(memory))
    text += (text.empty() ? "" : ", ") + name + " " + bytes_text(bytes);
  if (!memory.unexplained()) text += " (together more than there is: some were made smaller)";
  return text;
}

std::string of_report(const Report& report, const std::string& file, const MemoryTable& options) {
  const MemoryOfStep& memory = *report.memory;
  const LayersById layers(report);
  std::string out;
  const auto add = [&](const std::string& text) {
    for (const std::string& line : word_lines(text, options.columns)) out += line + "\n";
  };
  const bool counted = memory.source == MemorySource::allocator;
  add(source_mark({report}) + "Memory of a step on device " + std::to_string(memory.device) +
      (file.empty() ? "" : " of " + one_line(file)) + ", " +
      (counted ? "as PyTorch's allocator counts it" : "as the sum of the tensors that were seen") +
      " after each operator:");
  add(bytes_text(memory.begin.bytes) + " when the model begins, " + bytes_text(memory.peak.bytes) +
      " at most" + where(memory.peak, layers) + ", " + bytes_text(memory.end.bytes) +
      " at the end.");
  out += chart(memory, options.columns);
  add("At the most: " + purposes_text(memory) + ".");
  if (memory.allocator_peak || memory.reserved)
    add("The allocator: " +
        (memory.allocator_peak ? bytes_text(*memory.allocator_peak) +
                                     " at most since the program began, within operators too"
                               : std::string("its highest is unknown")) +
        (memory.reserved ? "; it has " + bytes_text(*memory.reserved) + " of the GPU's memory"
                         : "") +
        ".");
  return out + held_table(memory, options);
}

}  // namespace

std::string shown_purpose(HeldFor held_for) {
  if (held_for == HeldFor::backward) return "gradients of activations";
  if (held_for == HeldFor::optimizer_state) return "optimizer state";
  return to_string(held_for);
}

std::vector<HeldRow> held_rows(const MemoryOfStep& memory, bool each) {
  using HeldKey = std::tuple<HeldFor, std::size_t, std::string, double, double>;
  std::vector<HeldRow> rows;
  std::vector<std::vector<std::vector<std::string>>> paths;
  std::map<HeldKey, std::size_t> known;
  for (const MemoryOfStep::Held& held : memory.held) {
    const std::string name = held.path.empty() ? "" : held.path.back();
    const HeldKey key{held.held_for, held.path.size(), name, held.bytes, held.tensors};
    const auto [same, fresh] = known.emplace(key, rows.size());
    if (fresh || each || held.path.empty()) {
      same->second = rows.size();
      rows.emplace_back().held_for = held.held_for;
      paths.emplace_back();
    }
    rows[same->second].bytes += held.bytes;
    rows[same->second].tensors += held.tensors;
    paths[same->second].push_back(held.path);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool none = rows[i].held_for == HeldFor::optimizer_state && paths[i].front().empty();
    rows[i].layers = none ? "-" : name_of_paths(paths[i]);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const HeldRow& a, const HeldRow& b) { return a.bytes > b.bytes; });
  return rows;
}

std::vector<std::pair<std::string, double>> held_purposes(const MemoryOfStep& memory) {
  std::map<std::string, double> sums;
  for (const MemoryOfStep::Held& held : memory.held)
    sums[shown_purpose(held.held_for)] += held.bytes;
  const Maybe unexplained = memory.unexplained();
  if (unexplained && *unexplained > 0) sums["not seen in tensors"] += *unexplained;
  std::vector<std::pair<std::string, double>> list(sums.begin(), sums.end());
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

std::string render_memory(const std::vector<Report>& reports, const std::vector<std::string>& files,
                          const MemoryTable& options) {
  std::string out;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i].memory) continue;
    if (!out.empty()) out += "\n";
    out += of_report(reports[i], reports.size() > 1 ? files[i] : std::string(), options);
  }
  return out;
}

}  // namespace gable
