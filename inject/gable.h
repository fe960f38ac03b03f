/* SPDX-License-Identifier: Apache-2.0
 * For programs that name layers and steps to Gable themselves. A single header with nothing to link
 * against, except -ldl where glibc is older than 2.34. While the program is not being profiled,
 * each call reads one variable and returns. */
#ifndef GABLE_H
#define GABLE_H

#include <dlfcn.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a block is profiled; where a field is -1 or null, the command line applies. */
struct gable_schedule {
  int wait, warmup;    /* steps before the first window */
  int active;          /* steps of each phase */
  int repeat;          /* how often the queue runs */
  const char* include; /* patterns of layers, the byte 0x1f between them */
  const char* exclude;
};

#define GABLE_SCHEDULE_DEFAULT \
  { -1, -1, -1, -1, 0, 0 }

struct gable_call_table_ {
  int state; /* 0: not looked for yet; 1: found; 2: the program is not being profiled */
  int (*open)(const char*, int, int);
  int (*close)(int);
  void (*step)(void);
  void (*profile_begin)(int, int, int, int, const char*, const char*);
  void (*profile_end)(void);
};

static inline const struct gable_call_table_* gable_calls_(void) {
  static struct gable_call_table_ calls;
  void* library;
  const char* path;
  int state = __atomic_load_n(&calls.state, __ATOMIC_ACQUIRE);
  if (state != 0) return state == 1 ? &calls : 0;
  path = getenv("CUDA_INJECTION64_PATH");
  library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : 0;
  if (path && !library) return 0; /* the CUDA driver has not loaded it yet: look again */
  if (library) {                  /* several threads may be here: all find the same */
    *(void**)(&calls.open) = dlsym(library, "gable_open");
    *(void**)(&calls.close) = dlsym(library, "gable_close");
    *(void**)(&calls.step) = dlsym(library, "gable_step");
    *(void**)(&calls.profile_begin) = dlsym(library, "gable_profile_begin");
    *(void**)(&calls.profile_end) = dlsym(library, "gable_profile_end");
  }
  state =
      library && calls.open && calls.close && calls.step && calls.profile_begin && calls.profile_end
          ? 1
          : 2;
  __atomic_store_n(&calls.state, state, __ATOMIC_RELEASE);
  return state == 1 ? &calls : 0;
}

/* A layer of that name, on this thread, until gable_range_end() is given what this returned. */
static inline int gable_range_begin(const char* name) {
  const struct gable_call_table_* calls = gable_calls_();
  return calls ? calls->open(name, 0, 0) : -1;
}

static inline void gable_range_end(int range) {
  const struct gable_call_table_* calls = gable_calls_();
  if (calls) calls->close(range);
}

/* One step of the main loop ends, the next begins. From then on no other step is looked for. */
static inline void gable_step_border(void) {
  const struct gable_call_table_* calls = gable_calls_();
  if (calls) calls->step();
}

/* Only what runs from here until gable_profile_end_block() is profiled. */
static inline void gable_profile_begin_block(const struct gable_schedule* schedule) {
  const struct gable_call_table_* calls = gable_calls_();
  if (calls)
    calls->profile_begin(schedule->wait, schedule->warmup, schedule->active, schedule->repeat,
                         schedule->include, schedule->exclude);
}

static inline void gable_profile_end_block(void) {
  const struct gable_call_table_* calls = gable_calls_();
  if (calls) calls->profile_end();
}

#ifdef __cplusplus
}
#endif

#endif
