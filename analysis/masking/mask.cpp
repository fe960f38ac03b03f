// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/mask.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/masking/masked_text.h"
#include "analysis/masking/secret_code.h"
#include "analysis/masking/secret_names.h"
#include "analysis/masking/secret_programs.h"
#include "analysis/masking/secret_shapes.h"
#include "analysis/masking/secret_value.h"

namespace gable {
namespace {

constexpr std::size_t kMost = std::size_t{32} << 10;  // of a command's characters are looked at

bool is_option(std::string_view word) { return !word.empty() && word[0] == '-'; }
bool is_long_option(std::string_view word) { return word.substr(0, 2) == "--"; }

bool is_cookie(std::string_view name) {
  return name.size() >= 6 && name.substr(name.size() - 5) == "ookie";
}

// What an argument says of the ones after it.
enum class Next : std::uint8_t {
  plain,
  secret,
  secrets,   // up to the next option
  forced,    // a secret even where it looks like an option
  password,  // of a user: no number and no path
  login,     // user:password
};

// An argument that is no code: a word, an option, a header, JSON, YAML, an address.
class Data {
 public:
  Data(std::string_view text, bool& secret_named)
      : text_(text), find_(text), out_(text), secret_named_(secret_named) {}

  // The argument with what is secret in it replaced. Once.
  std::string mask() {
    look_for_named();
    if (is_login_at_host()) out_.hide_password(text_.find('@'));
    while (!out_.at_end()) step();
    return out_.take();
  }
  [[nodiscard]] Next next() const { return next_; }

 private:
  [[nodiscard]] char before(std::size_t i) const { return i > 0 ? text_[i - 1] : ' '; }
  [[nodiscard]] bool begins_name(std::size_t i) const {
    return is_name_character(text_[i]) && !is_name_character(before(i));
  }

  // user:password@host, without a scheme; image:tag@sha256:… is no login.
  [[nodiscard]] bool is_login_at_host() const {
    const auto sign = text_.find('@');
    const auto login = text_.substr(0, sign);
    return sign != text_.npos && sign > 0 && is_name_character(text_[0]) && !is_option(text_) &&
           is_login(login) && login.find_first_of("/ ={\"'") == login.npos &&
           is_name_character(find_.get(sign + 1)) && text_.compare(sign + 1, 7, "sha256:") != 0;
  }

  // "name": "HF_TOKEN": what is called a value is a secret then, also in the arguments after it.
  void look_for_named() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (!begins_name(i)) continue;
      const auto end = find_.end_of_name(i);
      const auto name = text_.substr(i, end - i);
      auto sign = i;
      while (sign > 0 && sign + 3 > i && (is_quote(before(sign)) || before(sign) == ' ')) --sign;
      const bool is_value = sign == 0 || before(sign) == '=' || before(sign) == ':';
      if (is_value && !is_option(name) && name.find('.') == name.npos && find_.get(end) != '/' &&
          naming(name) == Naming::clearly) {
        const auto value = find_.value_after_sign(i, end);
        secret_named_ = secret_named_ || value == text_.npos || is_field(value);
      }
      i = end - 1;
    }
  }

  void step() {
    const auto at = out_.at();
    if (const auto length = secret_shape(text_, at); length > 0)
      return out_.hide_until(at + length);
    if (text_.compare(at, 3, "://") == 0) return out_.hide_login();
    if (begins_name(at)) return name();
    out_.copy_until(at + 1);
  }

  void name() {
    const auto at = out_.at();
    const auto end = find_.end_of_name(at);
    const auto name = text_.substr(at, end - at);
    if (names_secret(name) && value_of(name, end)) return;
    if (secret_named_ && names_value_of_named(name) && value_of(name, end)) return;
    if ((name == "Bearer" || name == "bearer" || name == "Basic") && is_space(find_.get(end)))
      return value_at(name, find_.skip_spaces(end));
    if (name == "-u" || name == "--user" || name == "--proxy-user") return login(end);
    // Shapes may begin within the name: "--key-hf_…".
    out_.copy_until(at + 1);
    while (out_.at() < end) {
      const auto length = secret_shape(text_, out_.at());
      if (length > 0) return out_.hide_until(out_.at() + length);
      out_.copy_until(out_.at() + 1);
    }
  }

