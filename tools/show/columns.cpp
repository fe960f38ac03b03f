// SPDX-License-Identifier: Apache-2.0
#include "tools/show/columns.h"

#include <algorithm>

#include "analysis/base/display.h"
#include "tools/show/shortened_names.h"

namespace gable {
namespace {

constexpr std::size_t kLeastNameColumns = 16;
constexpr const char* kBold = "1";

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return left ? text + space : space + text;
}

}  // namespace

std::size_t Column::width() const {
  std::size_t widest = display_width(head);
  for (const std::string& cell : cells) widest = std::max(widest, display_width(cell));
  return widest;
}

std::string coloured(const std::string& text, const char* colour) {
  if (colour == nullptr || text.empty()) return text;
  return std::string("\x1b[") + colour + "m" + text + "\x1b[0m";
}

std::string drop_columns(std::vector<Column>& table, std::initializer_list<std::string_view> words,
                         std::size_t columns) {
  constexpr std::size_t kNames = 18;  // of the first column, which is shortened
  std::string heads;
  for (const std::string_view word : words) {
    std::size_t needed = std::min(table.front().width(), kNames);
    for (std::size_t i = 1; i < table.size(); ++i) needed += 2 + table[i].width();
    if (needed <= columns) break;
    std::erase_if(table, [&](const Column& each) {
      const bool gone = each.head.starts_with(word);
      if (gone) heads += (heads.empty() ? "" : ", ") + each.head;
      return gone;
    });
  }
  return heads;
}

std::string render_columns(std::vector<Column> table, std::size_t rows, std::size_t columns,
                           bool colours) {
  for (Column& column : table)
    for (std::string& cell : column.cells) cell = one_line(cell);
  std::size_t others = 0;
  for (std::size_t i = 1; i < table.size(); ++i) others += table[i].width() + 2;
  const std::size_t room =
      columns > others + kLeastNameColumns ? columns - others : kLeastNameColumns;
  table[0].cells = shortened_names(table[0].cells, room);
  std::string out;
  for (std::size_t row = 0; row <= rows; ++row) {  // the first is the head
    std::string plain, shown;
    for (const Column& column : table) {
      std::string cell =
          padded(row == 0 ? column.head : column.cells[row - 1], column.width(), column.left);
      if (&column == &table.back()) cell.resize(cell.find_last_not_of(' ') + 1);
      const char* colour = row == 0                 ? kBold
                           : column.colours.empty() ? nullptr
                                                    : column.colours[row - 1];
      const char* between = plain.empty() ? "" : "  ";
      plain += between + cell;
      shown += between + coloured(cell, colour);
    }
    // A line that is cut has no colours: a code could be cut with it.
    const bool fits = display_width(plain) <= columns;
    out += (colours && fits ? shown : shorten_end(plain, columns)) + "\n";
  }
  return out;
}

}  // namespace gable
