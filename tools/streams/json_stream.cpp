// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/json_stream.h"

#include <algorithm>
#include <cstring>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr std::size_t kJsonPiece = 1u << 18;

// In blocks of one size, which compilers turn into vector instructions.
std::uint64_t lines_in(const char* from, const char* to) {
  constexpr std::ptrdiff_t kBlock = 64;
  std::uint64_t lines = 0;
  for (; to - from >= kBlock; from += kBlock) {
    unsigned char block = 0;
    for (std::ptrdiff_t i = 0; i < kBlock; ++i)
      block = static_cast<unsigned char>(block + (from[i] == '\n' ? 1 : 0));
    lines += block;
  }
  return lines + static_cast<std::uint64_t>(std::count(from, to, '\n'));
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > from;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (!digits()) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

JsonStream::JsonStream(ByteSource& source) : source_(source), buffer_(kJsonPiece) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  while (end_ < kMark.size() && fill()) {
  }
  if (std::string_view(buffer_.data(), end_).starts_with(kMark)) at_ = kMark.size();
}

bool JsonStream::fill() {
  if (at_end_) return false;
  const std::size_t from = std::min(at_, keep_);
  if (from > 0) {
    lines_before_ += lines_in(buffer_.data(), buffer_.data() + from);
    std::memmove(buffer_.data(), buffer_.data() + from, end_ - from);
    end_ -= from;
    at_ -= from;
    if (keep_ != SIZE_MAX) keep_ -= from;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= kLongestToken) broken("a text is longer than 16 MB");
    buffer_.resize(buffer_.size() * 2);
  }
  const std::size_t count = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += count;
  at_end_ = count == 0;
  return count > 0;
}

std::uint64_t JsonStream::line() const {
  return 1 + lines_before_ + lines_in(buffer_.data(), buffer_.data() + at_);
}

void JsonStream::broken(const std::string& what) const {
  throw WrongUse(source_.name() + ":" + std::to_string(line()) + ": " + what + ".");
}

int JsonStream::peek() {
  for (;;) {
    while (at_ < end_ && is_space(buffer_[at_])) ++at_;
    if (at_ < end_) return static_cast<unsigned char>(buffer_[at_]);
    if (!fill()) return -1;
  }
}

std::uint32_t JsonStream::hex() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == end_ && !fill()) broken("the file ends within a text: it was cut off");
    const char c = buffer_[at_];
    value = value * 16;
    if (c >= '0' && c <= '9') {
      value += static_cast<std::uint32_t>(c - '0');
    } else if ((c | 32) >= 'a' && (c | 32) <= 'f') {
      value += static_cast<std::uint32_t>((c | 32) - 'a' + 10);
    } else {
      broken("an escape is not one of JSON's");
    }
  }
  return value;
}

