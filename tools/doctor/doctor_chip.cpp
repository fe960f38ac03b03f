// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor_chip.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "analysis/events/quantities.h"
#include "analysis/events/roof_metrics.h"
#include "collector/options/metric_sets.h"

namespace gable {
namespace {

constexpr std::size_t kColumns = 100;

std::string counted_in_set(const std::string& metric) {
  for (const MetricSet& set : metric_sets())
    for (const SetQuantity& quantity : set.quantities)
      if (std::find(quantity.metrics.begin(), quantity.metrics.end(), metric) !=
          quantity.metrics.end())
        return std::string(quantity.name);
  return "asked for";
}

std::string counted_for_roofline(const MetricRole& role) {
  switch (role.quantity) {
    case Quantity::flops_fp64:
      return "FP64 operations";
    case Quantity::flops_fp32:
      return "FP32 operations";
    case Quantity::flops_fp16:
      return "FP16 operations";
    case Quantity::flops_tensor:
    case Quantity::ops_tensor:
      return std::string(role.type) + " tensor work";
    case Quantity::bytes_dram_read:
      return "DRAM bytes read";
    case Quantity::bytes_dram_write:
      return "DRAM bytes written";
    case Quantity::bytes_dram:
      return "DRAM bytes";
    case Quantity::bytes_l2:
      return "L2 bytes";
    case Quantity::bytes_l1:
      return "L1 bytes";
    case Quantity::l1_escapes:
      return "what L1 bytes miss";
    case Quantity::duration_ns:
      return "duration";
    case Quantity::ctas:
      return "thread blocks";
    case Quantity::sm_cycles:
      return "SM cycles";
    case Quantity::tensor_instructions:
      return "tensor instructions";
    case Quantity::integer_tensor_instructions:
      return "integer tensor instructions";
  }
  return "-";
}

// For who knows a GPU by its name in the shop.
constexpr std::pair<std::string_view, std::string_view> kProducts[] = {
    {"GV100", "V100"},
    {"TU102", "RTX 2080 Ti"},
    {"TU104", "T4"},
    {"TU116", "GTX 1660"},
    {"TU117", "GTX 1650"},
    {"GA100", "A100, A30"},
    {"GA102", "A10, A40, RTX 3090"},
    {"GA10B", "Jetson Orin"},
    {"AD102", "L40, L40S, RTX 4090"},
    {"AD104", "L4"},
    {"GH100", "H100, H200, GH200"},
    {"GB100", "B200, GB200"},
    {"GB110", "B300, GB300"},
    {"GB10B", "Jetson Thor"},
    {"GB202", "RTX 5090, RTX PRO 6000 Blackwell"},
    {"GB20B", "GB10 (DGX Spark)"}};

}  // namespace

std::string counted_by(const std::string& metric) {
  if (const RoofMetric* roof = roof_metric(metric)) return "roof of " + std::string(roof->shown);
  const MetricRole* role = role_of(metric);
  return role != nullptr ? counted_for_roofline(*role) : counted_in_set(metric);
}

void print_wrapped(const std::string& first, std::size_t indent, const std::string& text) {
  std::string line = first;
  if (!text.empty()) line.resize(std::max(line.size(), indent), ' ');
  std::istringstream words(text);
  bool empty = true;
  for (std::string word; words >> word; empty = false) {
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      std::printf("%s\n", line.c_str());
      line.assign(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
  }
  std::printf("%s\n", line.c_str());
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string products_of(const std::vector<std::string>& chips) {
  std::vector<std::string> products;
  for (const auto& [chip, product] : kProducts)
    if (std::find(chips.begin(), chips.end(), chip) != chips.end()) products.emplace_back(product);
  return joined(products);
}

bool is_too_old(const std::string& chip) { return chip.rfind("GV", 0) == 0; }

void print_plan(const MetricPlan& plan) {
  std::size_t widest = 0;
  for (const PassPlan& pass : plan.passes) {
    for (const std::string& metric : pass.metrics) widest = std::max(widest, metric.size());
  }
  const int width = static_cast<int>(widest);
  std::printf("%-7s%-*s  %s\n", "phase", width, "metric", "counts");
  for (const PassPlan& pass : plan.passes) {
    std::string phase = to_string(pass.phase);
    for (const std::string& metric : pass.metrics) {
      std::printf("%-7s%-*s  %s\n", phase.c_str(), width, metric.c_str(),
                  counted_by(metric).c_str());
      phase.clear();
    }
  }
  std::printf("\n");
  if (!plan.unavailable.empty()) {
    print_wrapped("", 0, "Not counted on this chip: " + joined(plan.unavailable) + ".");
  }
  for (const std::string& note : plan.notes) print_wrapped("", 0, note);
  for (const LeftOut& one : plan.left_out) print_wrapped("", 0, one.sentence);
  print_wrapped("", 0,
                is_too_old(plan.chip)
                    ? "CUPTI plans for this chip but takes no counters on it: its range profiler "
                      "needs compute capability 7.5 or newer. Only the phase time runs there."
                    : "Times come from the phase time, which takes no counters.");
}

}  // namespace gable
