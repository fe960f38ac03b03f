// SPDX-License-Identifier: Apache-2.0
// The kinds of options that Gable's commands have. A wrong value is refused with a sentence that
// names the option and its valid values; if an option is given twice, the last one counts.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "analysis/base/words.h"

namespace gable {

[[nodiscard]] std::string quoted_for_message(const std::string& text);

// These throw CLI::ValidationError.
void check_regex(const std::string& option, const std::string& text);
void check_not_empty(const std::string& option, const std::string& what, const std::string& text);

template <class Number>  // std::uint32_t or an optional one
void declare_number(CLI::App& app, const std::string& name, Number& target, std::uint32_t least,
                    std::uint32_t most = std::numeric_limits<std::uint32_t>::max()) {
  app.add_option_function<std::string>(
         name,
         [&target, name, least, most](const std::string& text) {
           std::uint32_t value = 0;
           const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
           if (code != std::errc() || end != text.data() + text.size() || value < least ||
               value > most) {
             throw CLI::ValidationError(name + " takes a whole number from " +
                                        std::to_string(least) + " to " + std::to_string(most) +
                                        ", not " + quoted_for_message(text) + ".");
           }
           target = value;
         })
      ->take_last();
}

// `what` the value is: "a file name".
CLI::Option* declare_text(CLI::App& app, const std::string& name, std::string& target,
                          const std::string& what);

// One of the words of an enum; `target` holds such a value.
template <typename Enum>
void declare_choice(CLI::App& app, const std::string& name, auto& target) {
  app.add_option_function<std::string>(
         name,
         [&target, name](const std::string& text) {
           const auto value = value_of<Enum>(text);
           if (!value)
             throw CLI::ValidationError(name + " takes " + choice_of_words<Enum>() + ", not " +
                                        quoted_for_message(text) + ".");
           target = *value;
         })
      ->take_last();
}

// May be given several times, one value each.
void declare_list(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                  const std::function<void(const std::string&)>& check);

// Patterns (analysis/base/pattern.h), may be given several times.
void declare_patterns(CLI::App& app, const std::string& names, std::vector<std::string>& target);

}  // namespace gable
