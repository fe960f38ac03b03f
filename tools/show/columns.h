// SPDX-License-Identifier: Apache-2.0
// Text in columns for a terminal.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace gable {

struct Column {
  std::string head;
  bool left = false;
  std::vector<std::string> cells;
  std::vector<const char*> colours;  // of the cells where they have one: ANSI codes, or none at all
  bool names = false;                // may be shortened, as those of the first column
  [[nodiscard]] std::size_t width() const;
};

// The text in an ANSI colour; as it is where `colour` is null.
[[nodiscard]] std::string coloured(const std::string& text, const char* colour);

// Removes columns whose cells are all unknown. Returns their heads, separated by commas.
[[nodiscard]] std::string drop_unknown(std::vector<Column>& table);

// The columns that a line takes if nothing is shortened.
[[nodiscard]] std::size_t width_of(const std::vector<Column>& table);

// Removes columns until the table fits a narrow terminal: those whose heads begin with a word, word
// by word. Returns the removed heads, separated by commas.
[[nodiscard]] std::string drop_columns(std::vector<Column>& table,
                                       std::initializer_list<std::string_view> words,
                                       std::size_t columns);

// A head and `rows` lines, at most `columns` wide: names in the first column, and in others that
// have names, are shortened so that they stay different, and a line that is still too long is cut.
[[nodiscard]] std::string render_columns(std::vector<Column> table, std::size_t rows,
                                         std::size_t columns, bool colours);

}  // namespace gable
