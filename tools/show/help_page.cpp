// SPDX-License-Identifier: Apache-2.0
#include "tools/show/help_page.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "analysis/base/display.h"
#include "tools/show/columns.h"

namespace gable {
namespace {

constexpr const char* kHeadings = "1";
constexpr const char* kCode = "36";
constexpr const char* kStrong = "1";
constexpr std::size_t kIndent = 4;       // of commands
constexpr std::size_t kFirstCells = 26;  // a wider first cell has a line of its own

struct Word {
  std::string shown;  // with its colours
  std::size_t width = 0;
};

// The words of a paragraph or a cell, without the marks of Markdown.
class Words {
 public:
  // `whole`: the colour of text that has none of its own.
  Words(std::string_view text, bool colours, const char* whole = nullptr)
      : colours_(colours), whole_(whole) {
    add(text, whole_);
    end_word();
  }
  [[nodiscard]] const std::vector<Word>& all() const { return words_; }
  [[nodiscard]] std::size_t width() const {
    std::size_t sum = 0;
    for (const Word& word : words_) sum += word.width + (sum == 0 ? 0 : 1);
    return sum;
  }

 private:
  void add(std::string_view text, const char* colour) {
    while (!text.empty()) {
      if (text[0] == '`') {
        const std::size_t end = text.find('`', 1);
        if (end != text.npos) {
          for (std::size_t i = 1; i < end; ++i)  // "\|" is a bar within a table
            if (!text.substr(i).starts_with("\\|")) put(text.substr(i, 1), kCode);
          text.remove_prefix(end + 1);
          continue;
        }
      }
      if (text.starts_with("**")) {
        const std::size_t end = text.find("**", 2);
        if (end != text.npos) {
          add(text.substr(2, end - 2), kStrong);
          text.remove_prefix(end + 2);
          continue;
        }
      }
      if (text.size() > 1 && text[0] == '*' && std::isalpha(static_cast<unsigned char>(text[1]))) {
        const std::size_t end = text.find('*', 1);
        if (end != text.npos) {
          add(text.substr(1, end - 1), kStrong);
          text.remove_prefix(end + 1);
          continue;
        }
      }
      if (text[0] == '[' && add_link(text, colour)) continue;
      if (text.starts_with("\\|")) text.remove_prefix(1);
      put(text.substr(0, 1), colour);
      text.remove_prefix(1);
    }
  }

  // "[text](page)": the text, and behind it an address that a browser opens.
  bool add_link(std::string_view& text, const char* colour) {
    const std::size_t middle = text.find("](");
    const std::size_t end = middle == text.npos ? text.npos : text.find(')', middle);
    if (end == text.npos || text.substr(0, middle).find('[', 1) != text.npos) return false;
    add(text.substr(1, middle - 1), colour);
    const std::string_view page = text.substr(middle + 2, end - middle - 2);
    if (page.starts_with("http")) put(" (" + std::string(page) + ")", colour);
    text.remove_prefix(end + 1);
    return true;
  }

  void put(std::string_view text, const char* colour) {
    for (const char c : text) {
      if (c == ' ' || c == '\n') {
        end_word();
        continue;
      }
      if (colour != colour_) end_part();
      colour_ = colour;
      part_ += c;
    }
  }
  void end_part() {
    word_.width += display_width(part_);
    word_.shown += coloured(part_, colours_ ? colour_ : nullptr);
    part_.clear();
  }
  void end_word() {
    end_part();
    if (word_.width > 0) words_.push_back(std::move(word_));
    word_ = Word();
  }

  bool colours_;
  const char* whole_;
  const char* colour_ = nullptr;
  std::vector<Word> words_;
  Word word_;
  std::string part_;  // of the word, in one colour
};

class Page {
 public:
  Page(std::size_t columns, bool colours) : columns_(columns), colours_(colours) {}

  [[nodiscard]] std::string of(std::string_view page) {
    std::vector<std::string_view> block;
    while (!page.empty()) {
      const std::size_t end = std::min(page.find('\n'), page.size());
      const std::string_view line = page.substr(0, end);
      page.remove_prefix(std::min(end + 1, page.size()));
      // A list's items follow one another; other blocks end with an empty line.
      if (line.empty() || (starts_item(line) && !block.empty())) {
        show(block);
        block.clear();
      }
      if (line.empty()) {
        blank_ = true;
      } else {
        block.push_back(line);
      }
    }
    show(block);
    return std::move(out_);
  }

