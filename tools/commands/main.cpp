// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>

#include "tools/commands/command.h"

int main(int argc, char** argv) {
  try {
    return gable::run_gable({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    gable::say("There is not enough memory for this.");
  } catch (const std::exception& problem) {
    gable::say(problem.what());
  }
  return gable::kExitWrongUse;
}
