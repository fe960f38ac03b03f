// SPDX-License-Identifier: Apache-2.0
// Stands for a libcuda or a CUPTI that ends the process that opens it, with the signal
// GABLE_TEST_SIGNAL.
#include <csignal>
#include <cstdlib>

namespace {

__attribute__((constructor)) void end_this_process() {
  const char* number = std::getenv("GABLE_TEST_SIGNAL");
  if (number != nullptr) std::raise(std::atoi(number));
}

}  // namespace
