// SPDX-License-Identifier: Apache-2.0
// Stands before all other libraries of a program and checks what Gable calls, and where: each line
// in the file that LOCKS_BROKEN names is a rule of docs/locks.md that was broken. With
// LOCKS_CURIOUS_MALLOC it is an allocator that asks the loader for everything that Gable allocates.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);

namespace {

using FindSymbol = void* (*)(void*, const char*);

struct Calls {
  FindSymbol dlsym = nullptr;
  decltype(&::dlopen) dlopen = nullptr;
  decltype(&::dlclose) dlclose = nullptr;
  decltype(&::dladdr) dladdr = nullptr;
  decltype(&::dl_iterate_phdr) iterate = nullptr;
  decltype(&::getenv) getenv = nullptr;
  decltype(&::pthread_mutex_lock) lock = nullptr;
};

template <typename Function>
void find(Function& function, const char* name) {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    function = reinterpret_cast<Function>(dlvsym(RTLD_NEXT, name, version));
    if (function != nullptr) return;
  }
}

// No static of the function's: making one may take a lock, which is looked at here.
const Calls& calls() {
  static Calls found;
  static std::atomic<bool> complete{false};
  if (!complete.load(std::memory_order_acquire)) {  // several threads find the same
    Calls all;
    find(all.dlsym, "dlsym");
    find(all.dlopen, "dlopen");
    find(all.dlclose, "dlclose");
    find(all.dladdr, "dladdr");
    find(all.iterate, "dl_iterate_phdr");
    find(all.getenv, "getenv");
    find(all.lock, "pthread_mutex_lock");
    if (all.iterate == nullptr || all.getenv == nullptr || all.dladdr == nullptr) std::abort();
    found = all;
    complete.store(true, std::memory_order_release);
  }
  return found;
}

std::atomic<std::uintptr_t> g_begin{0}, g_end{0};  // of Gable's library
std::atomic<bool> g_opened{false};                 // by the program: from now on no launch may wait
std::atomic<bool> g_curious{false};
__attribute__((tls_model("initial-exec"))) thread_local int t_iterating = 0;
__attribute__((tls_model("initial-exec"))) thread_local bool t_checking = false;

int look_for_gable(dl_phdr_info* object, std::size_t, void*) {
  if (std::strstr(object->dlpi_name, "libgable_inject.so") == nullptr) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const auto begin = object->dlpi_addr + segment.p_vaddr;
    if (g_begin == 0) g_begin = begin;
    g_end = begin + segment.p_memsz;
  }
  return 1;
}

bool by_gable(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  return address >= g_begin.load() && address < g_end.load();
}

bool on_own_thread() {
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  return std::strncmp(name, "gable-", 6) == 0;
}

void broken(const char* call, const char* rule) {
  const char* path = calls().getenv("LOCKS_BROKEN");
  const int file =
      path != nullptr ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
  if (file < 0) return;
  char line[256];
  const int length = std::snprintf(line, sizeof line, "%s: %s\n", call, rule);
  (void)!write(file, line, static_cast<std::size_t>(length));
  close(file);
}

void check_loader_call(const char* call, const void* caller) {
  if (!by_gable(caller)) return;
  if (t_iterating > 0) broken(call, "within dl_iterate_phdr, whose lock is held");
  if (g_opened && !on_own_thread()) broken(call, "on a thread of the program, after the start");
}

// As allocators do that keep account of who allocates.
void look_around(const char* call, const void* caller) {
  if (t_iterating > 0) broken(call, "within dl_iterate_phdr, whose lock is held");
  if (!g_curious || t_checking || !by_gable(caller)) return;
  t_checking = true;
  broken(call, "by Gable, which waits for whatever the program's allocator waits for");
  Dl_info info{};
  calls().dladdr(caller, &info);
  void* frames[8];
  backtrace(frames, 8);
  t_checking = false;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void locks_check_from_here() {
  calls().iterate(look_for_gable, nullptr);
  g_curious = calls().getenv("LOCKS_CURIOUS_MALLOC") != nullptr;
  g_opened = true;
}

__attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
  check_loader_call("dlopen", __builtin_return_address(0));
  return calls().dlopen(file, mode);
}

__attribute__((visibility("default"))) int dlclose(void* object) {
  check_loader_call("dlclose", __builtin_return_address(0));
  return calls().dlclose(object);
}

__attribute__((visibility("default"))) void* dlsym(void* object, const char* name) {
  check_loader_call("dlsym", __builtin_return_address(0));
  return calls().dlsym(object, name);
}

__attribute__((visibility("default"))) int dladdr(const void* address, Dl_info* info) {
  check_loader_call("dladdr", __builtin_return_address(0));
  return calls().dladdr(address, info);
}

__attribute__((visibility("default"))) int dl_iterate_phdr(int (*use)(dl_phdr_info*, std::size_t,
                                                                      void*),
                                                           void* data) {
  const int mine = by_gable(__builtin_return_address(0)) ? 1 : 0;
  t_iterating += mine;
  const int answer = calls().iterate(use, data);
  t_iterating -= mine;
  return answer;
}

__attribute__((visibility("default"))) char* getenv(const char* name) {
  if (by_gable(__builtin_return_address(0)) && on_own_thread())
    broken("getenv", "on a thread of Gable's, which setenv does not know of");
  return calls().getenv(name);
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (t_iterating > 0) broken("pthread_mutex_lock", "within dl_iterate_phdr, whose lock is held");
  return calls().lock(mutex);
}

__attribute__((visibility("default"))) void* malloc(std::size_t size) {
  look_around("malloc", __builtin_return_address(0));
  return __libc_malloc(size);
}

__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t size) {
  look_around("calloc", __builtin_return_address(0));
  return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void* realloc(void* memory, std::size_t size) {
  look_around("realloc", __builtin_return_address(0));
  return __libc_realloc(memory, size);
}

}  // extern "C"
