// SPDX-License-Identifier: Apache-2.0
#include "tools/show/table_columns.h"

#include <algorithm>

#include "analysis/base/display.h"
#include "analysis/base/units.h"
#include "analysis/events/layer_tree.h"

namespace gable {
namespace {

Maybe scaled(const Maybe& value, double unit) {
  return value ? Maybe(*value / unit) : std::nullopt;
}

// As on the page, as far as the eight of every terminal go.
const char* colour_of(Bound bound) {
  switch (bound) {
    case Bound::compute:
      return "32";
    case Bound::memory:
      return "34";
    case Bound::latency:
      return "33";
    case Bound::small:
      return "35";
    case Bound::overhead:
      return "31";
    case Bound::communication:
      return "36";
    case Bound::unknown:
      break;
  }
  return nullptr;
}

// Where some row has them. Shares in percent; sectors as they are.
void add_metrics(const TableRows& table, std::size_t count, std::vector<Column>& columns) {
  struct Shown {
    const char* head;
    Maybe SetMetrics::*value;
    bool share;
    bool instead = false;  // only where a row that has it has no fraction of a roof
  };
  static constexpr Shown kShown[] = {{kMetricHeads[0], &SetMetrics::compute_throughput, true, true},
                                     {kMetricHeads[1], &SetMetrics::memory_throughput, true, true},
                                     {kMetricHeads[2], &SetMetrics::occupancy, true},
                                     {kMetricHeads[3], &SetMetrics::warp_efficiency, true},
                                     {kMetricHeads[4], &SetMetrics::l1_hit_rate, true},
                                     {kMetricHeads[5], &SetMetrics::l2_hit_rate, true},
                                     {kMetricHeads[6], &SetMetrics::sectors_per_load, false}};
  for (const Shown& shown : kShown) {
    const auto value = [&](const TableRow& row) {
      return row.sum.metrics ? (*row.sum.metrics).*shown.value : std::nullopt;
    };
    if (std::none_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
          return value(row) && !(shown.instead && row.sum.roof.fraction);
        }))
      continue;
    Column& column = columns.emplace_back(Column{shown.head, false, {}, {}});
    for (std::size_t i = 0; i < count; ++i) {
      const Maybe each = value(table.rows[i]);
      column.cells.push_back(shown.share ? percent(each) : digits(each));
    }
  }
}

}  // namespace

std::vector<Column> table_columns(const TableRows& table, std::size_t count, bool processes,
                                  bool per_step) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& head, bool left, auto cell) {
    Column& column = columns.emplace_back(Column{head, left, {}, {}});
    for (std::size_t i = 0; i < count; ++i) column.cells.push_back(cell(table.rows[i]));
  };
  add(table.kernels ? "kernel" : "layer", true,
      [](const TableRow& row) { return one_line(row.name); });
  const auto end = table.rows.begin() + static_cast<std::ptrdiff_t>(count);
  if (std::any_of(table.rows.begin(), end, [](const TableRow& row) { return row.count > 1; })) {
    add("", true, [](const TableRow& row) {
      return row.count > 1 ? "x" + std::to_string(row.count) : std::string();
    });
  }
  if (processes) add("process", true, [](const TableRow& row) { return row.process; });
  if (table.several_devices)
    add("gpu", false, [](const TableRow& row) { return std::to_string(row.device); });
  if (table.several_directions) {
    add("direction", true, [](const TableRow& row) {
      return row.direction == Direction::none ? std::string("-") : to_string(row.direction);
    });
  }
  if (table.kernels && table.several_layers) {
    add("layer", true, [](const TableRow& row) {
      return one_line(
          shown_path(row.layer == nullptr ? std::vector<std::string>() : row.layer->path));
    });
    columns.back().names = true;
  }
  if (std::any_of(table.rows.begin(), end,
                  [](const TableRow& row) { return !row.place.empty(); })) {
    add("written at", true, [](const TableRow& row) {
      return row.place.empty() ? std::string("-") : one_line(row.place);
    });
  }
  add(table.time, false, [](const TableRow& row) { return percent(row.share); });
  // Without a time there is no rate, but there may be work.
  const bool work = table.untimed;
  add(work ? "FLOP" : "TFLOP/s", false, [&](const TableRow& row) {
    if (!row.sum.flops_per_s && row.tensor_inferred) return std::string("tensor?");
    if (!work) return digits(scaled(row.sum.flops_per_s, kTera));
    return row.sum.flops.total && row.flops_known ? with_prefix(row.sum.flops.total, "")
                                                  : std::string("-");
  });
  const bool dram = table.level == MemoryLevel::dram;
  const std::string level = table.level == MemoryLevel::l2 ? " L2" : " L1";
  add((work ? "bytes" : "GB/s") + (dram ? std::string() : level), false, [&](const TableRow& row) {
    const Maybe bytes = at_level(row.sum, table.level).bytes;
    if (work) return bytes && (!dram || row.bytes_known) ? with_prefix(bytes, "B") : "-";
    return digits(scaled(at_level(row.sum, table.level).bytes_per_s, kGiga));
  });
  add(dram ? "FLOP/B" : "FLOP/B" + level, false,
      [&](const TableRow& row) { return digits(at_level(row.sum, table.level).intensity); });
  add("bound", true, [](const TableRow& row) { return to_string(row.sum.roof.bound); });
  for (std::size_t i = 0; i < count; ++i)
    columns.back().colours.push_back(colour_of(table.rows[i].sum.roof.bound));
  add("of roof", false, [](const TableRow& row) { return percent(row.sum.roof.fraction); });
  add("saving", false, [&](const TableRow& row) {
    if (table.by_step && per_step) return saving_text(step_saving_of(row.sum));
    return duration(per_step || !row.sum.saving_ns ? row.sum.saving_ns : Maybe(row.rank_saving));
  });
  add_metrics(table, count, columns);
  if (table.analytic) {
    add("work", true, [](const TableRow& row) {
      const bool unknown = !row.sum.flops_per_s && !row.sum.bytes_per_s;
      return std::string(row.analytic ? "analytic" : unknown ? "-" : "counted");
    });
  }
  return columns;
}

}  // namespace gable
