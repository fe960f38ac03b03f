// SPDX-License-Identifier: Apache-2.0
// Runs `gable doctor`, and reads its tables.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/tools/run_gable.h"

namespace gable::tests {

std::vector<std::string> lines_of(const std::string& text);

// The rows of a part, with single spaces, continuation lines joined: "driver ready found".
std::string row_of(const std::string& out, const std::string& part);

// No line is wider than a terminal; a single path that is longer stays whole.
void expect_narrow(const std::string& out);

// The device line of the machine below.
extern const char* const kPlaybackDevice;

// `doctor --playback` on a machine with one GPU and what `lines` add.
Ran doctor_on(const std::string& lines, const std::string& before = {},
              const std::string& more = {}, const std::string& device = kPlaybackDevice);

}  // namespace gable::tests
