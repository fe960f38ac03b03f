// SPDX-License-Identifier: Apache-2.0
// What programs take without a name that says so: sshpass -p X, wandb login X, vault kv put a b=X.
// Fed with the words of a command, in one argument or over several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gable {

class SecretPrograms {
 public:
  enum class Takes : std::uint8_t {
    nothing,
    word,         // the word is the secret
    rest,         // what stands behind the option's letters: -pX
    next,         // the next word
    login_rest,   // -uuser:X
    login_next,   // -u user:X
    after_equal,  // key=X
  };
  struct Answer {
    Takes takes = Takes::nothing;
    std::size_t option = 0;  // how many characters the option has
  };

  // The next part that has the characters of names alone. `begins`: a word begins with it.
  // `is_program`: it is the whole word, or the last part of a path.
  [[nodiscard]] Answer see(std::string_view part, bool begins, bool is_program);
  // ";", "|" and their like.
  void end_command();

 private:
  struct Rule;
  static const Rule* rule_of(std::string_view program, const Rule* after);

  std::string_view program_, wanted_;  // of the table: the program, and its word that was seen last
  std::size_t words_after_ = 0;        // that word, options not counted
};

}  // namespace gable
