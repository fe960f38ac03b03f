// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/csv_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr std::size_t kCsvPiece = 1u << 18;
constexpr std::string_view kMark = "\xEF\xBB\xBF";  // of UTF-8, as Windows writes it

const char* find(const char* from, const char* to, char what) {
  return static_cast<const char*>(std::memchr(from, what, static_cast<std::size_t>(to - from)));
}

}  // namespace

CsvRows::CsvRows(ByteSource& source, StartsRow starts_row)
    : source_(source), starts_row_(std::move(starts_row)), buffer_(kCsvPiece) {
  while (end_ < kMark.size() && fill()) {
  }
  if (std::string_view(buffer_.data(), end_).starts_with(kMark)) next_ = kMark.size();
}

// More bytes behind those that are there; false at the end of the file.
bool CsvRows::fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= kLongestRow)
      throw WrongUse(source_.name() + ":" + std::to_string(line_) +
                     ": the row is longer than 16 MB: a quote is missing, or it is not CSV.");
    buffer_.resize(buffer_.size() * 2);
  }
  const std::size_t count = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += count;
  at_end_ = count == 0;
  return count > 0;
}

bool CsvRows::next() {
  begin_ = next_;
  line_ = next_line_;
  at_line_ = next_at_line_;
  if (begin_ == end_ && !fill()) return false;
  for (;;) {
    const Parsed parsed = parse_line();
    if (parsed == Parsed::row) return true;
    if (parsed == Parsed::broken)
      throw WrongUse(source_.name() + ":" + std::to_string(line_) +
                     ": a quoted field is not followed by a comma or the end of the line.");
    if (fill()) continue;
    if (at_end_ && parse_line() == Parsed::row) return true;
    throw WrongUse(source_.name() + ":" + std::to_string(line_) +
                   ": the file ends within a row: it was cut off.");
  }
}

CsvRows::Start CsvRows::start_at(std::size_t at, bool line) const {
  return starts_row_({buffer_.data() + at, end_ - at}, line, at_end_);
}

CsvRows::Parsed CsvRows::parse_line() {
  const Start start = repeats() ? Start::yes : start_at(begin_, at_line_);
  is_row_ = start == Start::yes;
  if (is_row_) return parse_row();
  return start == Start::open ? Parsed::more : parse_text();
}

CsvRows::Parsed CsvRows::parse_text() {
  const char* start = buffer_.data() + begin_;
  const char* data_end = buffer_.data() + end_;
  const char* end = find(start, data_end, '\n');
  // Bars of progress go back to the start of their line.
  const char* back = find(start, end == nullptr ? data_end : end, '\r');
  if (back != nullptr && back + 1 == data_end && !at_end_) return Parsed::more;
  const bool returns = back != nullptr && back + 1 != end;
  if (returns) end = back;
  // A line of a program may be as long as it likes; what is behind this is of no use.
  if (end == nullptr && !at_end_ && end_ - begin_ < kCsvPiece) return Parsed::more;
  const bool whole = end != nullptr;
  if (!whole) end = data_end;
  next_at_line_ = whole;
  for (const char* quote = start == end ? nullptr : find(start + 1, end, '"'); quote != nullptr;
       quote = find(quote + 1, end, '"')) {
    const auto at = static_cast<std::size_t>(quote - buffer_.data());
    const Start row = start_at(at, false);
    if (row == Start::open) return Parsed::more;
    if (row != Start::yes) continue;
    text_ = {start, at - begin_};
    next_ = at;
    next_line_ = line_;
    next_at_line_ = false;
    return Parsed::row;
  }
  text_ = {start, static_cast<std::size_t>(end - start)};
  if (text_.ends_with('\r')) text_.remove_suffix(1);
  next_ = static_cast<std::size_t>(end - buffer_.data()) + (whole ? 1 : 0);
  next_line_ = line_ + (whole && !returns ? 1 : 0);
  return Parsed::row;
}

