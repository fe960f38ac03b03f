// SPDX-License-Identifier: Apache-2.0
#include "analysis/masking/secret_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/base/ascii.h"
#include "analysis/masking/secret_value.h"

namespace gable {
namespace {

// Whether the word has one of these, apart by spaces, within it.
bool has_one_of(std::string_view word, std::string_view parts) {
  for (std::size_t begin = 0; begin < parts.size();) {
    const auto end = std::min(parts.find(' ', begin), parts.size());
    if (word.find(parts.substr(begin, end - begin)) != word.npos) return true;
    begin = end + 1;
  }
  return false;
}

using Words = std::vector<std::string_view>;

// A name's words in lower case; "apiKey" is two words, "APIKEY" is one.
class Name {
 public:
  explicit Name(std::string_view name) : lower_(name) {
    std::size_t begin = 0;  // of the word
    const auto end_word = [&](std::size_t end) {
      if (end > begin) words_.push_back(std::string_view(lower_).substr(begin, end - begin));
      begin = end;
    };
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char c = name[i];
      if (!is_alnum(c) || (is_upper(c) && i > 0 && is_lower(name[i - 1]))) end_word(i);
      if (!is_alnum(c)) begin = i + 1;
      if (is_upper(c)) lower_[i] = static_cast<char>(c - 'A' + 'a');
    }
    end_word(name.size());
  }
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;

  [[nodiscard]] const Words& words() const { return words_; }

 private:
  std::string lower_;
  Words words_;
};

// Words about text models, videos and devices that only look alike.
constexpr std::string_view kHarmless =
    "tokeniz tokenis keyframe monkey keyboard keyword turkey keypoint hotkey secretar "
    "cookiecutter tiktoken";
constexpr std::string_view kWithin =
    "token secret assword passwd passphrase passcode apikey credential authorization pgpass netrc "
    "cookie signature securestring";
constexpr std::string_view kWhole =
    "passin passout pwd pass auth oauth jwt sig pat otp dsn sas mfa totp pw passw upw opw bearer "
    "mnemonic requirepass sessionid storepass keypass creds identified psk";
// Only at the end of a name: "--pin-memory" and "--license-file" name no secret.
constexpr std::string_view kLast = "pin license licence passwort userpass";
// In code these are words like others.
constexpr std::string_view kOfCode = "pwd pass pat sig signature pin license licence sas";
// "access code", "from literal": what the word before makes of one that is harmless alone.
struct Pair {
  std::string_view first, second;
};
constexpr std::array kPairs{
    Pair{"session", "id"},      Pair{"connection", "string"}, Pair{"access", "code"},
    Pair{"auth", "code"},       Pair{"security", "code"},     Pair{"verification", "code"},
    Pair{"pairing", "code"},    Pair{"conn", "str"},          Pair{"activation", "code"},
    Pair{"license", "code"},    Pair{"webhook", "url"},       Pair{"from", "literal"},
    Pair{"recovery", "phrase"}, Pair{"seed", "phrase"},       Pair{"pass", "code"},
    Pair{"secure", "string"},   Pair{"string", "data"},       Pair{"string", "value"},
    Pair{"art", "api"},
};
// Words after a secret's name that tell how it is handled, so that the value is no secret.
constexpr std::string_view kAbout =
    "rounds k file path dir type types mode method name names env stdin fd ttl lifetime timeout "
    "scheme cutter provider len server domain plugin format enabled authentication rate def "
    "column columns";
// Keys that open something, in one word and by the word before. Those of others are often names.
constexpr std::string_view kSecretKeys =
    "apikey apikeys secretkey accesskey privatekey accountkey authkey sshkey masterkey passkey";
constexpr std::string_view kBeforeKey =
    "admin api access secret private account auth encryption decryption master security signing "
    "session license recovery ssh gpg crypt host shared service deploy subscription";
// What may stand after "key" without making it something else.
constexpr std::string_view kAfterKey = "id b64 base64 hex pem raw data value string json";
// What stands first in the name of an option that says how, and takes no secret.
constexpr std::string_view kHow = "ask prompt no disable skip without";
// The tokens of text models, by the word before and by the word after.
constexpr std::string_view kOfTexts =
    "patch pad bos eos unk sep cls mask stop start image end next last per input text video "
    "special audio vision visual padding first class speech register decoder placeholder "
    "initializer delimiter trigger draft new prompt separator";
constexpr std::string_view kAfterToken =
    "embed separator init mean stddev ids dropout type embedding embeddings logits mask level "
    "count merging length classes per pruning drop classification pattern schedule lr map "
    "abstraction budget rate limit merge mixer parallel size position index list";
// "--api-tokens" are no words of a text.
constexpr std::string_view kWithSecret = "api access refresh hf bot";
// The keys of tables and data sets, by the word before.
constexpr std::string_view kOfTables =
    "sort primary foreign partition group dict index join batch metric state image img text label "
    "caption target input output video audio sample feature column data question answer dataset";

// "--pad-token-id", "--token-dropout", "--sort-key"
bool is_of_text_or_table(const Words& words, std::size_t i) {
  const auto& word = words[i];
  const bool token = word == "token" || word == "tokens";
  if (token && i + 1 < words.size() && lists(kAfterToken, words[i + 1])) return true;
  if (i == 0) return false;
  return (token && lists(kOfTexts, words[i - 1])) ||
         ((word == "key" || word == "keys") && lists(kOfTables, words[i - 1]));
}

bool is_key(std::string_view word) {
  return word == "keys" || (word.size() >= 3 && word.compare(word.size() - 3, 3, "key") == 0);
}

// Which of the words says it; how many there are: none.
std::size_t saying(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (has_one_of(word, kHarmless) || is_of_text_or_table(words, i)) continue;
    if (has_one_of(word, kWithin) || lists(kWhole, word)) return i;
    const auto rest = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (is_key(word) && std::all_of(rest, words.end(),
                                    [](std::string_view after) { return lists(kAfterKey, after); }))
      return i;
    // spark.hadoop.fs.azure.account.key.x.windows.net
    if (is_key(word) && i > 0 && lists("api access secret private account", words[i - 1])) return i;
    const bool last = i + 1 == words.size();
    if (last && lists(kLast, word)) return i;
    if (!last && word == "session" && is_key(words[i + 1])) return i;
    if (!last && std::any_of(kPairs.begin(), kPairs.end(), [&](const Pair& pair) {
          return word == pair.first && words[i + 1] == pair.second;
        }))
      return i;
  }
  return words.size();
}

