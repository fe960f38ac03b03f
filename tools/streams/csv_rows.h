// SPDX-License-Identifier: Apache-2.0
// Rows of a CSV file as ncu writes it, one after another: fields between quotes, quotes within a
// field doubled. Lines that do not begin with a quote are no rows and come as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/streams/byte_source.h"

namespace gable {

class CsvRows {
 public:
  static constexpr std::size_t kLongestRow = 16u << 20;

  explicit CsvRows(ByteSource& source);

  // The next line. False at the end. Views hold until the next call. Throws WrongUse where a
  // quote is never closed, or a row is longer than kLongestRow.
  bool next();
  // Line on which it begins, from 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  // It began with a quote: `fields` are its own. Else `text` is the line.
  [[nodiscard]] bool is_row() const { return is_row_; }
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }
  [[nodiscard]] std::string_view text() const { return text_; }

  // Rows of one launch begin alike: so many fields of a row that has the bytes of the row before
  // are taken from there.
  void expect_repeats(std::size_t fields);
  [[nodiscard]] bool is_repeat() const { return is_repeat_; }

 private:
  enum class Parsed { row, more, broken };
  Parsed parse_line();
  Parsed parse_row();
  bool parse_field(std::size_t& at, bool& more);
  bool fill();
  bool take_repeat(std::size_t& at);
  void keep_front();

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, next_ = 0;  // of the line; behind it
  bool at_end_ = false, is_row_ = false;
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
