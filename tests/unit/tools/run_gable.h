// SPDX-License-Identifier: Apache-2.0
// Runs the built program through sh and keeps what it printed.
#pragma once

#include <string>

namespace gable::tests {

struct Ran {
  int code = 0;
  std::string out, err;
};

// `words` as one would type them after `gable`; `before` stands in front of it ("NAME=value", "cd x
// &&").
Ran run_gable(const std::string& words, const std::string& before = {});
// The same with any command line.
Ran run_shell(const std::string& line);

std::string read_text(const std::string& path);

// A new empty folder, removed at the end of the program that made it.
std::string temporary_folder();

}  // namespace gable::tests
