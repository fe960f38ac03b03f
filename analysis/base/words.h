// SPDX-License-Identifier: Apache-2.0
// Enums whose values have words: in options, in the report. Each such enum has its table beside it:
//
//   template <>
//   inline constexpr auto kWordsOf<Scope> =
//       std::to_array<Word<Scope>>({{Scope::kernel, "kernel"}, {Scope::range, "range"}});
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace gable {

template <typename Enum>
struct Word {
  Enum value;
  std::string_view text;
};

template <typename Enum>
inline constexpr std::array<Word<Enum>, 0> kWordsOf{};

template <typename Enum>
[[nodiscard]] constexpr std::string_view word_of(Enum value) {
  for (const auto& word : kWordsOf<Enum>)
    if (word.value == value) return word.text;
  return {};
}

template <typename Enum>
requires(!kWordsOf<Enum>.empty()) [[nodiscard]] std::string to_string(Enum value) {
  return std::string(word_of(value));
}

// The enum's value for a word; nothing if it is none of its words.
template <typename Enum>
[[nodiscard]] constexpr std::optional<Enum> value_of(std::string_view text) {
  for (const auto& word : kWordsOf<Enum>)
    if (word.text == text) return word.value;
  return std::nullopt;
}

// "'kernel' or 'range'"
template <typename Enum>
[[nodiscard]] std::string choice_of_words() {
  std::string text;
  const auto& words = kWordsOf<Enum>;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* before = i == 0 ? "'" : i + 1 == words.size() ? " or '" : ", '";
    text += before + std::string(words[i].text) + "'";
  }
  return text;
}

}  // namespace gable