// One field from `at` on; `at` is then at what follows it. False: broken, or more bytes are needed.
bool CsvRows::parse_field(std::size_t& at, bool& more) {
  const char* data = buffer_.data();
  const char* end = data + end_;
  if (data[at] != '"') {
    const char* stop = data + at;
    while (stop != end && *stop != ',' && *stop != '\n' && *stop != '\r') ++stop;
    more = stop == end && !at_end_;
    fields_.emplace_back(data + at, static_cast<std::size_t>(stop - (data + at)));
    at = static_cast<std::size_t>(stop - data);
    return !more;
  }
  const char* start = data + at + 1;
  const char* close = find(start, end, '"');
  std::string* whole = nullptr;
  while (close != nullptr && close + 1 != end && close[1] == '"') {
    if (whole == nullptr) whole = &unescaped_.emplace_back();
    whole->append(start, close + 1);
    start = close + 2;
    close = find(start, end, '"');
  }
  // The last byte that is there may be the first of a doubled quote.
  if (close == nullptr || (close + 1 == end && !at_end_)) {
    more = true;
    return false;
  }
  if (whole != nullptr) {
    whole->append(start, close);
    fields_.emplace_back(*whole);
  } else {
    fields_.emplace_back(start, static_cast<std::size_t>(close - start));
  }
  at = static_cast<std::size_t>(close + 1 - data);
  return true;
}

void CsvRows::expect_repeats(std::size_t fields) {
  repeated_ = fields;
  front_.clear();
}

bool CsvRows::repeats() const {
  return !front_.empty() && end_ - begin_ > front_.size() &&
         std::memcmp(buffer_.data() + begin_, front_.data(), front_.size()) == 0;
}

bool CsvRows::take_repeat(std::size_t& at) {
  if (!repeats()) return false;
  for (const auto& [place, size] : spans_)
    fields_.emplace_back(buffer_.data() + begin_ + place, size);
  at = begin_ + front_.size();
  return true;
}

// For the next row. Fields with quotes in them have no place in the buffer.
void CsvRows::keep_front() {
  front_.clear();
  if (repeated_ == 0 || fields_.size() <= repeated_ || !unescaped_.empty()) return;
  const char* begin = buffer_.data() + begin_;
  spans_.clear();
  for (std::size_t i = 0; i < repeated_; ++i)
    spans_.emplace_back(static_cast<std::size_t>(fields_[i].data() - begin), fields_[i].size());
  const char* next = fields_[repeated_].data();
  if (next > begin && next[-1] == '"') --next;
  front_.assign(begin, next);
}

CsvRows::Parsed CsvRows::parse_row() {
  fields_.clear();
  unescaped_.clear();
  std::size_t at = begin_;
  is_repeat_ = take_repeat(at);
  for (;;) {
    bool more = false;
    if (at == end_) {
      if (!at_end_) return Parsed::more;
      fields_.emplace_back(buffer_.data() + at, 0);  // after a last comma
    } else if (!parse_field(at, more)) {
      return Parsed::more;
    }
    if (at == end_) {
      if (!at_end_) return Parsed::more;
      break;
    }
    const char behind = buffer_[at];
    if (behind == ',') {
      ++at;
      continue;
    }
    if (behind == '\r') {
      if (at + 1 == end_ && !at_end_) return Parsed::more;
      if (at + 1 < end_ && buffer_[at + 1] != '\n') return Parsed::broken;
      ++at;
    }
    if (at < end_) {
      if (buffer_[at] != '\n') return Parsed::broken;
      ++at;
    }
    break;
  }
  if (!is_repeat_) keep_front();
  is_open_ = at == end_ && buffer_[at - 1] != '\n' && buffer_[at - 1] != '"';
  next_ = at;
  next_at_line_ = true;
  next_line_ = line_;
  const char* from = buffer_.data() + begin_;
  const char* to = buffer_.data() + at;
  // Names with line ends are rare: one row is one line nearly always.
  for (const char* feed = find(from, to, '\n'); feed != nullptr; feed = find(feed + 1, to, '\n'))
    ++next_line_;
  return Parsed::row;
}

}  // namespace gable
