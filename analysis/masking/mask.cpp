// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/mask.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/masking/masked_text.h"
#include "analysis/masking/secret_names.h"
#include "analysis/masking/secret_programs.h"
#include "analysis/masking/secret_shapes.h"
#include "analysis/masking/secret_value.h"

namespace gable {
namespace {

bool is_option(std::string_view word) { return !word.empty() && word[0] == '-'; }

bool is_cookie(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kEnds{"cookie", "Cookie", "COOKIE"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  });
}

// What an argument says of the one after it.
enum class Next : std::uint8_t { plain, secret, secrets, login };

// What a command has said so far, over all its arguments.
struct Said {
  SecretPrograms programs;
  bool secret_named = false;  // "HF_TOKEN", "secret": what is called a value after it is one
};

// One argument: a word, a shell command, a header, JSON, a program's text.
class Text : private MaskedText {
 public:
  Text(std::string_view text, Said& said) : MaskedText(text), said_(said) {}

  // The argument with what is secret in it replaced. Once.
  std::string mask() {
    while (at_ < text_.size()) step();
    return take();
  }
  // The argument is user:password. Once.
  std::string mask_login() {
    hide_password(text_.size());
    copy_until(text_.size());
    return take();
  }
  // What the argument says of the one after it.
  [[nodiscard]] Next next() const { return next_; }

 private:
  void step() {
    if (const auto length = secret_shape(text_, at_); length > 0) return hide_until(at_ + length);
    const char c = text_[at_];
    if (text_.compare(at_, 3, "://") == 0) return hide_login();
    if (is_name_character(c) && (at_ == 0 || !is_name_character(text_[at_ - 1]))) return name();
    if (c == ';' || c == '|' || c == '\n') said_.programs.end_command();
    copy_until(at_ + 1);
  }

  [[nodiscard]] bool begins_word() const {
    const char before = at_ == 0 ? ' ' : text_[at_ - 1];
    return is_space(before) || is_quote(before) || before == ';' || before == '|' ||
           before == '&' || before == '(';
  }

  void name() {
    auto end = at_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const auto name = text_.substr(at_, end - at_);
    if (by_program(name, end)) return;
    if (names_secret(name) && value_of_secret(name, end)) return;
    if (is_login_call(name, end)) {
      const auto close = find_.end_of_value(end);
      copy_until(end + 1);
      return hide_until(find_.get(close - 1) == ')' ? close - 1 : close);
    }
    if (said_.secret_named && value_of_named(name, end)) return;
    if ((name == "Bearer" || name == "bearer" || name == "Basic") && is_space(find_.get(end)))
      return after_scheme(end);
    if (name == "-u" || name == "--user" || name == "--proxy-user") return login(end);
    // A file of that name, or a part of it, is none.
    if (!is_option(name) && (begins_word() || text_[at_ - 1] == '=') &&
        name.find('.') == name.npos && find_.get(end) != '/' && names_secret(name))
      said_.secret_named = true;
    // Shapes may begin within the name: "--key-hf_…".
    const auto stop = end;
    copy_until(at_ + 1);
    while (at_ < stop) {
      const auto length = secret_shape(text_, at_);
      if (length > 0) return hide_until(at_ + length);
      copy_until(at_ + 1);
    }
  }

  // login("X")
  [[nodiscard]] bool is_login_call(std::string_view name, std::size_t end) const {
    constexpr std::string_view kLogin = "login";
    return name.size() >= kLogin.size() && name.substr(name.size() - kLogin.size()) == kLogin &&
           find_.get(end) == '(' && is_quote(find_.get(end + 1));
  }

  // What the program takes at this place, whatever it is called.
  bool by_program(std::string_view name, std::size_t end) {
    const bool begins = begins_word();
    const char after = find_.get(end);
    const bool whole = end >= text_.size() || is_space(after) || is_quote(after);
    const bool program = whole && (begins || text_[at_ - 1] == '/' || text_[at_ - 1] == '=');
    const auto answer = said_.programs.see(name, begins, program);
    switch (answer.takes) {
      case SecretPrograms::Takes::nothing:
        return false;
      case SecretPrograms::Takes::word:
        hide_until(std::max(end, find_.end_of_value(at_)));
        return true;
      case SecretPrograms::Takes::rest:
        copy_until(at_ + answer.option);
        hide_until(std::max(end, find_.end_of_value(at_)));
        return true;
      case SecretPrograms::Takes::login_rest:
        copy_until(at_ + answer.option);
        hide_password(std::max(end, find_.end_of_value(at_)));
        return true;
      case SecretPrograms::Takes::next:
        // -p'X', or the next word.
        if (is_quote(after)) {
          copy_until(end);
          hide_value(name, find_.end_of_value(at_));
          return true;
        }
        return hide_next_word(name, end);
      case SecretPrograms::Takes::login_next:
        login(end);
        return true;
      case SecretPrograms::Takes::after_equal:
        if (after != '=') return false;
        copy_until(end + 1);
        hide_value(name, find_.end_of_value(at_));
        return true;
    }
    return false;
  }

  // The value behind a name that says so. False: there is none.
  bool value_of_secret(std::string_view name, std::size_t end) {
    const bool option = is_option(name);
    if (const auto value = find_.value_after_sign(at_, end); value != text_.npos) {
      // "name": "HF_TOKEN", "value": "X"
      if (is_field(value)) {
        said_.secret_named = true;
        return false;
      }
      const bool whole = at_ == 0 && option && find_.get(end) == '=';  // --token=X is one value
      copy_until(value);
      if (value >= text_.size()) {
        next_ = Next::secret;
        return true;
      }
      hide_value(name, whole ? text_.size() : find_.end_of_value(value));
      return true;
    }
    if (is_field(find_.skip_spaces(end))) {
      said_.secret_named = true;
      return false;
    }
    return (option || names_secret_alone(name)) && hide_next_word(name, end);
  }