  // Masks the value after a name that says it is secret; returns false if there is no value.
  bool value_of(std::string_view name, std::size_t end) {
    const auto at = out_.at();
    if (before(at) == '<') {  // <password type="x">X</password>
      out_.copy_until(end);
      out_.hide_until(std::min(text_.find("</", end), text_.size()));
      return true;
    }
    const auto value = find_.value_after_sign(at, end);
    if (value == text_.npos) return value_alone(name, end);
    if (is_field(value)) return false;
    // --token=X is one value, whatever is in it.
    if (at == 0 && is_option(name) && value == end + 1 && value < text_.size()) {
      out_.copy_until(value);
      hide_value(name, text_.size());
      return true;
    }
    value_at(name, value);
    return true;
  }

  void value_at(std::string_view name, std::size_t value) {
    out_.copy_until(value);
    if (value >= text_.size()) {
      next_ = names_several(name) ? Next::secrets : Next::secret;
      return;
    }
    hide_value(name, is_cookie(name) ? find_.end_of_line(value, out_.quote())
                                     : find_.end_of_value(value, out_.quote()));
  }

  // The value is a word of its own, without a sign: the next argument, or the next word.
  bool value_alone(std::string_view name, std::size_t end) {
    const auto at = out_.at();
    const auto value = find_.skip_spaces(end);
    const bool alone = at == 0 || before(at) == ':';  // npm's //host/:_authToken
    const bool says_so = is_option(name) || names_secret_alone(name);
    if (value >= text_.size()) {
      if (!alone || !says_so) return false;
      out_.copy_until(text_.size());
      next_ = is_option(name) && names_several(name) ? Next::secrets : Next::secret;
      return true;
    }
    // Prose has such names, too: "The secret of life".
    const auto word = text_.substr(value, find_.end_of_name(value) - value);
    if (value == end || !says_so || is_field(value)) return false;
    if (!is_option(name) && !looks_secret(word)) return false;
    value_at(name, value);
    return true;
  }

  // A word of prose has small letters alone.
  static bool looks_secret(std::string_view word) {
    return word.find_first_of("0123456789") != word.npos || looks_random(word) || is_scheme(word);
  }

  // What stands there is the next field and no value: "value: X", "secret": "X".
  [[nodiscard]] bool is_field(std::size_t i) const {
    const auto begin = find_.skip_quotes(i);
    const auto end = find_.end_of_name(begin);
    const auto sign = find_.skip_quotes(end);
    if (end == begin || (find_.get(sign) != ':' && find_.get(sign) != '=')) return false;
    return names_value_of_named(text_.substr(begin, end - begin)) ||
           (begin > i && sign > end && find_.get(sign) == ':');
  }

  // -u user:password
  void login(std::size_t end) {
    const auto start = find_.skip_spaces(find_.get(end) == '=' ? end + 1 : end);
    out_.copy_until(start);
    if (start >= text_.size()) {
      next_ = Next::login;
    } else {
      out_.hide_password(find_.end_of_value(start, out_.quote()));
    }
  }

  void hide_value(std::string_view name, std::size_t end) {
    const auto begin = out_.at();
    if (end <= begin) return;
    auto word = text_.substr(begin, end - begin);
    while (!word.empty() && is_any(word.back(), "\"'`\\)]},;")) word.remove_suffix(1);
    word.remove_prefix(std::min(word.find_first_not_of("\"'`\\[ "), word.size()));
    if (is_harmless(name, word)) return out_.copy_until(end);
    // "Authorization: Bearer X", "Basic X"
    if (is_scheme(word)) {
      out_.copy_until(find_.skip_spaces(end));
      if (out_.at_end()) next_ = Next::secret;
      end = find_.end_of_value(out_.at(), out_.quote());
    }
    out_.hide_word(end);
  }

  std::string_view text_;
  const ValueFinder find_;
  MaskedText out_;
  bool& secret_named_;
  Next next_ = Next::plain;
};

// The arguments of one command, each with what the ones before said of it.
class Command {
 public:
  std::string mask(std::string_view argument) {
    looked_at_ += argument.size();
    if (looked_at_ > kMost) return kMasked;
    const auto taken = programs_.see(argument);
    auto masked = next_ == Next::plain ? std::nullopt : value(argument);
    if (!masked) masked = by_program(argument, taken);
    if (!masked) masked = other(argument);
    places_.see(argument);
    before_ = argument;
    return *masked;
  }

