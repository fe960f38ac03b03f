// SPDX-License-Identifier: Apache-2.0
// The Python modules beside the program, for commands that are written in Python.
#pragma once

#include <string>

namespace gable {

// Puts them in front of PYTHONPATH of what this process starts next. Throws WrongUse if a file of
// them is missing; `so` says what cannot be done then: "no model can be built".
void show_python_side(const std::string& so);

}  // namespace gable
