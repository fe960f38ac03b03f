// SPDX-License-Identifier: Apache-2.0
// What a name says of the value that follows it. Linear in the text, and no recursion, as the text
// is a stranger's.
#pragma once

#include <string_view>

namespace gable {

// A character of a name: letters, digits and "_-.+".
[[nodiscard]] bool is_name_character(char c);

// "--openai-apiKey", "HF_TOKEN", "db.password"; not "--tokenizer" or "--primary-key-columns".
[[nodiscard]] bool names_secret(std::string_view name);
// The name also says so without a sign after it, as in "config set password X".
[[nodiscard]] bool names_secret_alone(std::string_view name);
// Several values may follow, each a word of its own: "--api-keys A B".
[[nodiscard]] bool names_several(std::string_view name);
// "value", "--body": its value is a secret where a secret's name stood before, as in
// "name: HF_TOKEN, value: X".
[[nodiscard]] bool names_value_of_named(std::string_view name);
// "secret set", "secret create": no value yet.
[[nodiscard]] bool is_verb(std::string_view word);
// The value of such a name is a plain count, as in "--max-tokens 512".
[[nodiscard]] bool is_count(std::string_view name, std::string_view value);
// A word after which a secret follows in the same header: "Bearer", "Basic".
[[nodiscard]] bool is_scheme(std::string_view word);

}  // namespace gable
