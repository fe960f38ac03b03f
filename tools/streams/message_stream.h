// SPDX-License-Identifier: Apache-2.0
// Messages of protocol buffers from files that are too large to be held: the outer ones are read a
// field at a time, and what is of no use is skipped. protozero decodes the small ones within.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/streams/byte_source.h"

namespace gable {

class MessageStream {
 public:
  static constexpr std::size_t kLongestBytes = 16u << 20;  // of a field that is held

  // The message that the whole file is, is open.
  explicit MessageStream(ByteSource& source);

  // The next field of the open message; false at its end. What is left of the field before it is
  // skipped. Throws WrongUse, with file and byte, where the file holds no such messages.
  bool next();
  [[nodiscard]] std::uint32_t field() const { return field_; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::number; }
  // The value of a number field.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  // Whether the field has bytes: a text or a message.
  [[nodiscard]] bool has_bytes() const { return kind_ == Kind::bytes; }
  // All bytes of the field, valid until the next call.
  std::string_view bytes();
  // Opens the field as a message; leave() skips the rest of it.
  void enter();
  void leave();
  [[noreturn]] void broken(const std::string& what) const;
  [[nodiscard]] const std::string& name() const { return source_.name(); }

 private:
  enum class Kind : std::uint8_t { none, number, bytes };
  bool fill(std::size_t wanted);  // false where fewer bytes than that are left
  void skip(std::uint64_t count);
  std::uint64_t varint();
  void pass_field();

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;  // in the buffer
  std::uint64_t before_ = 0;      // bytes of the file before the buffer
  bool at_end_ = false;
  std::vector<std::uint64_t> ends_;  // of the open messages, but that of the file
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::none;
  std::uint64_t number_ = 0, left_ = 0;  // bytes of the field that were not taken yet
};

}  // namespace gable