Naming naming(const Words& words) {
  if (words.empty() || (words.size() == 1 && words[0].size() == 1)) return Naming::nothing;
  const auto i = saying(words);
  if (i == words.size()) return Naming::nothing;
  // "--auth-type none", "--token-file F".
  if (words.size() > 1 && (lists(kAbout, words.back()) || lists(kHow, words.front())))
    return Naming::about;
  const auto& word = words[i];
  const bool plural = word == "tokens" && (i == 0 || !lists(kWithSecret, words[i - 1]));
  // "--json-keys", "prompt_key", "key"
  const bool table =
      is_key(word) && !lists(kSecretKeys, word) && (i == 0 || !lists(kBeforeKey, words[i - 1]));
  return table || plural ? Naming::weakly : Naming::clearly;
}

// A definition: -Dpassword=X.
std::string_view without_define(std::string_view name) {
  return name.size() > 2 && name.substr(0, 2) == "-D" ? name.substr(2) : name;
}

}  // namespace

bool lists(std::string_view words, std::string_view word) {
  if (word.empty()) return false;
  for (auto at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

bool is_name_character(char c) {
  return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '+';
}

Naming naming(std::string_view name) { return naming(Name(without_define(name)).words()); }

Naming naming_in_code(std::string_view name) {
  const Name parts(without_define(name));
  const auto& words = parts.words();
  const auto kind = naming(words);
  return kind == Naming::clearly && lists(kOfCode, words[saying(words)]) ? Naming::weakly : kind;
}

bool names_secret(std::string_view name) {
  const auto kind = naming(name);
  return kind == Naming::weakly || kind == Naming::clearly;
}

bool names_secret_alone(std::string_view name) {
  if (name.find('.') != name.npos) return false;  // more likely a file
  const Name parts(name);
  const auto& words = parts.words();
  if (naming(words) != Naming::clearly) return false;
  const auto& last = words.back();
  static constexpr std::string_view kStrong =
      "token secret password passwd passphrase authorization pw";
  static constexpr std::string_view kOfKey = "api access private secret account";
  if (last == "apikey" || last == "requirepass") return true;
  if (has_one_of(last, kStrong)) return true;
  const auto key = words.size() - (last == "id" ? 2 : 1);  // access_key_id
  return words.size() > 1 && key > 0 && words[key] == "key" && lists(kOfKey, words[key - 1]);
}

bool names_several(std::string_view name) {
  const Name parts(name);
  const auto& words = parts.words();
  return !words.empty() && words.back().size() > 3 && words.back().back() == 's';
}

bool names_value_of_named(std::string_view name) {
  static constexpr std::string_view kValues = "value values body literal plaintext";
  const Name parts(name);
  const auto& words = parts.words();
  return words.size() == 1 && lists(kValues, words.back());
}

bool is_verb(std::string_view word) {
  static constexpr std::string_view kVerbs =
      "set create put generic docker-registry tls add get list delete describe update write new";
  return lists(kVerbs, word);
}

bool names_input(std::string_view name) {
  const Name parts(name);
  const auto& words = parts.words();
  return naming(words) == Naming::about && (words.back() == "stdin" || words.back() == "fd");
}

bool names_connection(std::string_view name) {
  const Name parts(name);
  const auto& words = parts.words();
  return std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return lists("connect reconnect fernet ftp pdo", word);
  });
}

