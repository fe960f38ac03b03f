// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/masked_text.h"

#include <algorithm>
#include <utility>

#include "analysis/base/ascii.h"
#include "analysis/masking/mask.h"
#include "analysis/masking/secret_names.h"

namespace gable {
namespace {

constexpr std::size_t kLongestLogin = 512;  // looked at in an address

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

std::string MaskedText::take() { return std::move(out_); }

void MaskedText::copy_until(std::size_t end) {
  if (end > at_) out_ += text_.substr(at_, end - at_);
  for (; at_ < end; ++at_)
    if (is_quote(text_[at_])) follow_quote(text_[at_]);
}
void MaskedText::hide_until(std::size_t end) {
  if (end > at_) out_ += kMasked;
  at_ = end;
}

// Which quote the text stands in. One within a word ("don't") opens nothing.
void MaskedText::follow_quote(char c) {
  if (quote_ == c) {
    quote_ = '\0';
  } else if (quote_ == '\0' && !find_.escaped(at_) &&
             (at_ == 0 || !is_name_character(text_[at_ - 1]))) {
    quote_ = c;
  }
}

// scheme://user:password@host; either may be the secret.
void MaskedText::hide_login() {
  const auto start = at_ + 3;
  const auto most = std::min(text_.size(), start + kLongestLogin);
  auto end = start;  // of the word
  while (end < most && !is_space(text_[end]) && !is_quote(text_[end])) ++end;
  const auto word = text_.substr(start, end - start);
  const auto host_end = std::min(word.find_first_of("/?#"), word.size());
  auto at = word.substr(0, host_end).rfind('@');
  if (at == word.npos) {
    // A slash in the password: what follows the colon is no port then.
    const auto colon = word.substr(0, host_end).find(':');
    if (colon != word.npos && !is_number(word.substr(colon + 1, host_end - colon - 1)))
      at = word.rfind('@');
  }
  copy_until(start);
  if (at != word.npos && word.substr(0, at) != "git") hide_until(start + at);
}

void MaskedText::hide_password(std::size_t end) {
  const auto word = text_.substr(at_, end - at_);
  const auto colon = word.find(':');
  if (colon == word.npos) return;
  if (is_number(word.substr(0, colon)) && is_number(word.substr(colon + 1))) return;  // uid:gid
  copy_until(at_ + colon + 1);
  hide_until(end);
}

void MaskedText::hide_word(std::size_t end) {
  const auto word = text_.substr(at_, end - at_);
  const char first = word.empty() ? '\0' : word.front();
  if (word.size() >= 2 && is_quote(first) && word.back() == first && !find_.escaped(end - 1)) {
    copy_until(at_ + 1);
    hide_until(end - 1);
    if (out_.back() == first) out_ += kMasked;  // an empty value is not told either
    return copy_until(end);
  }
  hide_until(end);
}

}  // namespace gable
