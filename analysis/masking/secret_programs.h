// SPDX-License-Identifier: Apache-2.0
// What programs take without a name that says so: sshpass -p X, wandb login X, vault kv put a b=X.
// Fed with the words of a command, one by one.
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
    rest,           // what stands behind the option's letters: -pX
    next,           // the next word
    password_next,  // the same, but a number, such as a port, and a path are none
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
  // ";", "|" and their like.
  void end_command();
  // Whether such a program's name begins the text.
  [[nodiscard]] static bool begins(std::string_view text);

 private:
  Answer see_of_program(std::string_view word);

  std::bitset<128> rules_;             // of the table: those of the program
  std::string_view program_, wanted_;  // the program, and its word of the table that was seen last
  std::size_t words_after_ = 0;        // that word, options not counted
  std::string_view before_;
  bool asks_user_ = false, user_named_ = false;  // by -u, by the NAME behind it or "login"
};

}  // namespace gable
