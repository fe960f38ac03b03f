// SPDX-License-Identifier: Apache-2.0
#include "tools/show/operators_table.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "analysis/events/layer_tree.h"
#include "analysis/report/layers_by_id.h"
#include "tools/show/columns.h"
#include "tools/show/equal_layers.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

struct ShownOperator {
  OperatorRow row;
  std::vector<std::vector<std::string>> paths;
  std::size_t report = 0;
  [[nodiscard]] std::string layer() const {
    return paths.front().empty() ? std::string("-") : name_of_paths(paths);
  }
};

void add_to(ShownOperator& sum, const ShownOperator& more) {
  sum.paths.push_back(more.paths.front());
  sum.row.calls += more.row.calls;
  sum.row.launches += more.row.launches;
  sum.row.shared = sum.row.shared || more.row.shared;
  for (Maybe OperatorRow::*each : {&OperatorRow::time_ns, &OperatorRow::flops,
                                   &OperatorRow::flops_analytic, &OperatorRow::bytes_analytic})
    sum.row.*each = sum.row.*each && more.row.*each ? Maybe(*(sum.row.*each) + *(more.row.*each))
                                                    : std::nullopt;
}

// Calls of one operator on the same shapes in layers whose paths differ in their middle alone.
std::vector<ShownOperator> folded(std::vector<ShownOperator> rows) {
  using CallsKey = std::tuple<std::size_t, std::size_t, std::string, Direction, std::int32_t,
                              std::string, std::string, std::string, double, double, Maybe, Maybe>;
  struct Group {
    Maybe time_ns;  // of its first
    std::size_t place = 0;
  };
  std::map<CallsKey, std::vector<Group>> known;
  std::vector<ShownOperator> out;
  for (ShownOperator& each : rows) {
    const auto& path = each.paths.front();
    const OperatorRow& row = each.row;
    if (path.empty()) {
      out.push_back(std::move(each));
      continue;
    }
    std::vector<Group>& groups = known[{each.report, path.size(), path.back(), row.direction,
                                        row.device, row.name, shown_shapes(row.inputs), row.place,
                                        row.calls, row.launches, row.flops, row.flops_analytic}];
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return take_as_long(group.time_ns, row.time_ns);
    });
    if (same != groups.end()) {
      add_to(out[same->place], each);
    } else {
      groups.push_back({row.time_ns, out.size()});
      out.push_back(std::move(each));
    }
  }
  return out;
}

std::vector<ShownOperator> rows_of(const std::vector<Report>& reports,
                                   const std::vector<Pattern>& patterns, bool each) {
  std::vector<ShownOperator> rows;
  for (const Report& report : reports) {
    const LayersById layers(report);
    for (const OperatorRow& row : report.operators) {
      static const LayerRow kNone;
      const LayerRow* layer = layers.find(row.layer);
      if (!layer_matches(patterns, layer == nullptr ? kNone : *layer)) continue;
      rows.push_back({row,
                      {layer == nullptr ? std::vector<std::string>() : layer->path},
                      static_cast<std::size_t>(&report - reports.data())});
    }
  }
  if (!each) rows = folded(std::move(rows));
  std::stable_sort(rows.begin(), rows.end(), [](const ShownOperator& a, const ShownOperator& b) {
    if (a.row.time_ns || b.row.time_ns)
      return a.row.time_ns.value_or(0) > b.row.time_ns.value_or(0);
    return a.row.flops_analytic.value_or(0) > b.row.flops_analytic.value_or(0);
  });
  return rows;
}

}  // namespace

std::string shown_shapes(const std::vector<TensorShape>& shapes) {
  std::string out;
  for (const TensorShape& shape : shapes) {
    out += (out.empty() ? "" : ", ") + shape.dtype + "[";
    for (std::size_t i = 0; i < shape.sizes.size(); ++i)
      out += (i == 0 ? "" : ",") + std::to_string(shape.sizes[i]);
    out += "]";
  }
  return out;
}

std::string render_operators(const std::vector<Report>& reports, const OperatorsTable& options) {
  const std::vector<ShownOperator> rows = rows_of(reports, options.layers, options.each);
  if (rows.empty()) return {};
  const std::size_t count = std::min(options.rows, rows.size());
  std::vector<Column> table;
  const auto add = [&](const std::string& head, bool left, bool names, auto cell) {
    Column& column = table.emplace_back(Column{head, left, {}, {}, names});
    for (std::size_t i = 0; i < count; ++i) column.cells.push_back(cell(rows[i]));
  };
  add("layer", true, false, [](const ShownOperator& of) { return one_line(of.layer()); });
  if (std::any_of(rows.begin(), rows.end(),
                  [](const ShownOperator& of) { return of.row.direction == Direction::backward; }))
    add("dir", true, false, [](const ShownOperator& of) {
      return of.row.direction == Direction::none ? std::string("-")
                                                 : to_string(of.row.direction).substr(0, 3);
    });
  add("operator", true, true,
      [](const ShownOperator& of) { return one_line(of.row.name) + (of.row.shared ? "*" : ""); });
  add("inputs", true, true, [](const ShownOperator& of) {
    return of.row.inputs.empty() ? std::string("-") : one_line(shown_shapes(of.row.inputs));
  });
  add("calls", false, false, [](const ShownOperator& of) { return digits(of.row.calls); });
  add("kernels", false, false, [](const ShownOperator& of) { return digits(of.row.launches); });
  add("time", false, false, [](const ShownOperator& of) { return duration(of.row.time_ns); });
  add("counted", false, false, [](const ShownOperator& of) {
    return of.row.flops ? with_prefix(of.row.flops, "") : std::string("-");
  });
  add("by formula", false, false, [](const ShownOperator& of) {
    return of.row.flops_analytic ? with_prefix(of.row.flops_analytic, "") : std::string("-");
  });
  add("called at", true, true, [](const ShownOperator& of) {
    return of.row.place.empty() ? std::string("-") : one_line(of.row.place);
  });
  const std::string unknown = drop_unknown(table);
  const std::string wide = drop_columns(table, {"kernels", "counted"}, options.columns);
  const bool shared = std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count),
                                  [](const ShownOperator& of) { return of.row.shared; });
  std::string out = source_mark(reports) + "PyTorch's operators, " + std::to_string(count) +
                    " of " + std::to_string(rows.size()) +
                    ", longest first; calls, time and FLOP of a step\n";
  out += render_columns(std::move(table), count, options.columns, options.colours);
  if (shared)
    out +=
        "*: other operators launch a kernel of the same name and grid there; its time is the mean "
        "of all.\n";
  if (!unknown.empty()) out += "Columns left out (nothing known): " + unknown + ".\n";
  if (!wide.empty()) out += "Columns left out (terminal too narrow): " + wide + ".\n";
  return out;
}

}  // namespace gable
