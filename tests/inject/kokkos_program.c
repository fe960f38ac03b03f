/* SPDX-License-Identifier: Apache-2.0
 * Loads a tool and calls it as Kokkos does (Kokkos_Profiling.cpp), around launches. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/inject/one_kernel.h"

struct space {
  char name[64];
};
struct settings {
  bool requires_global_fencing;
  bool padding[255];
};

static void* tool;

static void* call(const char* name) {
  void* found = tool ? dlsym(tool, name) : 0;
  if (tool && !found) {
    fprintf(stderr, "the tool has no %s\n", name);
    exit(98);
  }
  return found;
}

static void parallel(const char* kind, const char* name) {
  char begin[64], end[64];
  uint64_t handle = 0;
  void (*begins)(const char*, uint32_t, uint64_t*);
  void (*ends)(uint64_t);
  snprintf(begin, sizeof begin, "kokkosp_begin_parallel_%s", kind);
  snprintf(end, sizeof end, "kokkosp_end_parallel_%s", kind);
  *(void**)(&begins) = call(begin);
  *(void**)(&ends) = call(end);
  if (begins) begins(name, 1, &handle);
  launch_kernel();
  if (ends) ends(handle);
}

static void copy(const char* target) {
  struct space host = {"Host"}, device = {"Cuda"};
  void (*begins)(struct space, const char*, const void*, struct space, const char*, const void*,
                 uint64_t);
  void (*ends)(void);
  *(void**)(&begins) = call("kokkosp_begin_deep_copy");
  *(void**)(&ends) = call("kokkosp_end_deep_copy");
  if (begins) begins(device, target, 0, host, "source", 0, 64);
  launch_kernel();
  if (ends) ends();
}

int main(void) {
  const char* name = getenv("KOKKOS_TOOLS_LIBS");
  struct settings wanted;
  void (*ask)(uint32_t, struct settings*);
  void (*push)(const char*);
  void (*pop)(void);
  int step;
  open_gpu();
  if (name && *name && !(tool = dlopen(name, RTLD_NOW | RTLD_GLOBAL))) {
    fprintf(stderr, "%s\n", dlerror());
    return 97;
  }
  memset(&wanted, 0, sizeof wanted);
  wanted.requires_global_fencing = true;
  *(void**)(&ask) = call("kokkosp_request_tool_settings");
  *(void**)(&push) = call("kokkosp_push_profile_region");
  *(void**)(&pop) = call("kokkosp_pop_profile_region");
  if (ask) ask(1, &wanted);
  for (step = 0; step < 40; ++step) {
    if (push) push("timestep");
    parallel("for", "force");
    parallel("reduce", "Z4mainEUliRdE_/7NoTag");
    parallel("scan", "N3foo3BarE");
    parallel("for", "1D");
    parallel("for", "Nbody");
    copy("positions");
    copy("");
    if (pop) pop();
    check(cuCtxSynchronize(), "cuCtxSynchronize");
  }
  if (pop) pop(); /* one too many */
  printf("done, fences %d\n", tool ? wanted.requires_global_fencing : -1);
  return 7;
}
