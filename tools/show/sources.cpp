// SPDX-License-Identifier: Apache-2.0
#include "tools/show/sources.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/base/display.h"
#include "analysis/report/report_json.h"

namespace gable {
namespace {

constexpr const char* kUnknownGpu = "an unknown GPU";

// A process may see GPUs that it does not use.
bool ran_something(const Report& report, const DeviceInfo& device) {
  return std::any_of(report.layers.begin(), report.layers.end(), [&](const LayerRow& layer) {
    return !layer.parent && layer.device == device.id;
  });
}

std::string gpus_of(const std::vector<Report>& reports) {
  std::vector<std::pair<std::string, int>> gpus;
  for (const Report& report : reports) {
    for (const DeviceInfo& device : report.devices) {
      if (!ran_something(report, device)) continue;
      const std::string name = device.name.empty() ? kUnknownGpu : device.name;
      const auto found = std::find_if(gpus.begin(), gpus.end(),
                                      [&](const auto& each) { return each.first == name; });
      if (found == gpus.end()) {
        gpus.emplace_back(name, 1);
      } else {
        ++found->second;
      }
    }
  }
  std::string text;
  for (const auto& [name, count] : gpus)
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " x " : "") + name;
  return text;
}

}  // namespace

std::string shown_command(const RunInfo& run) {
  const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (run.command.size() == 2 && base(run.command[0]) == "gable-player")
    return "the recording " + base(run.command[1]);
  std::string text;
  for (const std::string& word : run.command) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> sources_of(const std::vector<Report>& reports) {
  std::vector<std::string> sources;
  for (const auto source : {Source::playback, Source::imported, Source::predicted, Source::cupti}) {
    if (std::any_of(reports.begin(), reports.end(),
                    [&](const Report& each) { return each.run.source == source; }))
      sources.emplace_back(word_of(source));
  }
  return sources;
}

std::string source_mark(const std::vector<Report>& reports) {
  std::string text;
  for (const std::string& source : sources_of(reports)) {
    if (source != word_of(Source::cupti)) text += "[" + source + "] ";
  }
  return text;
}

std::string programs_and_gpus(const std::vector<Report>& reports, std::size_t columns) {
  constexpr std::size_t kLeast = 20;  // of the program
  std::vector<std::string> programs;
  for (const Report& report : reports) {
    std::string program = one_line(shown_command(report.run));
    if (!program.empty() && std::find(programs.begin(), programs.end(), program) == programs.end())
      programs.push_back(std::move(program));
  }
  std::string program = programs.empty() ? std::string() : programs.front();
  if (programs.size() > 1) program += " and " + std::to_string(programs.size() - 1) + " more";
  std::string gpus = one_line(gpus_of(reports));
  const bool imported = std::any_of(reports.begin(), reports.end(), [](const Report& each) {
    return each.run.source == Source::imported;
  });
  if (program.empty() && gpus.empty() && !imported) return {};
  if (program.empty()) program = "a program";  // other tools' files rarely name it
  if (gpus.empty()) gpus = kUnknownGpu;
  const std::size_t behind = display_width(gpus) + 4;
  return shorten_end(program, columns > behind + kLeast ? columns - behind : kLeast) + " on " +
         gpus;
}

std::size_t equal_reports(const std::vector<Report>& reports) {
  // Texts of reports are long: only those that may be copies are written.
  using Run = std::tuple<std::string, std::int64_t, std::string, std::size_t, std::size_t>;
  std::map<Run, std::vector<const Report*>> runs;
  for (const Report& report : reports) {
    const RunInfo& run = report.run;
    runs[{run.hostname, run.pid, run.started_at, report.layers.size(), report.kernels.size()}]
        .push_back(&report);
  }
  std::size_t count = 0;
  for (const auto& [run, alike] : runs) {
    if (alike.size() < 2) continue;
    std::set<std::string> texts;
    for (const Report* report : alike) texts.insert(to_json(*report));
    count += alike.size() - texts.size();
  }
  return count;
}

}  // namespace gable
