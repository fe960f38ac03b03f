// SPDX-License-Identifier: Apache-2.0
// To be preloaded: a disk that takes longer than a program has that was told to end.
#include <unistd.h>

extern "C" __attribute__((visibility("default"))) int fsync(int) {
  sleep(20);
  return 0;
}