  // What stands there is the next field and no value: "value: X", "secret": "X".
  [[nodiscard]] bool is_field(std::size_t i) const {
    const auto skip_quotes = [&](std::size_t at) {
      while (is_quote(find_.get(at)) || find_.get(at) == '\\') ++at;
      return at;
    };
    const auto begin = skip_quotes(i);
    auto end = begin;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const auto sign = skip_quotes(end);
    if (find_.get(sign) != ':' && find_.get(sign) != '=') return false;
    return names_value_of_named(text_.substr(begin, end - begin)) ||
           (begin > i && sign > end && find_.get(sign) == ':');
  }

  // name: HF_TOKEN, value: X
  bool value_of_named(std::string_view name, std::size_t end) {
    if (!names_value_of_named(name)) return false;
    const auto value = find_.value_after_sign(at_, end);
    if (value == text_.npos && !is_option(name)) return false;
    said_.secret_named = false;
    if (value == text_.npos) return hide_next_word(name, end);
    copy_until(value);
    if (value >= text_.size()) {
      next_ = Next::secret;
    } else {
      hide_value(name, find_.end_of_value(value));
    }
    return true;
  }

  // The word behind spaces, and the further ones where the name is of several. An option is none.
  bool hide_next_word(std::string_view name, std::size_t end) {
    const auto value = find_.skip_spaces(end);
    const bool several = is_option(name) && names_several(name);
    if (value >= text_.size()) {
      const bool alone = at_ == 0 || text_[at_ - 1] == ':';  // npm's //host/:_authToken
      copy_until(text_.size());
      if (is_option(name) || alone) next_ = several ? Next::secrets : Next::secret;
      said_.secret_named = said_.secret_named || !is_option(name);
      return true;
    }
    if (value == end || (find_.get(value) == '-' && find_.get(value + 1) == '-')) return false;
    copy_until(value);
    if (find_.ends_command(value)) return true;
    if (!is_option(name) && is_verb(text_.substr(value, find_.end_of_value(value) - value))) {
      said_.secret_named = true;  // gh secret set HF --body X
      return true;
    }
    const bool count = is_count(name, text_.substr(at_, find_.end_of_value(value) - at_));
    hide_value(name, find_.end_of_value(value));
    if (!several || count) return true;
    for (;;) {
      const auto more = find_.skip_spaces(at_);
      if (more >= text_.size()) next_ = Next::secrets;
      if (more == at_ || find_.ends_command(more) || find_.get(more) == '-') return true;
      copy_until(more);
      hide_value(name, find_.end_of_value(more));
    }
  }

  // "Bearer X" where no name says so.
  void after_scheme(std::size_t end) {
    const auto value = find_.skip_spaces(end);
    copy_until(value);
    if (value < text_.size()) return hide_until(find_.end_of_value(value));
    next_ = Next::secret;
  }

  // -u user:password
  void login(std::size_t end) {
    const auto start = find_.skip_spaces(find_.get(end) == '=' ? end + 1 : end);
    copy_until(start);
    if (start >= text_.size()) {
      next_ = Next::login;
      return;
    }
    hide_password(find_.end_of_value(start));
  }

  void hide_value(std::string_view name, std::size_t end) {
    if (end <= at_) return;
    const auto word = text_.substr(at_, end - at_);
    const auto last = word.find_last_not_of(")]},;");
    if (is_count(name, word.substr(0, last == word.npos ? 0 : last + 1))) return copy_until(end);
    if (is_cookie(name)) return hide_until(find_.end_of_line(at_));
    // key="ApiKey" value="X"
    if (word.size() > 2 && is_quote(word[0]) && names_secret(word.substr(1, word.size() - 2)))
      said_.secret_named = true;
    // "Authorization: Bearer X", "Basic X"
    if (is_scheme(word)) {
      const auto value = find_.skip_spaces(end);
      if (value >= text_.size()) {
        copy_until(text_.size());
        next_ = Next::secret;
        return;
      }
      if (value > end) {
        copy_until(value);
        return hide_until(find_.end_of_value(value));
      }
    }
    hide_word(end);
  }

  Said& said_;
  Next next_ = Next::plain;
};

bool is_sign_or_scheme(std::string_view word) {
  return word == "=" || word == ":" || is_scheme(word);
}

}  // namespace

std::vector<std::string> mask_command(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  Said said;
  Next next = Next::plain;
  std::string_view of;  // the option whose values these are
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& argument = command[i];
    const std::string_view before = i > 0 ? std::string_view(command[i - 1]) : std::string_view();
    const bool waits = next == Next::secret || next == Next::secrets;
    if (waits && !is_option(before) && is_verb(argument)) {
      said.secret_named = true;  // gh secret set HF --body X
      next = Next::plain;
    } else if (waits && is_sign_or_scheme(argument)) {
      out.push_back(argument);
      continue;
    }
    const bool secret = next == Next::secret || next == Next::secrets;
    const bool ends = next == Next::secrets && !of.empty() && is_option(argument);
    if (secret && argument.rfind("--", 0) != 0 && !(ends && of != before)) {
      const bool count = is_count(of.empty() ? before : of, argument);
      out.emplace_back(count ? argument : kMasked);
      if (next == Next::secret || count) next = Next::plain;
      continue;
    }
    Text text(argument, said);
    if (next == Next::login) {
      out.push_back(text.mask_login());
      next = Next::plain;
      continue;
    }
    out.push_back(text.mask());
    next = text.next();
    of = argument;
    // -e HF_TOKEN hands a variable on.
    if (next == Next::secret && (before == "-e" || before == "--env")) next = Next::plain;
  }
  return out;
}

}  // namespace gable
