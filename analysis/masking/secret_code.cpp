// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_code.h"

#include <algorithm>

#include "analysis/base/ascii.h"
#include "analysis/masking/masked_text.h"
#include "analysis/masking/secret_names.h"
#include "analysis/masking/secret_programs.h"
#include "analysis/masking/secret_shapes.h"
#include "analysis/masking/secret_value.h"

namespace gable {
namespace {

bool is_interpreter(std::string_view word) {
  static constexpr std::string_view kInterpreters =
      "python pypy ipython bash sh zsh dash ksh fish csh tcsh ash busybox perl ruby node nodejs "
      "deno bun php lua R Rscript julia pwsh cmd su runuser psql mysql sqlite duckdb sqlcmd "
      "expect osascript flock powershell";
  word = word.substr(word.find_last_of("/ ") + 1);
  while (!word.empty() && (is_digit(word.back()) || word.back() == '.')) word.remove_suffix(1);
  return lists(kInterpreters, word);
}

// These hand words on to a shell.
bool is_runner(std::string_view word) {
  static constexpr std::string_view kRunners =
      "ssh tmux screen watch parallel pdsh clush script hyperfine mosh eval";
  return lists(kRunners, word.substr(word.find_last_of('/') + 1));
}

bool is_long_option_of_code(std::string_view word) {
  static constexpr std::string_view kOptions =
      "--wrap --command --eval --exec -exec --execute -Command --init-command --expression";
  return lists(kOptions, word);
}

// -c, -lc, -ne, -e, /c
bool is_option_of_code(std::string_view word) {
  return word.size() >= 2 && word.size() <= 6 && (word[0] == '-' || word[0] == '/') &&
         is_any(word.back(), "ceEprQqC") && std::all_of(word.begin() + 1, word.end(), [](char c) {
           return is_lower(c) || is_upper(c);
         });
}

// JSON, YAML, a header, or with "=" among the signs NAME=VALUE.
bool begins_as_data(std::string_view text, std::string_view signs) {
  const ValueFinder find(text);
  const auto i = find.skip_spaces(0);
  const char first = find.get(i);
  if (first == '{' || first == '[' || first == '<' || (first == '-' && find.get(i + 1) == ' '))
    return true;
  const auto name = find.skip_quotes(i);
  const auto end = find.end_of_name(name);
  const auto sign = find.skip_quotes(end);
  return end > name && sign < text.size() && signs.find(text[sign]) != signs.npos;
}

// "Once upon a time"
bool begins_as_prose(std::string_view text) {
  const auto end = ValueFinder(text).end_of_name(0);
  return end < text.size() && is_upper(text[0]) && (is_space(text[end]) || text[end] == ',') &&
         std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(end), is_lower);
}

// It has what only code has: a call with a quotation, "; ", " | ", "&&", "$(", " = ", " --option".
bool looks_like_code(std::string_view text) {
  bool called = false, spaces = false;
  const bool data = begins_as_data(text, "=:") || begins_as_prose(text);
  if (text.substr(0, 7) == "import ") return true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto has = [&](std::string_view sign) { return text.compare(i, sign.size(), sign) == 0; };
    const char before = i > 0 ? text[i - 1] : ' ';
    switch (text[i]) {
      case '&':
        if (has("&& ")) return true;
        break;
      case '|':
        if (has("||") || (before == ' ' && has("| "))) return true;
        break;
      case '$':
        if (has("$(")) return true;
        break;
      case '<':
        if (has("<<") || has("<(")) return true;
        break;
      case '(':
        called = called || is_name_character(before);
        break;
      case '"':
      case '\'':
        if (called) return true;
        break;
      case ';':
        if (!data && (has("; "))) return true;
        break;
      case '\n':
        if (!data) return true;
        break;
      case ' ':
        spaces = true;
        if (!data && (has(" = ") || (has(" -") && i + 2 < text.size() && text[i + 2] != ' ')))
          return true;
        break;
      default:
        break;
    }
  }
  return spaces && SecretPrograms::begins(text);
}

class Code {
 public:
  explicit Code(std::string_view text) : text_(text), find_(text) {
    quoted_ = text.find_first_of("\"'`") != text.npos;
    variables_ = text.find('$') != text.npos;
    here_ = text.find("<<") != text.npos;
    feeds_ = here_ || text.find("<(") != text.npos || text.find("echo ") != text.npos ||
             text.find("printf ") != text.npos;
  }