 private:
  using Masked = std::optional<std::string>;  // none: the argument is no such thing

  // The argument as the value of an option before it.
  Masked value(std::string_view argument) {
    const auto next = next_;
    if (next != Next::secrets || is_option(argument)) next_ = Next::plain;
    if (next == Next::forced) return kMasked;
    if (next == Next::password) return is_password(argument) ? Masked(kMasked) : Masked();
    if (next == Next::login) return password_of(argument);
    if (!is_option(name_) && is_verb(argument)) {
      secret_named_ = true;  // gh secret set HF --body X
      next_ = Next::plain;
      return {};
    }
    if (argument == "=" || argument == ":" || is_scheme(argument)) {
      next_ = next;
      return std::string(argument);
    }
    // What says itself that it is an option is no value: keytool -genkey -storepass X.
    if (is_long_option(argument)) return {};
    if (is_option(argument) && (!is_option(name_) || names_secret(argument))) return {};
    if (is_option(argument) && next == Next::secrets) return {};
    random_follow_ = next == Next::secret && argument.substr(0, 1) != "/";
    if (is_harmless(name_, argument)) return std::string(argument);
    return kMasked;
  }

  // "user:***"
  static Masked password_of(std::string_view login) {
    if (!is_login(login)) return {};
    return std::string(login.substr(0, login.find(':') + 1)) + kMasked;
  }

  // The argument as what a program takes without a name.
  Masked by_program(std::string_view argument, SecretPrograms::Answer answer) {
    const auto option = std::string(argument.substr(0, answer.option));
    const auto rest = argument.substr(answer.option);
    switch (answer.takes) {
      case SecretPrograms::Takes::nothing:
      case SecretPrograms::Takes::input:
        return {};
      case SecretPrograms::Takes::word:
        return kMasked;
      case SecretPrograms::Takes::rest:
        return option + kMasked;
      case SecretPrograms::Takes::next:
        next_ = Next::forced;
        return option;
      case SecretPrograms::Takes::password_next:
        next_ = Next::password;
        return option;
      case SecretPrograms::Takes::login_next:
        next_ = Next::login;
        return option;
      case SecretPrograms::Takes::login_rest:
        return is_login(rest) ? option + *password_of(rest) : Masked();
      case SecretPrograms::Takes::after_equal: {
        const auto sign = argument.find('=');
        if (sign == argument.npos) return {};
        return std::string(argument.substr(0, sign + 1)) + kMasked;
      }
    }
    return {};
  }

  std::string other(std::string_view argument) {
    // vllm serve --api-key A B
    if (random_follow_ && !is_option(argument) && argument.find_first_of("/=: ") == argument.npos &&
        looks_random(argument))
      return kMasked;
    random_follow_ = false;
    // --wrap=CODE
    const auto sign = is_option(argument) ? argument.find('=') : argument.npos;
    const bool has_option = sign != argument.npos && sign < argument.find_first_of(" \"'(");
    const auto code = has_option ? argument.substr(sign + 1) : argument;
    auto place = places_;
    if (has_option) place.see(argument.substr(0, sign));
    const auto answer = place.is_code(code);
    if (answer != CodePlaces::Answer::no && code_gives_secret(code))
      return std::string(argument.substr(0, argument.size() - code.size())) + kMasked;
    if (answer == CodePlaces::Answer::yes) return std::string(argument);
    Data data(argument, secret_named_);
    auto masked = data.mask();
    next_ = data.next();
    name_ = argument;
    // -e HF_TOKEN hands a variable on.
    if (next_ == Next::secret && (before_ == "-e" || before_ == "--env")) next_ = Next::plain;
    return masked;
  }

  SecretPrograms programs_;
  CodePlaces places_;
  Next next_ = Next::plain;
  std::string_view name_, before_;  // what next_ is the value of; the argument before
  bool secret_named_ = false;       // "HF_TOKEN": what is called a value after it is one
  bool random_follow_ = false;      // a secret stood here, and more may
  std::size_t looked_at_ = 0;
};

}  // namespace

std::vector<std::string> mask_command(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  out.reserve(command.size());
  Command masking;
  for (const auto& argument : command) out.push_back(masking.mask(argument));
  return out;
}

}  // namespace gable
