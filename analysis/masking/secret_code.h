// SPDX-License-Identifier: Apache-2.0
// Arguments that are code: a program's text or a shell's command line. Code can say a value in
// endless ways, so the question is whether it gives a secret at all, and never where the secret is.
// Linear in the text, and no recursion, as the text is a stranger's.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

// Tells of a command's arguments which are code. Fed with them one by one.
class CodePlaces {
 public:
  enum class Answer : std::uint8_t {
    no,
    perhaps,  // by some signs; it may be data as well
    yes,      // it stands where code stands
  };
  // Of the next argument, or what stands behind "--wrap=" in it.
  [[nodiscard]] Answer is_code(std::string_view argument) const;
  void see(std::string_view argument);

 private:
  bool interpreter_ = false, runner_ = false;  // bash, ssh and their like stood before
  bool behind_option_ = false;                 // bash -c, perl -e, sbatch --wrap
};

// Something in the code names a secret or hands one over. A variable of the shell is none.
[[nodiscard]] bool code_gives_secret(std::string_view code);

}  // namespace gable
