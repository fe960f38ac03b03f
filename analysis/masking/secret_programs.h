// SPDX-License-Identifier: Apache-2.0
// Secrets that programs take without a telling name: sshpass -p X, wandb login X, vault kv put a
// b=X. The words of a command are added one by one.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gable {

class SecretPrograms {
 public:
  enum class Takes : std::uint8_t {
    nothing,
    word,           // the word is the secret
    rest,           // the text after the option's letters: -pX
    next,           // the next word
    password_next,  // the same, unless it is a number, such as a port, or a path
    login_rest,     // -uuser:X
    login_next,     // -u user:X
    after_equal,    // key=X
    input,          // what the command reads: echo me:X | chpasswd
  };
  struct Answer {
    Takes takes = Takes::nothing;
    std::size_t option = 0;  // how many characters the option has
  };

  [[nodiscard]] Answer see(std::string_view word);
  // Ends a command at ";", "|" and the like.
  void end_command();
  // Whether the text begins with such a program's name.
  [[nodiscard]] static bool begins(std::string_view text);

 private:
  Answer see_of_program(std::string_view word);

  std::bitset<128> rules_;             // the program's rules in the table
  std::string_view program_, wanted_;  // the program, and the last word of its rules
  std::size_t words_after_ = 0;        // words since wanted_, without options
  std::string_view before_;
  bool asks_user_ = false, user_named_ = false;  // by -u, by its NAME or by "login"
};

}  // namespace gable
