// SPDX-License-Identifier: Apache-2.0
// A second shared object that uses NVTX: it has function tables of its own and initialises them
// itself.
#include <nvtx3/nvToolsExt.h>

extern "C" void second_library_range(void (*body)()) {
  nvtxRangePushA("second library");
  body();
  nvtxRangePop();
}
