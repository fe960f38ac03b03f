// SPDX-License-Identifier: Apache-2.0
// Arguments that are code: a program's text or a shell's command line. Code can express a value in
// countless ways, so only whether it contains a secret is decided, not where. Linear in the
// untrusted text, without recursion.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

// Tells which of a command's arguments are code; they are added one by one.
class CodePlaces {
 public:
  enum class Answer : std::uint8_t {
    no,
    perhaps,  // it looks like code but may be data
    yes,      // its position says that it is code
  };
  // Whether the next argument, or its part after "--wrap=", is code.
  [[nodiscard]] Answer is_code(std::string_view argument) const;
  void see(std::string_view argument);

 private:
  bool interpreter_ = false, runner_ = false;  // bash, ssh or the like came before
  bool behind_option_ = false;                 // bash -c, perl -e, sbatch --wrap
};

// Whether something in the code names or passes a secret. A shell variable is not one.
[[nodiscard]] bool code_gives_secret(std::string_view code);

}  // namespace gable
