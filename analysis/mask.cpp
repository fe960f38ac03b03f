// SPDX-License-Identifier: Apache-2.0
#include "analysis/mask.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/secret_names.h"

namespace gable {
namespace {

constexpr std::size_t kLongestLogin = 512;  // looked at in an address

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

enum class Next : std::uint8_t { plain, secret, login };

bool is_cookie(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kEnds{"cookie", "Cookie", "COOKIE"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) {
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
  });
}

// One argument: a word, a shell command, a header, JSON, a program's text.
class Text {
 public:
  explicit Text(std::string_view text) : text_(text) {}

  // The argument with what is secret in it replaced. Once.
  std::string mask() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }
  // The argument is user:password. Once.
  std::string mask_login() {
    hide_password(text_.size());
    copy_until(text_.size());
    return std::move(out_);
  }
  // What the argument says of the one after it.
  [[nodiscard]] Next next() const { return next_; }

 private:
  [[nodiscard]] char get(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  [[nodiscard]] bool escaped(std::size_t i) const { return i > 0 && text_[i - 1] == '\\'; }

  void copy_until(std::size_t end) {
    out_ += text_.substr(at_, end - at_);
    for (; at_ < end; ++at_)
      if (is_quote(text_[at_])) follow_quote(text_[at_]);
  }
  void hide_until(std::size_t end) {
    if (end > at_) out_ += kMasked;
    at_ = end;
  }

  void step() {
    if (const auto length = secret_shape(text_, at_); length > 0) return hide_until(at_ + length);
    const char c = text_[at_];
    if (text_.compare(at_, 3, "://") == 0) return address();
    if (is_name_character(c) && (at_ == 0 || !is_name_character(text_[at_ - 1]))) return name();
    copy_until(at_ + 1);
  }

  // Which quote the text stands in. One within a word ("don't") opens nothing.
  void follow_quote(char c) {
    if (quote_ == c) {
      quote_ = '\0';
    } else if (quote_ == '\0' && !escaped(at_) &&
               (at_ == 0 || !is_name_character(text_[at_ - 1]))) {
      quote_ = c;
    }
  }

  // scheme://user:password@host; either may be the secret.
  void address() {
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

  void name() {
    auto end = at_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const auto name = text_.substr(at_, end - at_);
    const bool option = name[0] == '-';
    if (names_secret(name)) {
      if (const auto value = value_after_sign(end); value != text_.npos) {
        const bool whole = at_ == 0 && option && get(end) == '=';  // --token=X is one value
        copy_until(value);
        if (value >= text_.size()) {
          next_ = Next::secret;
          return;
        }
        return hide_value(name, whole ? text_.size() : end_of_value(value));
      }
      if (option || names_secret_alone(name)) {
        const auto value = skip_spaces(end);
        if (value >= text_.size()) {
          copy_until(text_.size());
          if (option || name.size() == text_.size()) next_ = Next::secret;
          return;
        }
        if (value > end && (get(value) != '-' || get(value + 1) != '-')) {
          copy_until(value);
          return hide_value(name, end_of_value(value));
        }
      }
    }
    if ((name == "Bearer" || name == "bearer" || name == "Basic") && is_space(get(end)))
      return after_scheme(end);
    if (name == "-u" || name == "--user" || name == "--proxy-user") return login(end);
    // Shapes may begin within the name: "--key-hf_…".
    const auto stop = end;
    copy_until(at_ + 1);
    while (at_ < stop) {
      const auto length = secret_shape(text_, at_);
      if (length > 0) return hide_until(at_ + length);
      copy_until(at_ + 1);
    }
  }

  // "Bearer X" where no name says so.
  void after_scheme(std::size_t end) {
    const auto value = skip_spaces(end);
    copy_until(value);
    if (value < text_.size()) return hide_until(end_of_value(value));
    next_ = Next::secret;
  }

  // -u user:password
  void login(std::size_t end) {
    const auto start = skip_spaces(get(end) == '=' ? end + 1 : end);
    copy_until(start);
    if (start >= text_.size()) {
      next_ = Next::login;
      return;
    }
    hide_password(end_of_value(start));
  }

  void hide_password(std::size_t end) {
    const auto word = text_.substr(at_, end - at_);
    const auto colon = word.find(':');
    if (colon == word.npos) return;
    if (is_number(word.substr(0, colon)) && is_number(word.substr(colon + 1))) return;  // uid:gid
    copy_until(at_ + colon + 1);
    hide_until(end);
  }

  [[nodiscard]] std::size_t skip_spaces(std::size_t i) const {
    while (i < text_.size() && is_space(text_[i])) ++i;
    return i;
  }

  // Where the value begins behind NAME=, NAME: , "NAME": , ['NAME'] = , <NAME>, NAME%3D, name("
  // and ("NAME", "; npos: there is no sign. The size of the text: the value is the next argument.
  [[nodiscard]] std::size_t value_after_sign(std::size_t i) const {
    bool quoted = false;
    while (i < text_.size() && (is_quote(text_[i]) || text_[i] == '\\' || text_[i] == ']')) {
      quoted = quoted || is_quote(text_[i]);
      ++i;
    }
    const auto sign = skip_spaces(i);
    if (get(sign) == '=' || get(sign) == ':') {
      // "A word: another" where the sign is no sign, or an address.
      if (text_.compare(sign, 3, "://") == 0) return text_.npos;
      auto value = sign + 1;
      while (get(value) == '=' || get(value) == '>') ++value;
      return skip_spaces(value);
    }
    if (text_.compare(i, 3, "%3D") == 0 || text_.compare(i, 3, "%3d") == 0 ||
        text_.compare(i, 3, "%3A") == 0 || text_.compare(i, 3, "%3a") == 0)
      return i + 3;
    if (get(i) == '>' && get(at_ == 0 ? text_.size() : at_ - 1) == '<') return i + 1;
    if ((quoted && get(sign) == ',') || get(i) == '(') {
      auto value = skip_spaces((get(i) == '(' ? i : sign) + 1);
      while (get(value) == '\\') ++value;
      if (is_quote(get(value))) return value;
    }
    return text_.npos;
  }

  // Behind the quotation that opens at `open`, and what is joined to it as a shell joins words.
  [[nodiscard]] std::size_t end_of_quotation(std::size_t open) const {
    const char c = text_[open];
    const bool inner = escaped(open);  // \"X\" ends at the next \"
    for (auto i = open + 1; i < text_.size(); ++i) {
      if (inner ? text_[i] == c && escaped(i) : text_[i] == c && !escaped(i)) return i + 1;
    }
    return text_.size();
  }

  [[nodiscard]] std::size_t end_of_value(std::size_t start) const {
    auto i = start;
    while (get(i) == '\\' && is_quote(get(i + 1))) ++i;
    if (get(i) == '{' || get(i) == '[') return end_of_brackets(i);
    bool joined = false;  // a quotation ended here: what follows at once belongs to the word
    const bool element = start > 0 && text_[start - 1] == '>';
    while (i < text_.size()) {
      const char c = text_[i];
      if (quote_ != '\0' && c == quote_ && !escaped(i)) return i;
      if (is_quote(c)) {
        i = end_of_quotation(i);
        joined = true;
        // A program's text joins quotations over spaces.
        if (const auto more = skip_spaces(i);
            more > i && is_quote(get(more)) && get(more) != quote_)
          i = more;
        continue;
      }
      if (is_space(c) || (element && c == '<')) return i;
      if (joined && !is_name_character(c)) return i;
      if ((c == ',' || c == ';' || c == '&' || c == '|') && begins_next(i + 1)) return i;
      joined = false;
      ++i;
    }
    return i;
  }

  // A header's value has spaces and semicolons.
  [[nodiscard]] std::size_t end_of_line(std::size_t i) const {
    while (i < text_.size() && text_[i] != '\n' && (quote_ == '\0' || text_[i] != quote_)) ++i;
    return i;
  }

  // After a separator: nothing, a space, or the next NAME= or "NAME":
  [[nodiscard]] bool begins_next(std::size_t i) const {
    if (i >= text_.size() || is_space(text_[i])) return true;
    while (i < text_.size() && (is_quote(text_[i]) || text_[i] == '\\')) ++i;
    const auto name = i;
    while (i < text_.size() && is_name_character(text_[i])) ++i;
    if (i == name) return false;
    while (i < text_.size() && (is_quote(text_[i]) || text_[i] == '\\')) ++i;
    return get(i) == '=' || get(i) == ':';
  }

  [[nodiscard]] std::size_t end_of_brackets(std::size_t i) const {
    std::size_t depth = 0;
    while (i < text_.size()) {
      const char c = text_[i];
      if (is_quote(c) && c != quote_) {
        i = end_of_quotation(i);
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return i + 1;
      ++i;
    }
    return i;
  }

  void hide_value(std::string_view name, std::size_t end) {
    if (is_count(name, text_.substr(at_, end - at_))) return copy_until(end);
    if (is_cookie(name)) return hide_until(end_of_line(at_));
    // "Authorization: Bearer X", "Basic X"
    const auto word = text_.substr(at_, end - at_);
    if (is_scheme(word)) {
      const auto value = skip_spaces(end);
      if (value >= text_.size()) {
        copy_until(text_.size());
        next_ = Next::secret;
        return;
      }
      if (value > end) {
        copy_until(value);
        return hide_until(end_of_value(value));
      }
    }
    // The quotes stay, so that the text around reads on.
    const char first = word.empty() ? '\0' : word.front();
    if (word.size() >= 2 && is_quote(first) && word.back() == first && !escaped(end - 1)) {
      copy_until(at_ + 1);
      hide_until(end - 1);
      if (out_.back() == first) out_ += kMasked;  // an empty value is not told either
      return copy_until(end);
    }
    hide_until(end);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  char quote_ = '\0';
  Next next_ = Next::plain;
};

// Options that are short because their program knows what they mean.
struct ShortOption {
  std::string_view program, option;
};
constexpr std::array kShortOptions{
    ShortOption{"sshpass", "-p"}, ShortOption{"mysql", "-p"},      ShortOption{"mysqldump", "-p"},
    ShortOption{"mariadb", "-p"}, ShortOption{"mysqladmin", "-p"}, ShortOption{"redis-cli", "-a"},
    ShortOption{"docker", "-p"},  ShortOption{"podman", "-p"},     ShortOption{"ldapsearch", "-w"},
};

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// The option of `program` that takes a password, or an empty text.
std::string_view password_option(std::string_view program) {
  for (const auto& known : kShortOptions)
    if (file_name(program) == known.program) return known.option;
  return {};
}

}  // namespace

std::vector<std::string> mask_command(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  Next next = Next::plain;
  std::string_view password;  // the option of the program that was named last
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& argument = command[i];
    const std::string_view before = i > 0 ? std::string_view(command[i - 1]) : std::string_view();
    if (next == Next::secret && (argument == "=" || argument == ":" || is_scheme(argument))) {
      out.push_back(argument);
      continue;
    }
    if (next == Next::secret && argument.rfind("--", 0) != 0) {
      const bool count = is_count(before, argument);
      out.emplace_back(count ? argument : kMasked);
      next = Next::plain;
      continue;
    }
    Text text(argument);
    if (next == Next::login) {
      out.push_back(text.mask_login());
      next = Next::plain;
      continue;
    }
    if (!password.empty() && argument.rfind(password, 0) == 0) {
      const bool alone = argument == password;
      out.push_back(alone ? argument : std::string(password) + kMasked);
      next = alone ? Next::secret : Next::plain;
      continue;
    }
    if (const auto option = password_option(argument); !option.empty()) password = option;
    out.push_back(text.mask());
    next = text.next();
    // -e HF_TOKEN hands a variable on; wandb login KEY has no name.
    if (next == Next::secret && (before == "-e" || before == "--env")) next = Next::plain;
    if (argument == "login" && file_name(before) == "wandb") next = Next::secret;
  }
  return out;
}

}  // namespace gable
