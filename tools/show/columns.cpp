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

// Removes those for which `gone` is true, but never the first, and adds their heads to a list.
template <typename Gone>
void take(std::vector<Column>& table, Gone gone, std::string& heads) {
  const auto kept = std::remove_if(table.begin() + 1, table.end(), [&](const Column& column) {
    if (!gone(column)) return false;
    heads += (heads.empty() ? "" : ", ") + column.head;
    return true;
  });
  table.erase(kept, table.end());
}

// Shortens names to what the other columns leave: the first column gets the larger part.
void shorten(std::vector<Column>& table, std::size_t columns) {
  std::vector<Column*> names;
  std::size_t others = 0;
  for (Column& column : table) {
    const bool shortens = column.names || &column == &table.front();
    if (shortens) names.push_back(&column);
    others += (&column == &table.front() ? 0 : 2) + (shortens ? 0 : column.width());
  }
  std::size_t room = columns > others ? columns - others : 0;
  // Those behind the first take what they need, up to two fifths of what is left.
  for (std::size_t i = names.size(); i-- > 1;) {
    const std::size_t first = names[0]->width();
    const std::size_t most = std::max(room > first ? room - first : 0, room * 2 / 5);
    const std::size_t width =
        std::max(std::min(names[i]->width(), most), std::min(kLeastNameColumns, names[i]->width()));
    names[i]->cells = shortened_names(names[i]->cells, width);
    room -= std::min(room, names[i]->width());
  }
  names[0]->cells = shortened_names(names[0]->cells, std::max(room, kLeastNameColumns));
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
  constexpr std::size_t kNames = 24;  // of a column whose names are shortened
  std::string heads;
  for (const std::string_view word : words) {
    std::size_t needed = std::min(table.front().width(), kNames);
    for (std::size_t i = 1; i < table.size(); ++i)
      needed += 2 + (table[i].names ? std::min(table[i].width(), kNames) : table[i].width());
    if (needed <= columns) break;
    take(
        table, [&](const Column& each) { return each.head.starts_with(word); }, heads);
  }
  return heads;
}

std::string drop_unknown(std::vector<Column>& table) {
  std::string heads;
  take(
      table,
      [&](const Column& column) {
        const char* unknown = column.left ? "unknown" : "-";
        return !column.cells.empty() &&
               std::all_of(column.cells.begin(), column.cells.end(),
                           [unknown](const std::string& cell) { return cell == unknown; });
      },
      heads);
  return heads;
}

std::size_t width_of(const std::vector<Column>& table) {
  std::size_t width = 0;
  for (const Column& column : table) width += (width == 0 ? 0 : 2) + column.width();
  return width;
}

std::string render_columns(std::vector<Column> table, std::size_t rows, std::size_t columns,
                           bool colours) {
  for (Column& column : table)
    for (std::string& cell : column.cells) cell = one_line(cell);
  shorten(table, columns);
  std::vector<std::size_t> widths;  // once: rows may be many
  widths.reserve(table.size());
  for (const Column& column : table) widths.push_back(column.width());
  std::string out;
  for (std::size_t row = 0; row <= rows; ++row) {  // the first is the head
    std::string plain, shown;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const Column& column = table[i];
      std::string cell =
          padded(row == 0 ? column.head : column.cells[row - 1], widths[i], column.left);
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
