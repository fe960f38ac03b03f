// SPDX-License-Identifier: Apache-2.0
// The Python modules beside the program, for commands that are written in Python.
#pragma once

#include <string>
#include <vector>

namespace gable {

// Puts them in front of PYTHONPATH of what this process starts next. Throws WrongUse if a file of
// them is missing; `so` says what cannot be done then: "no model can be built".
void show_python_side(const std::string& so);

// The Python of an installation by pip, which may be none of PATH's; elsewhere python3.
[[nodiscard]] std::string default_python();

// Runs one of them with these arguments, and returns its exit code. Throws WrongUse if it cannot be
// started.
int run_python_side(const std::string& python, const std::string& module,
                    const std::vector<std::string>& arguments, const std::string& so);

}  // namespace gable
