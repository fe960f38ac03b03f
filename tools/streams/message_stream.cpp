// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/message_stream.h"

#include <algorithm>
#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr std::size_t kMessageBuffer = 1u << 18;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;

}  // namespace

MessageStream::MessageStream(ByteSource& source) : source_(source), buffer_(kMessageBuffer) {}

void MessageStream::broken(const std::string& what) const {
  throw WrongUse(source_.name() + ": byte " + std::to_string(before_ + at_) + ": " + what + ".");
}

bool MessageStream::fill(std::size_t wanted) {
  if (end_ - at_ >= wanted) return true;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    before_ += at_;
    end_ -= at_;
    at_ = 0;
  }
  // A length that lies takes no more memory than the file has bytes.
  while (end_ < wanted && !at_end_) {
    if (end_ == buffer_.size()) buffer_.resize(std::min(std::max(wanted, end_ + 1), 2 * end_));
    const std::size_t count = source_.read(buffer_.data() + end_, buffer_.size() - end_);
    at_end_ = count == 0;
    end_ += count;
  }
  return end_ >= wanted;
}

void MessageStream::skip(std::uint64_t count) {
  while (count > 0) {
    if (at_ == end_ && !fill(1)) broken("the file ends within a message: it was cut off");
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, end_ - at_));
    at_ += step;
    count -= step;
  }
}

std::uint64_t MessageStream::varint() {
  fill(protozero::max_varint_length);
  const char* at = buffer_.data() + at_;
  try {
    const std::uint64_t value = protozero::decode_varint(&at, buffer_.data() + end_);
    at_ = static_cast<std::size_t>(at - buffer_.data());
    return value;
  } catch (const protozero::end_of_buffer_exception&) {
    broken("the file ends within a number: it was cut off");
  } catch (const protozero::exception&) {
    broken("this is not a number of a protobuf message");
  }
}

void MessageStream::pass_field() {
  skip(left_);
  left_ = 0;
}

bool MessageStream::next() {
  pass_field();
  kind_ = Kind::none;
  if (ends_.empty() ? !fill(1) : before_ + at_ == ends_.back()) return false;
  const std::uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
    broken("this is not a field of a protobuf message");
  field_ = static_cast<std::uint32_t>(tag >> 3);
  switch (static_cast<protozero::pbf_wire_type>(tag & 7)) {
    case protozero::pbf_wire_type::varint:
      kind_ = Kind::number;
      number_ = varint();
      break;
    case protozero::pbf_wire_type::length_delimited:
      kind_ = Kind::bytes;
      left_ = varint();
      break;
    case protozero::pbf_wire_type::fixed64:
      left_ = 8;
      break;
    case protozero::pbf_wire_type::fixed32:
      left_ = 4;
      break;
    default:
      broken("this is not a field of a protobuf message");
  }
  const std::uint64_t end = ends_.empty() ? kMostBytes : ends_.back();
  const std::uint64_t here = before_ + at_;
  if (here > end || left_ > end - here) broken("a field is longer than the message that it is in");
  return true;
}

std::string_view MessageStream::bytes() {
  if (left_ > kLongestBytes)
    broken("a text or message of " + std::to_string(left_) +
           " bytes is longer than any in a profile");
  const auto size = static_cast<std::size_t>(left_);
  if (!fill(size)) broken("the file ends within a message: it was cut off");
  const std::string_view found(buffer_.data() + at_, size);
  at_ += size;
  left_ = 0;
  return found;
}

void MessageStream::enter() {
  ends_.push_back(before_ + at_ + left_);
  left_ = 0;
}

void MessageStream::leave() {
  pass_field();
  const std::uint64_t end = ends_.back();
  ends_.pop_back();
  skip(end - (before_ + at_));
}

}  // namespace gable
