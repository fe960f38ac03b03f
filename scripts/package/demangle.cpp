// SPDX-License-Identifier: Apache-2.0
// What GCC's C++ library offers and LLVM's does not: to demangle a name without the program's
// allocator, which may wait for anything (docs/locks.md, rule 4). portable.sh compiles this with
// LLVM's demangler, in which it has put glibc's own functions in the place of malloc, realloc and
// free; analysis/base/text.cpp calls it.
#include <cstddef>
#include <cstring>

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);
extern "C" void __libc_free(void*);

#define __cxa_demangle gable_demangle
#include "cxa_demangle.cpp"

extern "C" int __gcclibcxx_demangle_callback(const char* symbol,
                                             void (*add)(const char*, std::size_t, void*),
                                             void* out) {
  int status = 0;
  char* name = __cxxabiv1::gable_demangle(symbol, nullptr, nullptr, &status);
  if (name == nullptr) return 1;
  add(name, std::strlen(name), out);
  __libc_free(name);
  return 0;
}