bool names_login(std::string_view name) {
  static constexpr std::string_view kLogins = "login auth authenticate signin logon authtoken";
  const Name parts(name);
  const auto& words = parts.words();
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return lists(kLogins, word); });
}

bool is_number(std::string_view word) {
  return !word.empty() && word.size() <= 12 && (is_digit(word[0]) || word.size() > 1) &&
         word.find_first_not_of("0123456789._+-ekKMGBT") == word.npos &&
         word.find_first_of("0123456789") <= 1;
}

bool is_harmless(std::string_view name, std::string_view value) {
  static constexpr std::string_view kCounting =
      "tokens max min num n count per batched total len size length dim heads budget ids limit";
  if (lists("None none null True true False false yes no on off", value)) return true;
  const Name parts(name);
  const auto& words = parts.words();
  const bool weakly = naming(words) == Naming::weakly;
  if (is_number(value)) {
    const bool counts = std::any_of(words.begin(), words.end(),
                                    [](std::string_view word) { return lists(kCounting, word); });
    return counts || (weakly && value.size() <= 6);
  }
  return weakly && !value.empty() && value.size() <= 24 &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return is_lower(c) || is_any(c, "_-/.,;"); });
}

namespace {

struct Mixture {
  bool random = false, issued = false;
};

// Of one run of letters and digits.
Mixture mixture_of(std::string_view run) {
  std::size_t groups = 0;  // of digits
  bool upper = false, lower = false, hex = true;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const char c = run[i];
    upper = upper || is_upper(c);
    lower = lower || is_lower(c);
    hex = hex && (is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    if (is_digit(c) && (i == 0 || !is_digit(run[i - 1]))) ++groups;
  }
  Mixture mixture;
  mixture.issued = !hex && upper && lower && groups >= 2 && run.size() >= 10;
  mixture.random = mixture.issued || (run.size() >= 12 && groups >= 3);
  return mixture;
}

bool any_run(std::string_view word, bool Mixture::*which) {
  for (std::size_t i = 0; i < word.size();) {
    const auto begin = i;
    while (i < word.size() && is_alnum(word[i])) ++i;
    if (mixture_of(word.substr(begin, i - begin)).*which) return true;
    ++i;
  }
  return false;
}

}  // namespace

bool looks_random(std::string_view word) { return any_run(word, &Mixture::random); }
bool looks_issued(std::string_view word) { return any_run(word, &Mixture::issued); }

bool is_password(std::string_view word) {
  const bool port = word.size() <= 5 || word.find(':') != word.npos;
  const bool path = word.find('/') != word.npos && word.find_first_of("+=$!#") == word.npos;
  return !word.empty() && word[0] != '-' && !path && word.find(' ') == word.npos &&
         (!port || word.find_first_not_of("0123456789:.-") != word.npos);
}

bool is_scheme(std::string_view word) {
  static constexpr std::string_view kSchemes =
      "bearer basic token digest negotiate apikey key sharedkey";
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  return lists(kSchemes, lower);
}

}  // namespace gable
