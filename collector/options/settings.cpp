// SPDX-License-Identifier: Apache-2.0
#include "collector/options/settings.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <exception>
#include <optional>
#include <utility>

#include "collector/options/block.h"
#include "collector/options/metric_sets.h"
#include "collector/options/option_kinds.h"
#include "collector/options/rank_set.h"
#include "collector/options/shell_words.h"

namespace gable {
namespace {

void read_phases(const std::string& text, Settings& settings) {
  bool hw = false, flops = false, time = false;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string phase = text.substr(begin, end - begin);
    if (phase == "hw") {
      hw = true;
    } else if (phase == "flops") {
      flops = true;
    } else if (phase == "time") {
      time = true;
    } else {
      throw CLI::ValidationError("--phases takes a list of hw, flops and time such as hw,time; " +
                                 quoted_for_message(phase) + " is none of them.");
    }
    begin = end + 1;
  }
  settings.phase_hw = hw;
  settings.phase_flops = flops;
  settings.phase_time = time;
}

// "roofline, mix, warps and cache"
std::string set_names() {
  const auto& sets = metric_sets();
  std::string names;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == sets.size() ? " and " : ", ";
    names += before + std::string(sets[i].name);
  }
  return names;
}

// "roofline,cache": names that metrics and sets of them can have.
void read_metrics(const std::string& list, std::vector<std::string>& metrics) {
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.';
    });
    if (!plain) {
      throw CLI::ValidationError(
          "--metrics takes names separated by commas such as roofline,dram__bytes.sum; " +
          quoted_for_message(name) + " is not a name.");
    }
    if (name.find("__") == std::string::npos && find_metric_set(name) == nullptr) {
      throw CLI::ValidationError("--metrics takes the sets " + set_names() +
                                 ", and CUPTI's metrics, which are named like dram__bytes.sum; " +
                                 quoted_for_message(name) + " is neither.");
    }
    if (std::find(metrics.begin(), metrics.end(), name) == metrics.end()) metrics.push_back(name);
    begin = end + 1;
  }
}

// "3%" or "3".
double read_budget(const std::string& text) {
  const std::size_t digits = text.size() - (text.ends_with('%') ? 1 : 0);
  double percent = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + digits, percent);
  if (code != std::errc() || end != text.data() + digits || !(percent > 0) || percent > 1000) {
    throw CLI::ValidationError(
        "--budget takes the share of the run that measuring may add, such as 3%, not " +
        quoted_for_message(text) + ".");
  }
  return percent;
}

std::string budget_text(double percent) {
  std::array<char, 32> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), percent);
  return std::string(digits.data(), end) + "%";
}

// "90s", "10m", "1h", "1d": seconds.
std::uint32_t read_every(const std::string& text) {
  constexpr std::uint32_t kMostS = 365 * 86'400;
  std::uint32_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const std::uint64_t scale = unit == "s"   ? 1
                              : unit == "m" ? 60
                              : unit == "h" ? 3'600
                              : unit == "d" ? 86'400
                                            : 0;
  const std::uint64_t seconds = number * scale;
  if (code != std::errc() || seconds == 0 || seconds > kMostS) {
    throw CLI::ValidationError(
        "--every takes a time from 1s to 365d such as 30s, 10m, 1h or 1d, not " +
        quoted_for_message(text) + ".");
  }
  return static_cast<std::uint32_t>(seconds);
}

std::string phases_text(const Settings& settings) {
  std::string text;
  const auto add = [&text](bool wanted, const char* name) {
    if (wanted) text += (text.empty() ? "" : ",") + std::string(name);
  };
  add(settings.phase_hw, "hw");
  add(settings.phase_flops, "flops");
  add(settings.phase_time, "time");
  return text;
}

}  // namespace

