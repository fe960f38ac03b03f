// SPDX-License-Identifier: Apache-2.0
#include "tools/show/roof_lines.h"

#include <algorithm>
#include <cmath>

#include "analysis/base/display.h"
#include "analysis/roofline/ceilings.h"

namespace gable {
namespace {

void add_once(const std::string& text, std::vector<std::string>& list) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : ", ") + each;
  return text;
}

// "1.41 GHz of 1.98 GHz", where they differ.
std::string clock_of(const Report& report, const DeviceInfo& device) {
  constexpr double kSame = 0.01;
  const auto found = report.sm_clock_measured_hz.find(device.id);
  const auto highest = static_cast<double>(device.sm_clock_max_hz);
  if (found == report.sm_clock_measured_hz.end() || !found->second || highest <= 0) return {};
  if (std::abs(*found->second / highest - 1) <= kSame) return {};
  return with_prefix(found->second, "Hz") + " (highest " + with_prefix(highest, "Hz") + ")";
}

}  // namespace

std::vector<std::string> roof_lines(const std::vector<Report>& reports) {
  std::vector<std::string> measured, stated, clocks, lines;
  for (const Report& report : reports) {
    for (const Ceiling& ceiling : report.ceilings) {
      if (preference(ceiling) == 2) add_once(ceiling.name, measured);
      if (is_stated_by_cupti(ceiling)) add_once(ceiling.name, stated);
    }
    for (const DeviceInfo& device : report.devices) {
      const std::string clock = clock_of(report, device);
      if (!clock.empty()) add_once(clock, clocks);
    }
  }
  if (!measured.empty()) lines.push_back("of roof: gable ceilings measured " + joined(measured));
  if (!stated.empty()) {
    lines.push_back("of roof: CUPTI states " + joined(stated) +
                    ", at the clocks of the counter windows");
  }
  if (!clocks.empty()) {
    lines.push_back("of roof: theoretical ones are at the SM clock of the counter windows, " +
                    joined(clocks));
  }
  return lines;
}

}  // namespace gable
