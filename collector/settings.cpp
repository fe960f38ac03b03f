// SPDX-License-Identifier: Apache-2.0
#include "collector/settings.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

namespace gable {
namespace {

constexpr std::string_view kRegexPrefix = "regex:";

std::string quoted_for_message(const std::string& text) { return "'" + text + "'"; }

void check_regex(const std::string& option, const std::string& text) {
  try {
    const std::regex probe(text);
  } catch (const std::regex_error&) {
    throw CLI::ValidationError(option + " takes a regular expression, and " +
                               quoted_for_message(text) + " is not a valid one.");
  }
}

void check_not_empty(const std::string& option, const std::string& what, const std::string& text) {
  if (text.empty()) throw CLI::ValidationError(option + " takes " + what + ", not an empty text.");
}

template <class Number>  // std::uint32_t or an optional one
void declare_number(CLI::App& app, const std::string& name, Number& target, std::uint32_t least,
                    const std::string& description) {
  app.add_option_function<std::string>(
         name,
         [&target, name, least](const std::string& text) {
           std::uint32_t value = 0;
           const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
           if (code != std::errc() || end != text.data() + text.size() || value < least) {
             throw CLI::ValidationError(name + " takes a whole number from " +
                                        std::to_string(least) + " to 4294967295, not " +
                                        quoted_for_message(text) + ".");
           }
           target = value;
         },
         description)
      ->take_last();
}

CLI::Option* declare_text(CLI::App& app, const std::string& name, std::string& target,
                          const std::string& what, const std::string& description) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name, what](const std::string& text) {
            check_not_empty(name, what, text);
            target = text;
          },
          description)
      ->take_last();
}

void declare_choice(CLI::App& app, const std::string& name, std::string& target,
                    const std::string& first, const std::string& second,
                    const std::string& description) {
  app.add_option_function<std::string>(
         name,
         [&target, name, first, second](const std::string& text) {
           if (text != first && text != second) {
             throw CLI::ValidationError(name + " takes '" + first + "' or '" + second + "', not " +
                                        quoted_for_message(text) + ".");
           }
           target = text;
         },
         description)
      ->take_last();
}

// Options that may be given several times, one value each. CLI11 would otherwise take "[a-z]" for a
// list of its own.
void declare_list(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                  void (*check)(const std::string&), const std::string& description) {
  app.add_option_function<std::vector<std::string>>(
         names,
         [&target, check](const std::vector<std::string>& values) {
           for (const std::string& value : values) check(value);
           target = values;
         },
         description)
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

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

std::string shell_quoted(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%^";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// Words as a POSIX shell splits them, without expansions. False: a quote or a backslash is left
// open.
bool shell_words(const std::string& text, std::vector<std::string>& words) {
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'') {
      if (c == '\'') {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\\') {
      if (++i == text.size()) return false;
      const bool escapes =
          quote == 0 || std::string_view("\\\"$`").find(text[i]) != std::string_view::npos;
      if (!escapes) word += '\\';
      word += text[i];
      in_word = true;
    } else if (quote == '"') {
      if (c == '"') {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return quote == 0;
}

}  // namespace

void add_collection_options(CLI::App& app, Settings& settings) {
  app.add_option_function<std::string>(
         "-o,--output",
         [&settings](const std::string& text) {
           check_not_empty("--output", "a file name", text);
           settings.output = text;
         },
         "where the report goes")
      ->take_last();
  app.add_option_function<std::string>(
         "--phases", [&settings](const std::string& text) { read_phases(text, settings); },
         "what is collected")
      ->take_last();
  declare_number(app, "--wait", settings.wait, 0, "steps before anything happens");
  declare_number(app, "--warmup", settings.warmup, 0, "steps watched before the first window");
  declare_number(app, "--active", settings.active, 1, "windows of each phase");
  declare_number(app, "--repeat", settings.repeat, 1, "how often the queue runs");
  declare_number(app, "--window", settings.window, 1, "launches of a window without steps");
  app.add_option_function<std::string>(
         "--step-range",
         [&settings](const std::string& text) {
           check_not_empty("--step-range", "a regular expression", text);
           check_regex("--step-range", text);
           settings.step_range = text;
         },
         "the range that is one step")
      ->take_last();
  declare_list(
      app, "--fold", settings.fold,
      [](const std::string& value) {
        check_not_empty("--fold", "a regular expression", value);
        check_regex("--fold", value);
      },
      "what is cut from range names");
  declare_list(
      app, "-k,--kernel", settings.kernels,
      [](const std::string& value) {
        check_not_empty("--kernel", "a pattern", value);
        if (value.rfind(kRegexPrefix, 0) == 0) {
          check_regex("--kernel", value.substr(kRegexPrefix.size()));
        }
      },
      "kernels that counter windows are limited to");
  declare_choice(app, "--ranges", settings.ranges, "user", "auto", "how launches are told apart");
  declare_choice(app, "--then", settings.then, "continue", "stop", "what follows the queue");
  declare_number(app, "--max-keys", settings.max_keys, 1, "launch keys kept apart");
  declare_text(app, "--cupti", settings.cupti, "the path of a libcupti", "the libcupti to load");
  // What the launcher says to the library: options without a group are for no page.
  declare_text(app, "--manifest", settings.manifest, "a file name", "list of reports")->group("");
  declare_text(app, "--playback", settings.playback, "a recording", "the recording played")
      ->group("");
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
  add_text("--ranges", settings.ranges, defaults.ranges);
  add_text("--then", settings.then, defaults.then);
  add_number("--max-keys", settings.max_keys, defaults.max_keys);
  add_text("--cupti", settings.cupti, defaults.cupti);
  add_text("--manifest", settings.manifest, defaults.manifest);
  add_text("--playback", settings.playback, defaults.playback);
  return line;
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

std::string expand_output_name(const std::string& pattern) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = std::string_view(pattern).substr(i);
    if (rest.rfind("%p", 0) == 0) {
      name += std::to_string(getpid());
      i += 1;
    } else if (rest.rfind("%h", 0) == 0) {
      std::array<char, 256> host{};
      if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == 0) host = {"localhost"};
      name += host.data();
      i += 1;
    } else if (rest.rfind("%q{", 0) == 0 && rest.find('}') != std::string_view::npos) {
      const std::size_t close = rest.find('}');
      const char* value = std::getenv(std::string(rest.substr(3, close - 3)).c_str());
      if (value != nullptr) name += value;
      i += close;
    } else {
      name += pattern[i];
    }
  }
  return name;
}

}  // namespace gable
