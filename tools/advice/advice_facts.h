// SPDX-License-Identifier: Apache-2.0
// What advice is drawn from: a report's kernels under its roofs, and where an item applies.
// Internal to this folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/roofline/occupancy.h"
#include "analysis/roofline/roofline.h"
#include "tools/advice/advice.h"
#include "tools/plot/plot.h"

namespace gable {

struct AdviceFacts {
  const Report* report = nullptr;
  Roofline roofline;
  std::vector<PlotRow> kernels;  // rows whose time is not in other rows
  double kernels_ns = 0;         // time of these kernels
  double unit_ns = 0;            // wall time of a step; without steps the time of all kernels
  Unit unit = Unit::run;
  bool torch = false;      // the report shows that the program uses PyTorch
  bool inference = false;  // the program has forward passes and no backward pass

  // What to type: PyTorch's calls are named only if the program uses PyTorch, and training-only
  // advice only if it trains.
  [[nodiscard]] std::string how(const std::string& in_torch, const std::string& elsewhere) const;
  [[nodiscard]] std::string in_training(const std::string& in_torch,
                                        const std::string& otherwise) const;

  // Time and number of the kernels that `fits` accepts.
  struct Part {
    double time_ns = 0, saving_ns = 0;
    std::size_t rows = 0;
    double launches = 0;
    std::vector<std::pair<const PlotRow*, double>> each;  // all timed rows with their savings
    [[nodiscard]] double share(double whole) const { return whole > 0 ? time_ns / whole : 0; }
  };
  // `least`: the time that would remain of a row; a saving counts if that is shorter.
  [[nodiscard]] Part part(const std::function<bool(const PlotRow&)>& fits,
                          const std::function<Maybe(const PlotRow&)>& least = {}) const;
  [[nodiscard]] Maybe roof(const PlotRow& row, const std::string& ceiling) const {
    return roofline.ceiling(row.sum.device, ceiling);
  }
  // How many warps of the row's kernel an SM can hold at once, and why not more.
  [[nodiscard]] std::optional<OccupancyLimit> occupancy_limit(const PlotRow& row) const;
};

// Whether the row's roof is memory's, whether reached or not.
[[nodiscard]] bool memory_holds(const PlotRow& row);

[[nodiscard]] AdviceFacts advice_facts(const Report& report);

// Whether the row is in a layer; the root holds everything without one.
[[nodiscard]] bool has_layer(const PlotRow& row);

// Makes the part's layers and kernels places of the item, and ends its action with the first of
// them.
void place(Advice& advice, const AdviceFacts::Part& part);

// The same for the host's part of the critical path, by what it launches next.
void place_host(Advice& advice, const Report& report);

// The same for the report's copies, by the layers that make them.
void place_copies(Advice& advice, const Report& report);

}  // namespace gable
