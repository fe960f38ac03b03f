// SPDX-License-Identifier: Apache-2.0
// What a secret looks like: the names that are given to secrets, and the shapes that services give
// to theirs. Pure code; linear in the text, and no recursion, as the text is a stranger's.
#pragma once

#include <cstddef>
#include <string_view>

namespace gable {

// A character of a name: letters, digits and "_-.+".
[[nodiscard]] bool is_name_character(char c);

// "--openai-apiKey", "HF_TOKEN", "db.password"; not "--tokenizer" or "--primary-key-columns".
[[nodiscard]] bool names_secret(std::string_view name);
// The name also says so without a sign after it, as in "config set password X".
[[nodiscard]] bool names_secret_alone(std::string_view name);
// The value of such a name is a plain count, as in "--max-tokens 512".
[[nodiscard]] bool is_count(std::string_view name, std::string_view value);
// A word after which a secret follows in the same header: "Bearer", "Basic".
[[nodiscard]] bool is_scheme(std::string_view word);

// How many characters of `text` from `at` on have the shape of a service's secret; 0: none.
[[nodiscard]] std::size_t secret_shape(std::string_view text, std::size_t at);

}  // namespace gable
