/* SPDX-License-Identifier: Apache-2.0
 * A program that opens Python for itself: embedded_python LIBPYTHON CODE. CUDA starts in between,
 * with a further word before Python does, and CODE runs afterwards. */
#include <dlfcn.h>

int main(int count, char** words) {
  void* python = count >= 3 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : 0;
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void (*initialize)(void);
  int (*run)(const char*);
  int (*start_cuda)(unsigned);
  if (!python || !cuda) return 2;
  *(void**)&initialize = dlsym(python, "Py_Initialize");
  *(void**)&run = dlsym(python, "PyRun_SimpleString");
  *(void**)&start_cuda = dlsym(cuda, "cuInit");
  if (count > 3) start_cuda(0);
  initialize();
  start_cuda(0);
  return run(words[2]);
}
