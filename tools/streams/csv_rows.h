// SPDX-License-Identifier: Apache-2.0
// Rows of a CSV file amid other text, one after another: fields between quotes where they need
// them, quotes within a field doubled. Where a row begins, which may be within a line, its reader
// knows. What is no row comes as it is, up to the end of its line or a carriage return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/streams/byte_source.h"

namespace gable {

class CsvRows {
 public:
  static constexpr std::size_t kLongestRow = 16u << 20;

  enum class Start : std::uint8_t { no, open, yes };
  // Whether a row begins with the first byte of a text, which goes on to the end of what was read.
  // `open`: that is too little to tell; at the end of the file the row is then cut off. `line`: the
  // byte is the first of a line. `end`: nothing follows the text.
  using StartsRow = std::function<Start(std::string_view text, bool line, bool end)>;

  CsvRows(ByteSource& source, StartsRow starts_row);

  // The next row, or text between rows. False at the end. Views hold until the next call. Throws
  // WrongUse where a row is broken or cut off, or longer than kLongestRow.
  bool next();
  // The line on which the row begins, from 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  // Whether this is a row with `fields`; otherwise `text` is the line or a part of it.
  [[nodiscard]] bool is_row() const { return is_row_; }
  // The file ends in its last field, which has no quotes to show whether it is whole.
  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] bool is_quoted() const { return buffer_[begin_] == '"'; }  // its first field
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }
  [[nodiscard]] std::string_view text() const { return text_; }

  // Rows of one launch begin alike: so many fields of a row that has the bytes of the row before
  // are taken from there.
  void expect_repeats(std::size_t fields);
  [[nodiscard]] bool is_repeat() const { return is_repeat_; }

 private:
  enum class Parsed : std::uint8_t { row, more, broken };
  Parsed parse_line();
  Parsed parse_text();
  [[nodiscard]] Start start_at(std::size_t at, bool line) const;
  Parsed parse_row();
  bool parse_field(std::size_t& at, bool& more);
  bool fill();
  [[nodiscard]] bool repeats() const;
  bool take_repeat(std::size_t& at);
  void keep_front();

  ByteSource& source_;
  StartsRow starts_row_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, next_ = 0;  // of the line; behind it
  bool at_end_ = false, is_row_ = false, is_open_ = false;
  bool at_line_ = true, next_at_line_ = true;  // begin_ and next_ are where a line begins
  std::uint64_t line_ = 0, next_line_ = 1;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;
  std::string_view text_;
  std::size_t repeated_ = 0;  // fields
  bool is_repeat_ = false;
  std::string front_;  // of the row before, up to those fields' end
  std::vector<std::pair<std::size_t, std::size_t>> spans_;  // of its fields: place and size
};

}  // namespace gable
