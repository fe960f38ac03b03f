// SPDX-License-Identifier: Apache-2.0
// What a name says of the value that follows it. Linear in the text, and no recursion, as the text
// is a stranger's.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

// Whether `words`, apart by spaces, have this one.
[[nodiscard]] bool lists(std::string_view words, std::string_view word);

// A character of a name: letters, digits and "_-.+".
[[nodiscard]] bool is_name_character(char c);

enum class Naming : std::uint8_t {
  nothing,  // "--lr", "--tokenizer", "--sort-key"
  about,    // "--token-file", "--auth-type": about a secret, and none itself
  weakly,   // "--key", "tokens": a plain word or a number is none
  clearly,  // "--openai-apiKey", "HF_TOKEN", "db.password"
};
[[nodiscard]] Naming naming(std::string_view name);
// In code, where "pass", "pat" and "sig" are words like others.
[[nodiscard]] Naming naming_in_code(std::string_view name);
// Weakly or clearly.
[[nodiscard]] bool names_secret(std::string_view name);
// The name also says so without a sign after it, as in "config set password X".
[[nodiscard]] bool names_secret_alone(std::string_view name);
// Several values may follow, each a word of its own: "--api-keys A B".
[[nodiscard]] bool names_several(std::string_view name);
// "--password-stdin", "--passphrase-fd": the secret is in what the command reads.
[[nodiscard]] bool names_input(std::string_view name);
// "login", "wandb.login", "authenticate"
[[nodiscard]] bool names_login(std::string_view name);
// "psycopg2.connect", "Fernet": what is given to such a call may be a secret without a name.
[[nodiscard]] bool names_connection(std::string_view name);
// "value", "--body": its value is a secret where a secret's name stood before, as in
// "name: HF_TOKEN, value: X".
[[nodiscard]] bool names_value_of_named(std::string_view name);
// "secret set", "secret create": no value yet.
[[nodiscard]] bool is_verb(std::string_view word);
// The value of such a name is none for all that: "--max-tokens 512", "--key val_loss", "--token
// None".
[[nodiscard]] bool is_harmless(std::string_view name, std::string_view value);
// Behind "-p": no number, port, path or option.
[[nodiscard]] bool is_password(std::string_view word);
// A word after which a secret follows in the same header: "Bearer", "Basic".
[[nodiscard]] bool is_scheme(std::string_view word);

[[nodiscard]] bool is_number(std::string_view word);  // digits, also "0.1", "5e9", "8k"
// Letters and digits mixed as nobody writes them: "q7RzVx3PmL0dWk", "3f9a1c7e5b2d4860".
[[nodiscard]] bool looks_random(std::string_view word);
// The same, but hexadecimal digits, as often the name of a commit, do not count.
[[nodiscard]] bool looks_issued(std::string_view word);

}  // namespace gable
