// SPDX-License-Identifier: Apache-2.0
// The pages of docs/commands on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gable {

// A page of Markdown for people: headings and options in bold, paragraphs and tables wrapped, no
// marks. At most `columns` wide, except for commands, which stay as they are to be copied. Knows
// what the pages of docs/commands have: headings, paragraphs, commands (indented by four), lists,
// tables, code, emphasis and links, of which the text stays.
[[nodiscard]] std::string render_help(std::string_view page, std::size_t columns, bool colours);

// The words of a paragraph or a cell in one line, without the marks of Markdown.
[[nodiscard]] std::string plain_text(std::string_view markdown);

// The cells of a table's row, without the blanks around them and with their marks.
[[nodiscard]] std::vector<std::string_view> table_cells(std::string_view line);

}  // namespace gable
