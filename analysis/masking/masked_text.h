// SPDX-License-Identifier: Apache-2.0
// A text that is copied from its beginning to its end, and parts of it hidden on the way.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gable {

inline constexpr const char* kMasked = "***";

class MaskedText {
 public:
  explicit MaskedText(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t at() const { return at_; }  // what stands before is copied or hidden
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  // In which quotation the text stands there; '\0': in none.
  [[nodiscard]] char quote() const { return quote_; }
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

 private:
  void follow_quote(char c);

  std::string_view text_;
  std::size_t at_ = 0;
  char quote_ = '\0';
  std::string out_;
};

// How many characters behind "://" at `at` say who logs in: "user:password"; 0: nobody does.
[[nodiscard]] std::size_t login_in_address(std::string_view text, std::size_t at);
// "user:password"; 1000:1000, a user and a group, is none.
[[nodiscard]] bool is_login(std::string_view word);

}  // namespace gable
