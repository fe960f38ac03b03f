// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/masked_text.h"

#include <algorithm>
#include <utility>

#include "analysis/base/ascii.h"
#include "analysis/masking/secret_names.h"
#include "analysis/masking/secret_value.h"

namespace gable {
namespace {

constexpr std::size_t kLongestLogin = 512;  // looked at in an address

bool has_digits_alone(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

bool is_login(std::string_view word) {
  const auto colon = word.find(':');
  if (colon == word.npos) return false;
  if (word.substr(colon, 3) == "://") return false;  // an address
  return !has_digits_alone(word.substr(0, colon)) || !has_digits_alone(word.substr(colon + 1));
}

std::size_t login_in_address(std::string_view text, std::size_t at) {
  const auto start = at + 3;
  const auto most = std::min(text.size(), start + kLongestLogin);
  auto end = start;  // of the word
  while (end < most && !is_space(text[end]) && !is_quote(text[end])) ++end;
  const auto word = text.substr(start, end - start);
  const auto host_end = std::min(word.find_first_of("/?#"), word.size());
  auto sign = word.substr(0, host_end).rfind('@');
  if (sign == word.npos) {
    // A slash in the password: what follows the colon is no port then.
    const auto colon = word.substr(0, host_end).find(':');
    if (colon != word.npos && !has_digits_alone(word.substr(colon + 1, host_end - colon - 1)))
      sign = word.rfind('@');
  }
  return sign == word.npos || word.substr(0, sign) == "git" ? 0 : sign;
}

std::string MaskedText::take() { return std::move(out_); }

void MaskedText::copy_until(std::size_t end) {
  if (end > at_) out_ += text_.substr(at_, end - at_);
  for (; at_ < end; ++at_)
    if (is_quote(text_[at_])) follow_quote(text_[at_]);
}

void MaskedText::hide_until(std::size_t end) {
  if (end > at_) out_ += kMasked;
  at_ = std::max(at_, end);
}

// One within a word ("don't") opens nothing.
void MaskedText::follow_quote(char c) {
  const char before = at_ > 0 ? text_[at_ - 1] : ' ';
  if (quote_ == c) {
    quote_ = '\0';
  } else if (quote_ == '\0' && before != '\\' && !is_name_character(before)) {
    quote_ = c;
  }
}

void MaskedText::hide_login() {
  const auto start = at_ + 3;
  const auto length = login_in_address(text_, at_);
  copy_until(start);
  hide_until(start + length);
}

void MaskedText::hide_password(std::size_t end) {
  const auto word = text_.substr(at_, end - at_);
  if (!is_login(word)) return;
  copy_until(at_ + word.find(':') + 1);
  hide_until(end);
}

void MaskedText::hide_word(std::size_t end) {
  const auto word = text_.substr(at_, end - at_);
  const bool quoted = word.size() >= 2 && is_quote(word.front()) && word.back() == word.front() &&
                      word[word.size() - 2] != '\\';
  if (!quoted) return hide_until(end);
  copy_until(at_ + 1);
  out_ += kMasked;  // an empty value is not told either
  at_ = end - 1;
  copy_until(end);
}

}  // namespace gable
