// SPDX-License-Identifier: Apache-2.0
// The rules behind advise(), by what holds the kernels. Internal to analysis/.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/roofline/roofline.h"
#include "tools/advice/advice.h"
#include "tools/plot/plot.h"

namespace gable {

struct AdviceFacts {
  const Report* report = nullptr;
  Roofline roofline;
  std::vector<PlotRow> kernels;  // those whose time is their own
  double kernels_ns = 0;         // their time
  double unit_ns = 0;            // wall time of a step; without steps the time of all kernels
  std::string unit;              // "step" | "run"

  // Time of the kernels that `fits` holds of, and how many there are.
  struct Part {
    double time_ns = 0, saving_ns = 0;
    std::size_t rows = 0;
    double launches = 0;
    [[nodiscard]] double share(double whole) const { return whole > 0 ? time_ns / whole : 0; }
  };
  // `least` is the time that would remain of a row; its saving counts where that is shorter.
  [[nodiscard]] Part part(const std::function<bool(const PlotRow&)>& fits,
                          const std::function<Maybe(const PlotRow&)>& least = {}) const;
  [[nodiscard]] Maybe roof(const PlotRow& row, const std::string& ceiling) const {
    return roofline.ceiling(row.sum.device, ceiling);
  }
};

[[nodiscard]] AdviceFacts advice_facts(const Report& report);

void advise_on_compute(const AdviceFacts& facts, std::vector<Advice>& advice);
void advise_on_memory(const AdviceFacts& facts, std::vector<Advice>& advice);
// Latency, overhead, idle time, copies, waits and communication.
void advise_on_the_rest(const AdviceFacts& facts, std::vector<Advice>& advice);

}  // namespace gable
