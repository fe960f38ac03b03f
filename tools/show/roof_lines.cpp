// SPDX-License-Identifier: Apache-2.0
#include "tools/show/roof_lines.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/roofline/ceilings.h"

namespace gable {
namespace {

using Names = std::vector<std::string>;

void add_once(const std::string& text, Names& list) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string all_of(const Names& list) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : ", ") + each;
  return text;
}

// "1.41 GHz, the SM clock of the counter windows (highest 1.98 GHz)".
std::string measured_clock(const Report& report, std::int32_t id) {
  constexpr double kSame = 0.01;
  const auto found = report.sm_clock_measured_hz.find(id);
  if (found == report.sm_clock_measured_hz.end() || !found->second) return {};
  std::string text = with_prefix(found->second, "Hz") + ", the " +
                     (report.run.source == Source::imported ? "measured SM clock"
                                                            : "SM clock of the counter windows");
  for (const DeviceInfo& device : report.devices) {
    const auto highest = static_cast<double>(device.sm_clock_max_hz);
    if (device.id == id && highest > 0 && std::abs(*found->second / highest - 1) > kSame)
      text += " (highest " + with_prefix(highest, "Hz") + ")";
  }
  return text;
}

// "theoretical: 40 SMs x 128 per clock x 1.59 GHz, the highest clock; …": the clock.
std::string clock_in(const std::string& source) {
  constexpr std::string_view kBefore = " per clock x ";
  const std::size_t at = source.find(kBefore);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kBefore.size();
  return source.substr(begin, source.find(';', begin) - begin);
}

std::string clock_of(const Report& report, const Ceiling& ceiling) {
  if (ceiling.clock == SmClock::none) return {};
  std::string text =
      ceiling.clock == SmClock::measured ? measured_clock(report, ceiling.device) : std::string();
  return text.empty() ? clock_in(ceiling.source) : text;
}

// Whose figure it is: "theoretical (A100 data sheet)". Empty if it is computed from the GPU's
// attributes.
std::string stated_by(const Ceiling& ceiling) {
  constexpr std::string_view kTheoretical = "theoretical: ";
  if (!ceiling.source.starts_with(kTheoretical)) return {};
  const std::string text = ceiling.source.substr(kTheoretical.size());
  if (text.starts_with("ncu states ")) return "stated by ncu at the clocks while it counted";
  // Of SMs, and of memory.
  if (!clock_in(ceiling.source).empty() || text.find(" bit x ") != std::string::npos) return {};
  return "theoretical (" + text.substr(0, text.find(';')) + ")";
}

// Of several ceilings with one name the one that holds.
bool holds(const Report& report, const Ceiling& ceiling) {
  return std::none_of(report.ceilings.begin(), report.ceilings.end(), [&](const Ceiling& other) {
    return other.device == ceiling.device && other.name == ceiling.name &&
           preference(other) > preference(ceiling);
  });
}

}  // namespace

std::string roofs_line(const std::vector<Report>& reports) {
  Names measured, stated, clocks;
  std::vector<std::pair<std::string, Names>> others;  // by whose figures they are
  bool computed = false;
  for (const Report& report : reports) {
    for (const Ceiling& ceiling : report.ceilings) {
      // What is said of copies names their link.
      if (ceiling.kind == CeilingKind::link || !holds(report, ceiling)) continue;
      const std::string clock = clock_of(report, ceiling), whose = stated_by(ceiling);
      if (preference(ceiling) == 2) {
        add_once(ceiling.name, measured);
      } else if (is_stated_by_cupti(ceiling)) {
        add_once(ceiling.name, stated);
      } else if (whose.empty()) {
        computed = true;
        if (!clock.empty()) add_once(clock, clocks);
      } else {
        auto found = std::find_if(others.begin(), others.end(),
                                  [&](const auto& each) { return each.first == whose; });
        if (found == others.end()) found = others.insert(others.end(), {whose, {}});
        add_once(ceiling.name, found->second);
      }
    }
  }
  const auto kinds = (measured.empty() ? 0u : 1u) + (stated.empty() ? 0u : 1u) + others.size() +
                     (computed ? 1u : 0u);
  if (kinds == 0) return reports.empty() ? "" : "Roofs: unknown";
  std::string text;
  const auto add = [&](const std::string& names, const std::string& how) {
    text += (text.empty() ? "Roofs: " : "; ") + (kinds > 1 ? names + " " : std::string()) + how;
  };
  if (!measured.empty()) add(all_of(measured), "measured by gable ceilings");
  if (!stated.empty()) add(all_of(stated), "stated by CUPTI at the clocks of the counter windows");
  for (const auto& [whose, names] : others) add(all_of(names), whose);
  if (computed) add("others", "theoretical" + (clocks.empty() ? "" : " at " + all_of(clocks)));
  return text;
}

}  // namespace gable
