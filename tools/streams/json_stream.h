// SPDX-License-Identifier: Apache-2.0
// JSON a token at a time, from files that are too large to be held: what is of no use is skipped
// at the speed of a search for quotes and brackets. Its grammar is JSON's, with the names that some
// writers give to numbers that are none (NaN, Infinity) as literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/streams/byte_source.h"

namespace gable {

class JsonStream {
 public:
  static constexpr std::size_t kDeepest = 256;
  static constexpr std::size_t kLongestToken = 16u << 20;

  enum class Token { object, end_object, array, end_array, text, number, literal, end };

  explicit JsonStream(ByteSource& source);

  // The next token. Throws WrongUse, with file and line, where the text is no JSON.
  Token next();
  // Within an object, reads the key of the next value; false at the object's end.
  bool key();
  [[nodiscard]] std::string_view key_text() const { return key_; }
  // Within an array, whether another value follows; false at the array's end.
  bool element();
  // The text of a string without its escapes, or a number or literal as written. Valid until the
  // next call.
  [[nodiscard]] std::string_view text() const { return text_; }
  // Skips the next value, whatever it is.
  void skip();
  // Skips the rest of what next() has just begun.
  void skip_rest(Token begun);
  [[nodiscard]] std::uint64_t line() const;
  [[noreturn]] void broken(const std::string& what) const;
  [[nodiscard]] const std::string& name() const { return source_.name(); }

 private:
  bool fill();
  int peek();  // the next byte that is no space; -1 at the end
  void string(std::string& unescaped, std::string_view& view);
  void escape(std::string& out);
  std::uint32_t hex();
  void skip_string();
  void open(char bracket);
  void close(char bracket);
  [[nodiscard]] bool has_first();

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  bool at_end_ = false;
  std::uint64_t lines_before_ = 0;  // lines in bytes already dropped
  std::size_t keep_ = SIZE_MAX;     // fill() leaves what is from here on
  std::vector<char> open_;          // brackets
  std::vector<bool> first_;         // nothing was in it yet
  std::string key_buffer_, text_buffer_;
  std::string_view key_, text_;
};

}  // namespace gable
