// SPDX-License-Identifier: Apache-2.0
// What a user can ask of a collection. The launcher and GABLE_OPTIONS take the same options: both
// declare them through add_collection_options, and the launcher hands its settings on as the text
// that to_options makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gable {

struct Settings {
  std::string output = "gable-%h-%p.json";  // %p pid, %h host, %q{NAME} environment variable
  bool phase_hw = true, phase_flops = true, phase_time = true;  // --phases hw,flops,time
  std::optional<std::uint32_t> wait,
      warmup;  // unset: 1 where steps are known, 0 where windows are launches
  std::optional<std::uint32_t> active;  // unset: as many windows of each phase as the keys want
  std::uint32_t repeat = 1;
  std::uint32_t window = 200;  // launches of one window where no step is known
  std::string step_range;      // --step-range: a regular expression over range names
  std::vector<std::string>
      fold;  // --fold: regular expressions; what they match is cut from range names
  std::vector<std::string> kernels;  // -k: patterns; limits counter windows to matching kernels
  // --include, --exclude: patterns of layers; limit counter windows to launches in such layers
  std::vector<std::string> include, exclude;
  // --ranges user|auto: how counters are told apart by launch; empty: user, and what else works
  // where CUPTI refuses that
  std::string ranges;
  std::string scope = "kernel";      // --scope kernel|range: what counters are taken of
  std::string replay = "none";       // --replay none|kernel: kernel runs each one several times
  std::vector<std::string> metrics;  // --metrics: named sets and metrics; empty is roofline
  std::optional<double> budget;      // --budget: added wall time, percent of the program's
  std::string record;                // --record: a recording of the run goes there; empty: none
  std::string then = "continue";     // --then continue|stop
  std::uint32_t max_keys = 20000;
  bool no_command = false;      // --no-command: reports do not hold the program's command line
  bool allocations = false;     // --allocations: the memory that PyTorch's layers allocate
  std::string layers = "auto";  // --layers auto|off: whether PyTorch's modules become layers
  std::string cupti;            // --cupti: path of the libcupti to load when none is in the process
  std::string manifest;         // set by the launcher: a file that gets one line per report written
  std::string playback;  // set by the launcher under playback: the recording's path, for run.source
};

// Declares every collection option on `app`; the values land in `settings`, which must outlive
// parsing.
void add_collection_options(CLI::App& app, Settings& settings);

// --metrics alone, for commands that only plan.
void add_metrics_option(CLI::App& app, Settings& settings);

// The settings that differ from the defaults as one line of options, quoted as a shell would;
// parse_options reads it.
[[nodiscard]] std::string to_options(const Settings& settings);

struct ParsedOptions {
  Settings settings;
  std::string error;  // one sentence when the text was wrong; the settings are then the defaults
};
// Why options of which each is right cannot be had together, and what can; empty where they can.
[[nodiscard]] std::string contradiction(const Settings& settings);
[[nodiscard]] ParsedOptions parse_options(const std::string& text);

// %p, %h and %q{NAME} replaced; an unknown % sequence stays as it is. A variable that is not set is
// the process id, so that no two processes write one file, and is added to `unset`.
[[nodiscard]] std::string expand_output_name(const std::string& pattern,
                                             std::string* unset = nullptr);

}  // namespace gable
