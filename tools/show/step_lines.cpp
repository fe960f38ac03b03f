// SPDX-License-Identifier: Apache-2.0
#include "tools/show/step_lines.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/events/kernel_kind.h"

namespace gable {
namespace {

constexpr double kWorthNaming = 0.01;  // of the GPU time

std::string counted(double count, const std::string& what) {
  const bool whole = std::floor(count) == count && count < 1e15;
  const std::string number =
      whole ? std::to_string(static_cast<std::uint64_t>(count)) : digits(count);
  return number + " " + what + (count == 1 ? "" : "s");
}

// The host's time is named where it is not the GPU's: it may be far ahead, and wait now and then.
std::string host_part(const Step& step) {
  if (!step.host_mean_ns) return {};
  std::string text = "host " + duration(step.host_mean_ns);
  if (step.sync_ns && *step.sync_ns > 0)
    text += " (" + duration(std::min(*step.sync_ns, *step.host_mean_ns)) + " of it waiting)";
  return text;
}

std::string step_line(const Step& step) {
  std::string text = "A step: ";
  const auto add = [&text](const char* what, const Maybe& ns) {
    if (ns && *ns > 0) text += std::string(", ") + what + " " + duration(ns);
  };
  if (!step.wall_mean_ns) {
    text += "unknown on the GPU";
    add("busy", step.busy_ns);
  } else {
    text += duration(step.wall_mean_ns);
    add("GPU busy", step.busy_ns);
    add("idle", step.idle_ns);
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

std::string tokens_line(const LayerRow& layer, const Tokens& tokens) {
  std::string text = layer.path.back() + ": ";
  text += tokens.per_sequence == 1
              ? duration(tokens.ns_each()) + " a token"
              : duration(tokens.wall_ns) + " for " + counted(tokens.per_sequence, "token");
  return text + ", " + with_prefix(*tokens.per_second(), "tokens/s") + " (" +
         counted(tokens.per_forward / tokens.per_sequence, "sequence") + ", " +
         counted(static_cast<double>(tokens.forwards), "forward") + " timed)";
}

}  // namespace

std::vector<std::string> step_lines(const Report& report) {
  std::vector<std::string> lines;
  if (!report.step.wall_mean_ns && !report.step.host_mean_ns) return lines;
  lines.push_back(step_line(report.step));
  if (std::string text = utilisation_line(report); !text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    lines.push_back(std::move(text));
  }
  for (const LayerRow& layer : report.layers) {
    if (layer.tokens && layer.tokens->per_second() && !layer.path.empty())
      lines.push_back(tokens_line(layer, *layer.tokens));
  }
  return lines;
}

}  // namespace gable
