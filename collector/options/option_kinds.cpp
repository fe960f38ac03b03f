// SPDX-License-Identifier: Apache-2.0
#include "collector/options/option_kinds.h"

#include <string_view>

#include "analysis/base/pattern.h"

namespace gable {

std::string quoted_for_message(const std::string& text) { return "'" + text + "'"; }

void check_regex(const std::string& option, const std::string& text) {
  if (is_oversized_regex(text))
    throw CLI::ValidationError(option + " takes a regular expression of " +
                               std::string(kRegexLimits) + ".");
  if (const std::string problem = problem_of_regex(text); !problem.empty())
    throw CLI::ValidationError(option + " takes a regular expression, and " +
                               quoted_for_message(text) + " is not one: " + problem + ".");
}

void check_not_empty(const std::string& option, const std::string& what, const std::string& text) {
  if (text.empty()) throw CLI::ValidationError(option + " takes " + what + ", not an empty text.");
}

CLI::Option* declare_text(CLI::App& app, const std::string& name, std::string& target,
                          const std::string& what) {
  return app
      .add_option_function<std::string>(name,
                                        [&target, name, what](const std::string& text) {
                                          check_not_empty(name, what, text);
                                          target = text;
                                        })
      ->take_last();
}

// CLI11 would otherwise take "[a-z]" for a list of its own.
void declare_list(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                  const std::function<void(const std::string&)>& check) {
  app.add_option_function<std::vector<std::string>>(
         names,
         [&target, check](const std::vector<std::string>& values) {
           for (const std::string& value : values) check(value);
           target = values;
         })
      ->type_size(1)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void declare_patterns(CLI::App& app, const std::string& names, std::vector<std::string>& target) {
  constexpr std::string_view kRegexPrefix = "regex:";
  const std::string name = names.substr(names.rfind(',') + 1);  // after rfind's npos: all of it
  const auto check = [name, kRegexPrefix](const std::string& value) {
    check_not_empty(name, "a pattern", value);
    if (value.rfind(kRegexPrefix, 0) == 0) check_regex(name, value.substr(kRegexPrefix.size()));
  };
  declare_list(app, names, target, check);
}

}  // namespace gable
