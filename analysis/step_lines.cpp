// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_lines.h"

#include <cmath>
#include <cstdint>

#include "analysis/display.h"

namespace gable {
namespace {

std::string counted(double count, const std::string& what) {
  const bool whole = std::floor(count) == count && count < 1e15;
  const std::string number =
      whole ? std::to_string(static_cast<std::uint64_t>(count)) : digits(count);
  return number + " " + what + (count == 1 ? "" : "s");
}

std::string step_line(const Step& step) {
  std::string text = "A step: " + duration(step.wall_mean_ns);
  const auto add = [&text](const char* what, const Maybe& ns) {
    if (ns && *ns > 0) text += std::string(", ") + what + " " + duration(ns);
  };
  add("GPU busy", step.busy_ns);
  if (step.busy_ns && *step.busy_ns > *step.wall_mean_ns) {
    text += " (it runs behind the program)";
  } else {
    add("idle", step.idle_ns);
    if (step.idle_ns && *step.idle_ns > 0)
      text += " (" + percent(*step.idle_ns / *step.wall_mean_ns) + ")";
  }
  add("copies", step.copy_ns);
  add("host waits", step.sync_ns);
  return text;
}

std::string tokens_line(const LayerRow& layer, const Tokens& tokens) {
  std::string text = layer.path.back() + ": ";
  text += tokens.per_sequence == 1
              ? duration(tokens.ns_each()) + " a token"
              : duration(tokens.wall_ns) + " for " + counted(tokens.per_sequence, "token");
  return text + ", " + with_prefix(tokens.per_second(), "tokens/s") + " (" +
         counted(tokens.per_forward / tokens.per_sequence, "sequence") + ", " +
         counted(static_cast<double>(tokens.forwards), "forward") + " timed)";
}

}  // namespace

std::vector<std::string> step_lines(const Report& report) {
  std::vector<std::string> lines;
  if (!report.step.wall_mean_ns || !(*report.step.wall_mean_ns > 0)) return lines;
  lines.push_back(step_line(report.step));
  for (const LayerRow& layer : report.layers) {
    if (layer.tokens && !layer.path.empty()) lines.push_back(tokens_line(layer, *layer.tokens));
  }
  return lines;
}

}  // namespace gable