  bool gives_secret() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      if (secret_shape(text_, at_) > 0) return true;
      if (text_.compare(at_, 3, "://") == 0 && login_in_address(text_, at_) > 0) return true;
      const char c = text_[at_];
      const char before = at_ > 0 ? text_[at_ - 1] : ' ';
      if (separates(c)) {
        const bool continued = c == '\n' && before == '\\';
        if (!continued && (c == ';' || c == '|' || c == '\n')) programs_.end_command();
        redirected_ = c == '>' || (redirected_ && is_space(c));
        continue;
      }
      if (separates(before) && word()) return true;
      if (is_name_character(c) && !is_name_character(before) && name()) return true;
    }
    return false;
  }

 private:
  static bool separates(char c) {
    return is_space(c) || is_quote(c) || is_any(c, ",;|&()[]{}<>\\");
  }

  [[nodiscard]] std::string_view word_at(std::size_t i) const {
    const auto most = std::min(text_.size(), i + kLongestWord);
    auto end = i;
    while (end < most && !separates(text_[end])) ++end;
    return text_.substr(i, end - i);
  }

  // The text in quotes that begins here.
  [[nodiscard]] std::string_view quotation_at(std::size_t i) const {
    const auto text = text_.substr(i, kLongestWord);
    return text.substr(0, text.find_first_of("\"'`"));
  }

  // The word that begins here, for what programs take.
  bool word() {
    const auto word = word_at(at_);
    const bool was_redirected = redirected_;
    in_target_ = was_redirected || tee_;
    handed_on_ = option_env_;
    option_env_ = word == "-e" || word == "--env";
    tee_ = word == "tee";
    redirected_ = false;
    if (is_quote(at_ > 0 ? text_[at_ - 1] : ' ') && looks_issued(word)) return true;
    const auto behind = at_ + word.size();
    const auto answer = programs_.see(word);
    switch (answer.takes) {
      case SecretPrograms::Takes::nothing:
        break;
      case SecretPrograms::Takes::next:
        if (gives_value(behind)) return true;
        break;
      case SecretPrograms::Takes::password_next:
        if (gives_value(behind) && is_password(word_at(find_.skip_spaces(behind)))) return true;
        break;
      case SecretPrograms::Takes::word:
        if (gives_value(at_)) return true;
        break;
      case SecretPrograms::Takes::login_rest:
      case SecretPrograms::Takes::login_next:
        if (logs_in_with(at_ + answer.option)) return true;
        break;
      case SecretPrograms::Takes::rest:
      case SecretPrograms::Takes::after_equal:
        if (gives_value(at_ + answer.option)) return true;
        break;
      case SecretPrograms::Takes::input:
        return true;
    }
    if (word == "-u" || word == "--user" || word == "--proxy-user") return logs_in_with(behind);
    return false;
  }

  // user:password, user,password
  [[nodiscard]] bool logs_in_with(std::size_t i) const {
    i = find_.skip_quotes(find_.skip_spaces(i));
    const auto word = word_at(i);
    return is_login(word) || (!word.empty() && find_.get(i + word.size()) == ',');
  }

  // What stands at `i` is something, and no variable of the shell that says itself that it
  // is a secret: "$HF_TOKEN", "${HF_TOKEN}". What it is set to is found where it is set.
  [[nodiscard]] bool gives_value(std::size_t i) const {
    i = find_.skip_spaces(i);
    while (is_quote(find_.get(i)) || find_.get(i) == ',' || find_.get(i) == '=') ++i;
    if (i >= text_.size() || is_any(text_[i], ";|&)")) return false;
    if (find_.get(i) != '$') return true;
    const bool braces = find_.get(i + 1) == '{';
    auto end = i + (braces ? 2 : 1);
    const auto begin = end;
    while (is_alnum(find_.get(end)) || find_.get(end) == '_') ++end;
    if (end == begin || naming(text_.substr(begin, end - begin)) != Naming::clearly) return true;
    if (braces && find_.get(end++) != '}') return true;
    return end < text_.size() && !separates(text_[end]);
  }

  bool name() {
    const auto end = find_.end_of_name(at_);
    const auto name = text_.substr(at_, end - at_);
    if ((name == "Bearer" || name == "bearer" || name == "Basic") && is_space(find_.get(end)))
      return gives_value(end);
    switch (naming_in_code(name)) {
      case Naming::nothing:
        break;
      case Naming::about:
        if (names_input(name) || here_) return true;
        return text_.compare(std::min(end + 1, text_.size()), 2, "<(") == 0;
      case Naming::weakly:
        if (weakly_named(name, end)) return true;
        break;
      case Naming::clearly:
        if (clearly_named(name, end)) return true;
        break;
    }
    if (names_connection(name) && find_.get(end) == '(') return quoted_;
    return names_login(name) && logs_in(end);
  }

  // Behind the sign after a name, its quotes, brackets and the letter before a text: b"X", ["X"].
  struct Value {
    std::size_t at = 0;
    char sign = '\0';     // '\0': none
    bool quoted = false;  // it is a text
  };
  [[nodiscard]] Value value_behind(std::size_t end) const {
    Value value;
    auto i = end;
    while (is_any(find_.get(i), "\"'`\\]}") && i < text_.size()) ++i;
    i = find_.skip_spaces(i);
    if (i < text_.size() && is_any(text_[i], "=:,(<!") && text_.compare(i, 3, "://") != 0) {
      value.sign = text_[i];
      while (i < text_.size() && (is_space(text_[i]) || is_any(text_[i], "=:,(<>![{\\"))) ++i;
    }
    const bool letter = find_.get(i) != '\0' && is_any(find_.get(i), "bfru");
    if (letter && is_quote(find_.get(i + 1))) ++i;
    value.quoted = is_quote(find_.get(i));
    value.at = value.quoted ? find_.skip_quotes(i) : i;
    return value;
  }

  // "key", "tokens" and "pass" are words like others where no text is given to them.
  [[nodiscard]] bool weakly_named(std::string_view name, std::size_t end) const {
    const auto value = value_behind(end);
    const auto word = value.quoted ? quotation_at(value.at) : word_at(value.at);
    if (word.empty() || is_harmless(name, word)) return false;
    if (value.sign != '\0' && (value.quoted || looks_random(word))) return gives_value(value.at);
    const bool variable = value.sign == '=' && std::none_of(name.begin(), name.end(), is_lower);
    const bool option = name[0] == '-' && name.size() > 2;
    return (variable || option) && !is_number(word) && gives_value(value.at);
  }

  [[nodiscard]] bool clearly_named(std::string_view name, std::size_t end) const {
    const auto value = value_behind(end);
    const auto word = word_at(value.at);
    if (value.sign == '\0') {
      if (is_part_of_path(name, end)) return in_target_ || here_;
      if (name[0] == '-') return gives_value(end);
      if (is_read() || handed_on_) return false;
      if (quoted_) return true;
      // "for token in text" gives it nothing.
      const bool joined =
          lists("in is not for and or if else of from as to with", word) && !variables_;
      return !joined && find_.get(end) == ' ' && gives_value(value.at);
    }
    if (value.sign == ':' && is_read() && text_[at_ - 1] == '$') return false;  // $PASS:/mnt
    if (value.sign == '=' || value.sign == ':') {
      // {"token": 5}
      const bool of_text = !value.quoted && word.size() <= 6 && name.find("oken") != name.npos;
      if (is_harmless(name, word) || (of_text && is_number(word))) return false;
      return gives_value(value.at) || (word.empty() && quoted_);
    }
    return quoted_ || value.sign == '<';
  }

  // "$NAME", "${NAME"
  [[nodiscard]] bool is_read() const {
    return at_ > 0 && (text_[at_ - 1] == '$' || text_[at_ - 1] == '{');
  }

  [[nodiscard]] bool is_part_of_path(std::string_view name, std::size_t end) const {
    static constexpr std::string_view kFiles =
        "py txt json jsonl yaml yml sh bin npy csv parquet toml log model";
    const auto dot = name.rfind('.');
    return find_.get(end) == '/' || (at_ > 0 && text_[at_ - 1] == '/') ||
           (dot != name.npos && lists(kFiles, name.substr(dot + 1)));
  }

  // login("X"), docker login host
  [[nodiscard]] bool logs_in(std::size_t end) const {
    auto i = find_.skip_spaces(end);
    if (find_.get(i) == '(') return find_.get(find_.skip_spaces(i + 1)) != ')';
    return feeds_ || (i > end && find_.get(i) != '-' && gives_value(i));
  }

  static constexpr std::size_t kLongestWord = 256;  // looked at

  std::string_view text_;
  const ValueFinder find_;
  SecretPrograms programs_;
  std::size_t at_ = 0;
  bool quoted_ = false;      // there is a quotation somewhere
  bool variables_ = false;   // those of a shell
  bool here_ = false;        // a command reads what stands in the text: "<<", "<<<"
  bool feeds_ = false;       // a command is given what it reads
  bool redirected_ = false;  // ">" stands before
  bool in_target_ = false;   // the word is a file that is written to
  bool tee_ = false;         // the word before
  bool option_env_ = false;  // -e stands before
  bool handed_on_ = false;   // the word is a variable that docker run -e hands on
};

}  // namespace

void CodePlaces::see(std::string_view argument) {
  behind_option_ =
      is_long_option_of_code(argument) || (interpreter_ && is_option_of_code(argument));
  interpreter_ = interpreter_ || is_interpreter(argument);
  runner_ = runner_ || is_runner(argument);
}

CodePlaces::Answer CodePlaces::is_code(std::string_view argument) const {
  if (argument.find_first_of(" \t\n;|&(\"'") == argument.npos) return Answer::no;
  if (behind_option_ && !begins_as_data(argument, ":")) return Answer::yes;
  return behind_option_ || runner_ || looks_like_code(argument) ? Answer::perhaps : Answer::no;
}

bool code_gives_secret(std::string_view code) { return Code(code).gives_secret(); }

}  // namespace gable
