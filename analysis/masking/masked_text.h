// SPDX-License-Identifier: Apache-2.0
// A text that is copied from its beginning to its end, and parts of it hidden on the way.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analysis/masking/secret_value.h"

namespace gable {

class MaskedText {
 public:
  explicit MaskedText(std::string_view text) : text_(text), find_(text, quote_) {}
  MaskedText(const MaskedText&) = delete;
  MaskedText& operator=(const MaskedText&) = delete;

  // What was copied so far. Once.
  [[nodiscard]] std::string take();

  void copy_until(std::size_t end);
  void hide_until(std::size_t end);
  // The same, but the quotes around it stay, so that the text around reads on.
  void hide_word(std::size_t end);
  // Of user:password, up to `end`; 1000:1000 is none.
  void hide_password(std::size_t end);
  // At "://": scheme://user:password@host; either may be the secret.
  void hide_login();

 protected:
  std::string_view text_;
  std::size_t at_ = 0;  // what stands before is copied or hidden
  char quote_ = '\0';   // in which the text stands there
  const ValueFinder find_;

 private:
  void follow_quote(char c);

  std::string out_;
};

}  // namespace gable