// Behind the backslash.
void JsonStream::escape(std::string& out) {
  if (at_ == end_ && !fill()) broken("the file ends within a text: it was cut off");
  static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  const char c = buffer_[at_++];
  if (const auto place = kFrom.find(c); place != std::string_view::npos) {
    out += kTo[place];
    return;
  }
  if (c != 'u') broken("an escape is not one of JSON's");
  std::uint32_t code = hex();
  if (code >= 0xD800 && code < 0xDC00) {
    while (end_ - at_ < 2 && fill()) {
    }
    if (end_ - at_ >= 2 && buffer_[at_] == '\\' && buffer_[at_ + 1] == 'u') {
      at_ += 2;
      const std::uint32_t low = hex();
      if (low < 0xDC00 || low > 0xDFFF) broken("an escape is half a character");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else {
      code = 0xFFFD;
    }
  } else if (code >= 0xDC00 && code < 0xE000) {
    code = 0xFFFD;
  }
  append_utf8(code, out);
}

// Behind the quote. Nearly all texts have no escape and are a view of the buffer.
void JsonStream::string(std::string& unescaped, std::string_view& view) {
  keep_ = at_;
  bool plain = true;
  unescaped.clear();
  for (;;) {
    const char* start = buffer_.data() + at_;
    const char* last = buffer_.data() + end_;
    const auto* quote = static_cast<const char*>(std::memchr(start, '"', end_ - at_));
    const char* stop = quote == nullptr ? last : quote;
    const auto* slash =
        static_cast<const char*>(std::memchr(start, '\\', static_cast<std::size_t>(stop - start)));
    if (slash != nullptr) stop = slash;
    if (!plain) unescaped.append(start, stop);
    at_ += static_cast<std::size_t>(stop - start);
    if (at_ == end_) {
      if (!fill()) broken("the file ends within a text: it was cut off");
      continue;
    }
    if (*stop == '"') break;
    if (plain) unescaped.assign(buffer_.data() + keep_, at_ - keep_);
    plain = false;
    keep_ = SIZE_MAX;  // what was read is copied
    ++at_;
    escape(unescaped);
  }
  view = plain ? std::string_view(buffer_.data() + keep_, at_ - keep_) : unescaped;
  keep_ = SIZE_MAX;
  ++at_;
}

void JsonStream::skip_string() {
  for (;;) {
    const char* start = buffer_.data() + at_;
    const auto* stop = static_cast<const char*>(std::memchr(start, '"', end_ - at_));
    if (stop == nullptr) {
      // An odd number of backslashes at the end escapes what comes.
      std::size_t slashes = 0;
      while (slashes < end_ - at_ && buffer_[end_ - 1 - slashes] == '\\') ++slashes;
      at_ = end_ - slashes % 2;
      const std::size_t left = end_ - at_;
      if (!fill() || end_ - at_ == left) broken("the file ends within a text: it was cut off");
      continue;
    }
    std::size_t slashes = 0;
    while (stop - slashes > start && stop[-1 - static_cast<std::ptrdiff_t>(slashes)] == '\\')
      ++slashes;
    at_ += static_cast<std::size_t>(stop - start) + 1;
    if (slashes % 2 == 0) return;
  }
}

void JsonStream::open(char bracket) {
  if (open_.size() >= kDeepest) broken("brackets are nested too deep");
  open_.push_back(bracket);
  first_.push_back(true);
  ++at_;
}

void JsonStream::close(char bracket) {
  if (open_.empty() || open_.back() != bracket) broken("a bracket closes none");
  open_.pop_back();
  first_.pop_back();
  ++at_;
}

JsonStream::Token JsonStream::next() {
  const int c = peek();
  if (c < 0) {
    if (!open_.empty()) broken("the file ends within brackets: it was cut off");
    return Token::end;
  }
  switch (c) {
    case '{':
      open('{');
      return Token::object;
    case '[':
      open('[');
      return Token::array;
    case '"':
      ++at_;
      string(text_buffer_, text_);
      return Token::text;
    default:
      break;
  }
  keep_ = at_;
  while ((at_ < end_ && is_word(buffer_[at_])) || (at_ == end_ && fill())) {
    if (at_ < end_ && is_word(buffer_[at_])) ++at_;
  }
  text_ = {buffer_.data() + keep_, at_ - keep_};
  keep_ = SIZE_MAX;
  if (is_number(text_)) return Token::number;
  for (const std::string_view word :
       {"true", "false", "null", "NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"}) {
    if (text_ == word) return Token::literal;
  }
  broken("this is not JSON");
}

// Behind a bracket or a value: the comma before what follows.
bool JsonStream::has_first() {
  const bool first = first_.back();
  first_.back() = false;
  const int c = peek();
  if (c < 0) broken("the file ends within brackets: it was cut off");
  if (c == '}' || c == ']') return false;
  if (first) return true;
  if (c != ',') broken("a comma is missing");
  ++at_;
  // Some writers leave a comma behind the last value.
  const int behind = peek();
  return behind != '}' && behind != ']';
}

bool JsonStream::key() {
  if (!has_first()) {
    close('{');
    if (buffer_[at_ - 1] != '}') broken("a bracket closes none");
    return false;
  }
  if (peek() != '"') broken("a key is missing");
  ++at_;
  string(key_buffer_, key_);
  // The view is of the buffer, which the next bytes may move.
  if (key_.data() != key_buffer_.data()) {
    key_buffer_.assign(key_);
    key_ = key_buffer_;
  }
  if (peek() != ':') broken("a colon is missing");
  ++at_;
  return true;
}

bool JsonStream::element() {
  if (has_first()) return true;
  close('[');
  if (buffer_[at_ - 1] != ']') broken("a bracket closes none");
  return false;
}

void JsonStream::skip() {
  const int c = peek();
  if (c == '"') {
    ++at_;
    skip_string();
  } else if (c == '{' || c == '[') {
    skip_rest(next());
  } else {
    (void)next();
  }
}

void JsonStream::skip_rest(Token begun) {
  if (begun != Token::object && begun != Token::array) return;
  const std::size_t outside = open_.size() - 1;
  while (open_.size() > outside) {
    if (at_ == end_ && !fill()) broken("the file ends within brackets: it was cut off");
    const char c = buffer_[at_];
    if (c == '"') {
      ++at_;
      skip_string();
    } else if (c == '{' || c == '[') {
      open(c);
    } else if (c == '}' || c == ']') {
      close(c == '}' ? '{' : '[');
    } else {
      ++at_;
    }
  }
}

}  // namespace gable
