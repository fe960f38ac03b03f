// SPDX-License-Identifier: Apache-2.0
#include "tools/streams/utf16_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/base/wrong_use.h"

namespace gable {
namespace {

constexpr std::size_t kUtf16Piece = 1u << 16;

}  // namespace

// Two bytes, and nothing that begins so is of these: Arrow's streams begin with four of 0xff.
bool Utf16Source::begins(std::string_view head) {
  using namespace std::string_view_literals;
  return head.starts_with("\xff\xfe"sv) || head.starts_with("\xfe\xff"sv);
}

Utf16Source::Utf16Source(std::unique_ptr<ByteSource> from)
    : from_(std::move(from)), converter_(iconv_open("UTF-8", "UTF-16")), bytes_(kUtf16Piece) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): what POSIX returns
  if (converter_ == iconv_t(-1))
    throw WrongUse(from_->name() +
                   " is UTF-16, which this system's iconv does not have: write it "
                   "again as UTF-8 (in PowerShell: Get-Content FILE | Set-Content -Encoding utf8 "
                   "NEW).");
}

Utf16Source::~Utf16Source() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (converter_ != iconv_t(-1)) iconv_close(converter_);
}

// More of the text; nothing at the end.
void Utf16Source::convert() {
  text_.clear();
  given_ = 0;
  while (text_.empty() && !at_end_) {
    const std::size_t count = from_->read(bytes_.data() + left_, bytes_.size() - left_);
    at_end_ = count == 0;
    std::size_t there = left_ + count;
    char* in = bytes_.data();
    text_.resize(2 * bytes_.size());  // three bytes at most of two
    char* out = text_.data();
    std::size_t room = text_.size();
    const bool failed = iconv(converter_, &in, &there, &out, &room) == static_cast<std::size_t>(-1);
    // A unit or a pair that is not whole yet waits for the next bytes.
    if ((failed && errno != EINVAL) || (at_end_ && there > 0))
      throw WrongUse(from_->name() +
                     " begins as UTF-16, but is not UTF-16 further on: it is damaged.");
    text_.resize(text_.size() - room);
    std::memmove(bytes_.data(), in, there);
    left_ = there;
  }
}

std::size_t Utf16Source::read(char* to, std::size_t size) {
  if (given_ == text_.size()) convert();
  const std::size_t count = std::min(size, text_.size() - given_);
  std::memcpy(to, text_.data() + given_, count);
  given_ += count;
  return count;
}

}  // namespace gable
