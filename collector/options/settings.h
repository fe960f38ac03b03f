// SPDX-License-Identifier: Apache-2.0
// What a user can ask of a collection. The launcher and GABLE_OPTIONS take the same options: both
// declare them through add_collection_options, and the launcher hands its settings on as the text
// that to_options makes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/words.h"

namespace CLI {
class App;
}

namespace gable {

// --ranges: how counters are assigned to launches. By default `user`, or whatever works if CUPTI
// refuses that.
enum class RangesBy : std::uint8_t { user, automatic };
// --scope: what counters are taken for.
enum class CounterScope : std::uint8_t { kernel, range };
// --replay: whether CUPTI runs each kernel several times.
enum class Replay : std::uint8_t { none, kernel };
// --layers: whether PyTorch's modules become layers.
enum class ModuleLayers : std::uint8_t { automatic, off };
// --then: what the program does when the queue is complete.
enum class Then : std::uint8_t { go_on, stop };

template <>
inline constexpr auto kWordsOf<RangesBy> =
    std::to_array<Word<RangesBy>>({{RangesBy::user, "user"}, {RangesBy::automatic, "auto"}});
template <>
inline constexpr auto kWordsOf<CounterScope> = std::to_array<Word<CounterScope>>(
    {{CounterScope::kernel, "kernel"}, {CounterScope::range, "range"}});
template <>
inline constexpr auto kWordsOf<Replay> = std::to_array<Word<Replay>>({{Replay::none, "none"},
                                                                      {Replay::kernel, "kernel"}});
template <>
inline constexpr auto kWordsOf<ModuleLayers> = std::to_array<Word<ModuleLayers>>(
    {{ModuleLayers::automatic, "auto"}, {ModuleLayers::off, "off"}});
template <>
inline constexpr auto kWordsOf<Then> = std::to_array<Word<Then>>({{Then::go_on, "continue"},
                                                                  {Then::stop, "stop"}});

struct Settings {
  std::string output = "gable-%h-%p.json";                      // see output_name.h
  bool phase_hw = true, phase_flops = true, phase_time = true;  // --phases hw,flops,time
  std::optional<std::uint32_t> wait,
      warmup;  // unset: 1 where steps are known, 0 where windows are launches
  std::optional<std::uint32_t> active;  // windows per phase; unset: as many as the keys need
  std::uint32_t repeat = 1;
  std::uint32_t window = 200;  // launches of one window where no step is known
  std::string step_range;      // --step-range: a regular expression over range names
  std::vector<std::string>
      fold;  // --fold: regular expressions; what they match is cut from range names
  std::vector<std::string> kernels;  // -k: patterns; limits counter windows to matching kernels
  // --include, --exclude: patterns of layers; limit counter windows to launches in such layers
  std::vector<std::string> include, exclude;
  std::optional<RangesBy> ranges;
  CounterScope scope = CounterScope::kernel;
  Replay replay = Replay::none;
  std::vector<std::string> metrics;      // --metrics: named sets and metrics; empty is roofline
  std::optional<double> budget;          // --budget: added wall time, percent of the program's
  std::optional<std::uint32_t> every_s;  // --every: from the beginning of one queue to the next
  std::string record;                    // --record: file for a recording of the run; empty: none
  std::string ranks;                     // --ranks: ranks that write a report; empty: all
  Then then = Then::go_on;
  std::uint32_t max_keys = 20000;
  bool no_command = false;  // --no-command: reports do not hold the program's command line
  bool stacks = false;      // --stacks: where the program calls PyTorch's operators
  bool memory = false;      // --memory: what holds the GPU's memory in a step of PyTorch's
  ModuleLayers layers = ModuleLayers::automatic;
  std::string cupti;     // --cupti: path of the libcupti to load when none is in the process
  std::string manifest;  // set by the launcher: a file that gets one line per report written
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
// Why options that are each valid cannot be combined, and what can be; empty if they can.
[[nodiscard]] std::string contradiction(const Settings& settings);
[[nodiscard]] ParsedOptions parse_options(const std::string& text);

}  // namespace gable
