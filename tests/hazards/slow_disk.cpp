// SPDX-License-Identifier: Apache-2.0
// To be preloaded: a disk that takes longer than a program has that was told to end.
//   SLOW_SYNC_S   seconds until a file is on it
//   SLOW_OPEN_S   seconds until there is a new file without a name
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

namespace {

unsigned seconds(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : static_cast<unsigned>(std::atoi(text));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int fsync(int) {
  sleep(seconds("SLOW_SYNC_S"));
  return 0;
}

extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if ((flags & O_TMPFILE) == O_TMPFILE) sleep(seconds("SLOW_OPEN_S"));
  using Open = int (*)(const char*, int, ...);
  return reinterpret_cast<Open>(dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
