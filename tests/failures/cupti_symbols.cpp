// SPDX-License-Identifier: Apache-2.0
// Prints every symbol of CUPTI that the library resolves, one a line: the rows of the failure
// matrix. A symbol that is new in collector/cupti/cupti_api.h is in it by itself.
#include <cstdio>

#include "collector/cupti/cupti_api.h"

int main() {
#define GABLE_PRINT(name) std::puts(#name);
  GABLE_CUPTI_TRACING(GABLE_PRINT)
  GABLE_CUPTI_PROFILING(GABLE_PRINT)
  GABLE_CUPTI_OPTIONAL(GABLE_PRINT)
#undef GABLE_PRINT
}
