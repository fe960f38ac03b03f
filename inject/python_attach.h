// SPDX-License-Identifier: Apache-2.0
// How the Python side gets into a Python program that nobody prepared for it.
#pragma once

#include <string>

#include "collector/runtime/runtime.h"

namespace gable {

// The full path of this very library; empty where the loader does not tell.
[[nodiscard]] std::string own_library();

// Python 3 is among the objects that the program was started with.
[[nodiscard]] bool python_is_loaded();

// Python is loaded and does not run yet. When it starts, it handles SIGINT only if nobody does, and
// signal.getsignal and signal.signal say None of a signal that somebody else handles, which
// signal.signal does not take back.
[[nodiscard]] bool python_is_to_start();

// lib/python beside the library, or empty where there is none.
[[nodiscard]] std::string python_side_of(const std::string& library);

// Has the Python side start on Python's main thread, as soon as that runs Python code; nothing
// waits for it. Does nothing where the Python side is there already. Where it cannot start, a note
// in the report says why and what to do.
void attach_python_side(Runtime& rt);

}  // namespace gable