 private:
  using Lines = std::vector<std::string_view>;

  static bool starts_item(std::string_view line) {
    if (line.starts_with("- ")) return true;
    const std::size_t dot = line.find_first_not_of("0123456789");
    return dot != line.npos && dot > 0 && line.substr(dot).starts_with(". ");
  }

  void show(const Lines& block) {
    if (block.empty()) return;
    if (blank_ && !out_.empty()) out_ += "\n";
    blank_ = false;
    const std::string_view first = block.front();
    if (first.starts_with('#')) {
      const std::size_t text = first.find_first_not_of("# ");
      out_ += coloured(std::string(first.substr(std::min(text, first.size()))),
                       colours_ ? kHeadings : nullptr) +
              "\n";
      if (block.size() > 1) show({block.begin() + 1, block.end()});
    } else if (first.starts_with(std::string(kIndent, ' '))) {
      for (const std::string_view line : block) out_ += std::string(line) + "\n";
    } else if (first.starts_with('|')) {
      show_table(block);
    } else {
      const std::size_t mark = starts_item(first) ? first.find(' ') + 1 : 0;
      std::string text(first.substr(mark));
      for (auto line = block.begin() + 1; line != block.end(); ++line)
        text.append("\n").append(*line);
      wrap(Words(text, colours_), mark, std::string(first.substr(0, mark)));
    }
  }

  // Words from `indent` on. The first line begins with `line`, whose width is `before` where it has
  // colours.
  void wrap(const Words& words, std::size_t indent, std::string line, std::size_t before = 0) {
    std::size_t used = before > 0 ? before : display_width(line);
    bool begins = true;
    for (const Word& word : words.all()) {
      if (!begins && used + 1 + word.width > columns_) {
        out_ += line + "\n";
        line = std::string(indent, ' ');
        used = indent;
        begins = true;
      }
      line += (begins ? "" : " ") + word.shown;
      used += (begins ? 0 : 1) + word.width;
      begins = false;
    }
    out_ += line + "\n";
  }

  // The first cells in a column, and what belongs to each beside it.
  void show_table(const Lines& block) {
    std::size_t first = 0;
    for (const std::string_view line : block) {
      const auto cells = table_cells(line);
      if (line.starts_with("|--") || cells.empty()) continue;
      const std::size_t width = Words(cells[0], false).width();
      if (width <= kFirstCells) first = std::max(first, width);
    }
    const std::size_t indent = std::min(first, kFirstCells) + 2;
    for (const std::string_view line : block) {
      const auto cells = table_cells(line);
      if (line.starts_with("|--") || cells.empty()) continue;
      const bool head = line.data() == block.front().data();
      if (head && std::all_of(cells.begin() + 1, cells.end(),
                              [](std::string_view cell) { return cell.empty(); }))
        continue;  // "option": the heading says it
      show_row(cells, indent, head);
    }
  }
  void show_row(const std::vector<std::string_view>& cells, std::size_t indent, bool head) {
    const Words name(cells[0], colours_, head ? kHeadings : nullptr);
    std::string line;
    for (const Word& word : name.all()) line += (line.empty() ? "" : " ") + word.shown;
    std::string rest;
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (!cells[i].empty()) rest.append(rest.empty() ? "" : "; ").append(cells[i]);
    const Words words(rest, colours_, head ? kHeadings : nullptr);
    if (name.width() + 2 > indent) {
      wrap(name, indent, "");
      if (!words.all().empty()) wrap(words, indent, std::string(indent, ' '));
    } else {
      wrap(words, indent, line + std::string(indent - name.width(), ' '), indent);
    }
  }

  std::size_t columns_;
  bool colours_;
  bool blank_ = false;  // an empty line comes next
  std::string out_;
};

}  // namespace

std::vector<std::string_view> table_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t begin = 1;  // behind the first bar
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] != '|' || line[i - 1] == '\\') continue;
    std::string_view cell = line.substr(begin, i - begin);
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    cells.push_back(cell);
    begin = i + 1;
  }
  return cells;
}

std::string plain_text(std::string_view markdown) {
  std::string text;
  const Words words(markdown, false);
  for (const auto& word : words.all()) text += (text.empty() ? "" : " ") + word.shown;
  return text;
}

std::string render_help(std::string_view page, std::size_t columns, bool colours) {
  return Page(columns, colours).of(page);
}

}  // namespace gable
