// SPDX-License-Identifier: Apache-2.0
// What the table shows, before it is text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"

namespace gable {

struct TableRow {
  std::size_t report = 0;  // of those that are shown
  double units = 1;        // how often its report's unit happened
  std::size_t count = 1;   // layers that the row stands for
  std::string process;     // "rank 1" or the pid
  std::int32_t device = 0;
  std::string name;   // a layer's path or a kernel's name, shown in the middle when it is long
  std::string place;  // where a kernel is written
  Direction direction = Direction::none;
  const LayerRow* layer = nullptr;  // of the report; null where it has no such row
  LayerRow sum;                     // of the row's own kernels, per unit of its report
  bool counts_again = false;        // a graph: its time is that of other rows, and has no share
  bool analytic = false;  // nothing was counted: FLOPs and bytes are those of the layer's operators
  std::string precision;  // as precision_of, of what was counted or of the formulas
  bool tensor_inferred = false;                 // FLOPs unknown: on tensor cores by a kernel's name
  bool flops_known = true, bytes_known = true;  // of all its kernels
  Maybe share;                                  // of the GPU time of all reports
  double rank_saving = 0, rank_time = 0;  // over the whole run, to compare rows of several reports
};

struct TableRows {
  std::vector<TableRow> rows;  // as the query sorts them
  bool kernels = false;        // rows are kernels: asked for, or for want of layers
  bool several_layers = false;
  std::size_t layers = 0;  // that the rows stand for; 0 where every layer has a row of its own
  bool by_saving = false;
  bool by_step = false;  // savings are of a step's time: steps were recorded
  bool several_devices = false, several_directions = false;
  bool untimed = false;  // no row has a time
  SortBy sort = SortBy::saving;
  bool analytic = false;                  // some row is
  MemoryLevel level = MemoryLevel::dram;  // of intensity and bandwidth
  std::string time;                       // what shares are of: time_of_shares
};

// The rows point into `reports`, which must outlive them.
[[nodiscard]] TableRows table_rows(const std::vector<Report>& reports, const RowQuery& query = {});

// How often the unit of the report happened: a step's numbers times this are the run's.
[[nodiscard]] double units_of(const Report& report);

}  // namespace gable