void add_metrics_option(CLI::App& app, Settings& settings) {
  app.add_option_function<std::vector<std::string>>(
         "--metrics",
         [&settings](const std::vector<std::string>& lists) {
           settings.metrics.clear();
           for (const std::string& list : lists) read_metrics(list, settings.metrics);
         })
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_collection_options(CLI::App& app, Settings& settings) {
  app.add_option_function<std::string>("-o,--output",
                                       [&settings](const std::string& text) {
                                         check_not_empty("--output", "a file name", text);
                                         settings.output = text;
                                       })
      ->take_last();
  app.add_option_function<std::string>(
         "--phases", [&settings](const std::string& text) { read_phases(text, settings); })
      ->take_last();
  declare_number(app, "--wait", settings.wait, 0);
  declare_number(app, "--warmup", settings.warmup, 0);
  declare_number(app, "--active", settings.active, 1);
  declare_number(app, "--repeat", settings.repeat, 1, kMostRepeats);
  declare_number(app, "--window", settings.window, 1);
  app.add_option_function<std::string>("--step-range",
                                       [&settings](const std::string& text) {
                                         check_not_empty("--step-range", "a regular expression",
                                                         text);
                                         check_regex("--step-range", text);
                                         settings.step_range = text;
                                       })
      ->take_last();
  declare_list(app, "--fold", settings.fold, [](const std::string& value) {
    check_not_empty("--fold", "a regular expression", value);
    check_regex("--fold", value);
  });
  declare_patterns(app, "-k,--kernel", settings.kernels);
  declare_patterns(app, "--include", settings.include);
  declare_patterns(app, "--exclude", settings.exclude);
  declare_choice<RangesBy>(app, "--ranges", settings.ranges);
  declare_choice<CounterScope>(app, "--scope", settings.scope);
  declare_choice<Replay>(app, "--replay", settings.replay);
  add_metrics_option(app, settings);
  app.add_option_function<std::string>(
         "--budget", [&settings](const std::string& text) { settings.budget = read_budget(text); })
      ->take_last();
  app.add_option_function<std::string>(
         "--every", [&settings](const std::string& text) { settings.every_s = read_every(text); })
      ->take_last();
  declare_choice<ModuleLayers>(app, "--layers", settings.layers);
  app.add_flag("--memory", settings.memory);
  app.add_flag("--stacks", settings.stacks);
  app.add_flag("--no-command", settings.no_command);
  declare_text(app, "--record", settings.record, "a file name");
  app.add_option_function<std::string>(
         "--ranks",
         [&settings](const std::string& text) {
           if (!RankSet::parse(text))
             throw CLI::ValidationError(
                 "--ranks takes ranks such as 0,7 or slices of them such as 0:8 (0 to 7) or 0::8 "
                 "(every eighth), not " +
                 quoted_for_message(text) + ".");
           settings.ranks = text;
         })
      ->take_last();
  declare_choice<Then>(app, "--then", settings.then);
  declare_number(app, "--max-keys", settings.max_keys, 1);
  declare_text(app, "--cupti", settings.cupti, "the path of a libcupti");
  // What the launcher says to the library: options without a group are for no page.
  declare_text(app, "--manifest", settings.manifest, "a file name")->group("");
  declare_text(app, "--playback", settings.playback, "a recording")->group("");
}

std::string to_options(const Settings& settings) {
  const Settings defaults;
  std::string line;
  const auto add = [&line](const std::string& option, const std::string& value) {
    line += (line.empty() ? "" : " ") + shell_quoted(option + "=" + value);
  };
  const auto add_text = [&add](const char* option, const std::string& value,
                               const std::string& usual) {
    if (value != usual) add(option, value);
  };
  const auto add_number = [&add](const char* option, std::optional<std::uint32_t> value,
                                 std::optional<std::uint32_t> usual) {
    if (value && value != usual) add(option, std::to_string(*value));
  };
  const auto add_choice = [&add](const char* option, auto value, auto usual) {
    if (value != usual) add(option, to_string(value));
  };
  add_text("--output", settings.output, defaults.output);
  add_text("--phases", phases_text(settings), phases_text(defaults));
  add_number("--wait", settings.wait, defaults.wait);
  add_number("--warmup", settings.warmup, defaults.warmup);
  add_number("--active", settings.active, defaults.active);
  add_number("--repeat", settings.repeat, defaults.repeat);
  add_number("--window", settings.window, defaults.window);
  add_text("--step-range", settings.step_range, defaults.step_range);
  for (const std::string& pattern : settings.fold) add("--fold", pattern);
  for (const std::string& pattern : settings.kernels) add("--kernel", pattern);
  for (const std::string& pattern : settings.include) add("--include", pattern);
  for (const std::string& pattern : settings.exclude) add("--exclude", pattern);
  if (settings.ranges) add("--ranges", to_string(*settings.ranges));
  add_choice("--scope", settings.scope, defaults.scope);
  add_choice("--replay", settings.replay, defaults.replay);
  if (!settings.metrics.empty()) {
    std::string list;
    for (const std::string& name : settings.metrics) list += (list.empty() ? "" : ",") + name;
    add("--metrics", list);
  }
  if (settings.budget) add("--budget", budget_text(*settings.budget));
  if (settings.every_s) add("--every", std::to_string(*settings.every_s) + "s");
  add_choice("--layers", settings.layers, defaults.layers);
  if (settings.memory) add("--memory", "true");
  if (settings.stacks) add("--stacks", "true");
  if (settings.no_command) add("--no-command", "true");
  add_text("--record", settings.record, defaults.record);
  add_text("--ranks", settings.ranks, defaults.ranks);
  add_choice("--then", settings.then, defaults.then);
  add_number("--max-keys", settings.max_keys, defaults.max_keys);
  add_text("--cupti", settings.cupti, defaults.cupti);
  add_text("--manifest", settings.manifest, defaults.manifest);
  add_text("--playback", settings.playback, defaults.playback);
  return line;
}

std::string contradiction(const Settings& settings) {
  if (settings.every_s && settings.then == Then::stop)
    return "--every measures again and again, and --then stop ends the program after its first "
           "queue: leave one of them out.";
  if (settings.scope != CounterScope::range) return {};
  const std::string takes = "--scope range counts the launches of a layer together and takes no ";
  if (settings.replay == Replay::kernel)
    return takes + "--replay kernel, which counts each alone: leave one of them out.";
  if (settings.ranges == RangesBy::automatic)
    return takes + "--ranges auto, which counts each alone: leave one of them out.";
  if (!settings.record.empty())
    return takes + "--record, which keeps what each counted alone: leave one of them out.";
  return {};
}

ParsedOptions parse_options(const std::string& text) {
  ParsedOptions result;
  // Whatever goes wrong here must not leave: the caller runs inside somebody else's program.
  try {
    std::vector<std::string> words;
    if (!shell_words(text, words)) {
      result.error = "A quote is left open in the options " + text + ".";
      return result;
    }
    Settings settings;
    CLI::App app;
    app.set_help_flag();
    add_collection_options(app, settings);
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
    app.allow_extras();
    app.parse(reversed);
    const std::vector<std::string> unknown = app.remaining();
    result.error = contradiction(settings);
    if (!result.error.empty()) return result;
    if (unknown.empty()) {
      result.settings = std::move(settings);
    } else {
      result.error =
          "There is no option '" + unknown.front() + "'; gable env --help lists the options.";
    }
  } catch (const CLI::ArgumentMismatch& problem) {
    const std::string text_of_it = problem.what();
    result.error = text_of_it.substr(0, text_of_it.find(':')) + " needs a value.";
  } catch (const std::exception& problem) {
    result.error = problem.what();
  } catch (...) {
    result.error = "The options could not be read.";
  }
  return result;
}

}  // namespace gable
