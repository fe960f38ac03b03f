// SPDX-License-Identifier: Apache-2.0
#include "tools/import/ncu/row_start.h"

#include <algorithm>
#include <array>

#include "analysis/base/ascii.h"

namespace gable {
namespace {

using Start = CsvRows::Start;

Start begins_with(std::string_view text, std::string_view what) {
  if (text.starts_with(what)) return Start::yes;
  return what.starts_with(text) ? Start::open : Start::no;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// Heads that another program wrote have no quotes; a program's own line may begin with "ID," too.
Start starts_plain_head(std::string_view text, bool end) {
  static constexpr auto kHeads = std::to_array<std::string_view>({"ID,", ",ID,", "\"\",\"ID\","});
  Start found = Start::no;
  for (const std::string_view head : kHeads) {
    const Start start = begins_with(text, head);
    if (start == Start::yes) {
      const std::string_view line = first_line(text);
      if (line.size() == text.size() && !end) return Start::open;
      return line.find("Kernel Name") != std::string_view::npos ? Start::yes : Start::no;
    }
    // A last line such as "I" is a program's.
    if (start == Start::open && !end) found = Start::open;
  }
  return found;
}

Start starts_head(std::string_view text, bool line, bool end) {
  // The second is that of a summary.
  static constexpr auto kHeads =
      std::to_array<std::string_view>({"\"ID\",\"", "\"Process ID\",\""});
  for (const std::string_view head : kHeads) {
    const Start start = begins_with(text, head);
    if (start == Start::yes) return start;
    if (start == Start::open && (!end || (line && text.size() > 1))) return start;
  }
  return line ? starts_plain_head(text, end) : Start::no;
}

// Reads one field and the comma behind it.
class Front {
 public:
  Front(std::string_view text, bool may_be_plain) : text_(text), may_be_plain_(may_be_plain) {}

  Start take_number() {
    constexpr std::size_t kLongest = 32;
    const bool quoted = is('"');
    if (!quoted && !may_be_plain_ && at_ < text_.size()) return Start::no;
    plain_ = plain_ || !quoted;
    if (quoted) ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_of_number(text_[at_], quoted)) ++at_;
    if (at_ - begin > kLongest || (at_ > begin && !is_digit(text_[begin]))) return Start::no;
    if (at_ == text_.size()) return Start::open;
    return at_ == begin ? Start::no : take_end(quoted);
  }

  Start take_nothing() {
    const bool quoted = is('"');
    if (!quoted && !may_be_plain_ && at_ < text_.size()) return Start::no;
    plain_ = plain_ || !quoted;
    if (quoted) ++at_;
    return take_end(quoted);
  }

  [[nodiscard]] Start is_quote_next() const {
    return at_ == text_.size() ? Start::open : is('"') ? Start::yes : Start::no;
  }
  [[nodiscard]] std::size_t taken() const { return at_; }
  [[nodiscard]] bool was_plain() const { return plain_; }

 private:
  [[nodiscard]] bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  // Numbers may have groups, with the marks of any locale.
  static bool is_of_number(char c, bool quoted) {
    if (is_digit(c) || c == '.') return true;
    return quoted && (c == ',' || c == '\'' || c == ' ' || static_cast<unsigned char>(c) >= 0x80);
  }

  Start take_end(bool quoted) {
    for (const char c : {'"', ','}) {
      if (c == '"' && !quoted) continue;
      if (at_ == text_.size()) return Start::open;
      if (!is(c)) return Start::no;
      ++at_;
    }
    return Start::yes;
  }

  std::string_view text_;
  bool may_be_plain_;
  std::size_t at_ = 0;
  bool plain_ = false;
};

std::size_t fields_of(std::string_view line) {
  std::size_t fields = 1;
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    fields += c == ',' && !quoted ? 1 : 0;
  }
  return fields;
}

Start starts_row(const NcuRowShape& shape, std::string_view text, bool line, bool end, bool units) {
  Front front(text, line);
  Start found = Start::yes;
  std::size_t taken = 0;  // whole fields
  const auto take = [&](Start next) {
    if (found == Start::yes) found = next;
    if (found == Start::yes) ++taken;
  };
  for (std::size_t i = 0; i < shape.id; ++i) take(front.take_number());
  if (units) {
    take(front.take_nothing());
    if (found == Start::yes) take(front.take_nothing());
  } else {
    if (found == Start::yes) take(front.take_number());
    if (found == Start::yes && shape.process) take(front.take_number());
  }
  if (found == Start::yes && !line && taken < 2) found = front.is_quote_next();
  // The last of what a program printed may be a number, or have a quote before it.
  const bool cut = line ? shape.plain || text.front() == '"' : taken > 0;
  if (found == Start::open && end && !cut) return Start::no;
  if (found != Start::yes || !front.was_plain() || shape.plain) return found;
  // Numbers at the front of a line may be a program's.
  const std::string_view whole = first_line(text);
  if (whole.size() == text.size() && !end) return Start::open;
  const std::size_t fields = fields_of(whole);
  return fields >= shape.least && fields <= shape.most ? Start::yes : Start::no;
}

}  // namespace

Start ncu_row_start(const NcuRowShape& shape, std::string_view text, bool line, bool end) {
  const Start head = starts_head(text, line, end);
  if (head == Start::yes || !shape.any) return head;
  const Start row = starts_row(shape, text, line, end, false);
  if (row == Start::yes) return row;
  const Start units = shape.units ? starts_row(shape, text, line, end, true) : Start::no;
  if (units == Start::yes) return units;
  const bool open = head == Start::open || row == Start::open || units == Start::open;
  return open ? Start::open : Start::no;
}

bool is_piece_of_ncu_row(std::string_view text) {
  // The sizes of block and grid follow each other.
  return text.find(")\",\"(") != std::string_view::npos;
}

}  // namespace gable
