// SPDX-License-Identifier: Apache-2.0
// What a name says of the value that follows it. Linear in the untrusted text, without recursion.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

// Whether the space-separated `words` include this one.
[[nodiscard]] bool lists(std::string_view words, std::string_view word);

// Whether a character can be part of a name: letters, digits and "_-.+".
[[nodiscard]] bool is_name_character(char c);

enum class Naming : std::uint8_t {
  nothing,  // "--lr", "--tokenizer", "--sort-key"
  about,    // "--token-file", "--auth-type": about a secret, but its value is not one
  weakly,   // "--key", "tokens": a plain word or a number is no secret
  clearly,  // "--openai-apiKey", "HF_TOKEN", "db.password"
};
[[nodiscard]] Naming naming(std::string_view name);
// The same in code, where "pass", "pat" and "sig" are ordinary words.
[[nodiscard]] Naming naming_in_code(std::string_view name);
// Whether the name names a secret, weakly or clearly.
[[nodiscard]] bool names_secret(std::string_view name);
// Whether it does so even without a sign after it, as in "config set password X".
[[nodiscard]] bool names_secret_alone(std::string_view name);
// Whether several values may follow as separate words: "--api-keys A B".
[[nodiscard]] bool names_several(std::string_view name);
// Whether the secret is in the command's input: "--password-stdin", "--passphrase-fd".
[[nodiscard]] bool names_input(std::string_view name);
// Whether the name is a login call: "login", "wandb.login", "authenticate".
[[nodiscard]] bool names_login(std::string_view name);
// Whether a call's unnamed arguments may be secrets: "psycopg2.connect", "Fernet".
[[nodiscard]] bool names_connection(std::string_view name);
// Whether the value of this name ("value", "--body") is a secret if a secret's name came before, as
// in "name: HF_TOKEN, value: X".
[[nodiscard]] bool names_value_of_named(std::string_view name);
// Whether the word is a verb before the value: "secret set", "secret create".
[[nodiscard]] bool is_verb(std::string_view word);
// Whether the value is no secret despite the name: "--max-tokens 512", "--key val_loss", "--token
// None".
[[nodiscard]] bool is_harmless(std::string_view name, std::string_view value);
// Whether the word after "-p" is a password: no number, port, path or option.
[[nodiscard]] bool is_password(std::string_view word);
// Whether a secret follows the word in the same header: "Bearer", "Basic".
[[nodiscard]] bool is_scheme(std::string_view word);

[[nodiscard]] bool is_number(std::string_view word);  // digits, also "0.1", "5e9", "8k"
// Whether letters and digits are mixed as if at random: "q7RzVx3PmL0dWk", "3f9a1c7e5b2d4860".
[[nodiscard]] bool looks_random(std::string_view word);
// The same, except for hexadecimal digits, which are often a commit's name.
[[nodiscard]] bool looks_issued(std::string_view word);

}  // namespace gable
