// SPDX-License-Identifier: Apache-2.0
// A text copied from beginning to end with parts of it masked on the way.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gable {

inline constexpr const char* kMasked = "***";

class MaskedText {
 public:
  explicit MaskedText(std::string_view text) : text_(text) {}

  // The position; all before it is copied or masked.
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  // The quote character the position is within; '\0': none.
  [[nodiscard]] char quote() const { return quote_; }
  // The text copied so far; call it once.
  [[nodiscard]] std::string take();

  void copy_until(std::size_t end);
  void hide_until(std::size_t end);
  // The same, but keeps the quotes around it.
  void hide_word(std::size_t end);
  // Masks the password of user:password, up to `end`; 1000:1000 is no login.
  void hide_password(std::size_t end);
  // Masks the login at "://" in scheme://user:password@host; either part may be the secret.
  void hide_login();

 private:
  void follow_quote(char c);

  std::string_view text_;
  std::size_t at_ = 0;
  char quote_ = '\0';
  std::string out_;
};

// Length of the login "user:password" after the "://" at `at`; 0: there is none.
[[nodiscard]] std::size_t login_in_address(std::string_view text, std::size_t at);
// Whether the word is "user:password"; 1000:1000, a user and a group, is not.
[[nodiscard]] bool is_login(std::string_view word);

}  // namespace gable
