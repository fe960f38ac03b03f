# SPDX-License-Identifier: Apache-2.0
"""The table of hazards: programs that are built in ways of their own, and threads that end in theirs."""
from table_case import ANY, INJECTION, PROFILE, WITH_CUDA, Case

# Opens the GPU as a program that loads CUDA by itself does, where it is given what does it.
BEGIN = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void *same(void *p) { return p; }
static void *ends(void *p) { pthread_exit(p); }
static void *waits(void *p) { for (;;) pause(); return p; }
static void *exits(void *p) { exit(11); return p; }
static void says(void) { puts("at exit"); }
static void handler(int n) { static const char t[] = "handled\n"; (void)!write(1, t, 8); _exit(n); }
static jmp_buf back;
static void jumps(int n) { longjmp(back, n); }
static void body(void);
int main(int n, char **w) {
#ifdef RTLD_NOW
  if (n > 1) ((void (*)(void))dlsym(dlopen(w[1], RTLD_NOW), "hazard_open_gpu"))();
#endif
  body();
  puts("end");
  return 5;
}
static void body(void) {
  pthread_t t; void *r = 0; struct sigaction a; int s = 0; pid_t c; (void)t; (void)r; (void)s; (void)c; memset(&a, 0, sizeof a);
"""
BODIES = {
    "threads": "for (int i = 0; i < 20; i++) { pthread_create(&t, 0, i % 2 ? same : ends, 0); pthread_join(t, &r); } puts(\"joined\");",
    "a thread that is cancelled": "pthread_create(&t, 0, waits, 0); pthread_cancel(t); pthread_join(t, &r); puts(r == PTHREAD_CANCELED ? \"cancelled\" : \"?\");",
    "a thread that exits": "pthread_create(&t, 0, exits, 0); pthread_join(t, &r);",
    "atexit": "atexit(says); exit(6);", "quick_exit": "at_quick_exit(says); fflush(0); quick_exit(7);", "_exit in atexit": "atexit(says); fflush(0); _exit(8);",
    "abort": "abort();", "segfault": "*(volatile int *)0 = 1;", "trap": "__builtin_trap();",
    "a handler of SEGV on a stack of its own": "stack_t k = {malloc(1 << 16), 0, 1 << 16}; sigaltstack(&k, 0); a.sa_handler = handler; a.sa_flags = SA_ONSTACK; "
        "sigaction(SIGSEGV, &a, 0); *(volatile int *)0 = 1;",
    "a jump out of a handler": "a.sa_handler = jumps; a.sa_flags = SA_NODEFER; sigaction(SIGUSR1, &a, 0); for (volatile int i = 0; i < 50; i++) "
        "if (!setjmp(back)) raise(SIGUSR1); puts(\"back\");",
    "vfork": "c = vfork(); if (c == 0) { execl(\"/bin/true\", \"true\", (char *)0); _exit(9); } waitpid(c, &s, 0); printf(\"%d\\n\", WEXITSTATUS(s));",
    "fork with a thread": "pthread_create(&t, 0, waits, 0); fflush(0); c = fork(); if (c == 0) { puts(\"child\"); exit(4); } waitpid(c, &s, 0); "
        "printf(\"%d\\n\", WEXITSTATUS(s));",
    "fork in a fork": "fflush(0); c = fork(); if (c == 0) { c = fork(); if (c == 0) exit(3); waitpid(c, &s, 0); exit(WEXITSTATUS(s)); } waitpid(c, &s, 0); "
        "printf(\"%d\\n\", WEXITSTATUS(s));",
    "the environment cleared": "clearenv(); setenv(\"A\", \"b\", 1); fflush(0); execlp(\"/usr/bin/env\", \"env\", (char *)0);",
    "memory locked and protected": "void *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); mprotect(p, 4096, PROT_NONE); munmap(p, 4096);",
    "big allocations": "for (int i = 0; i < 200; i++) { char *p = malloc(1 << 20); memset(p, i, 1 << 20); free(p); }",
    "standard streams closed": "fclose(stdin); fclose(stderr); printf(\"out\\n\"); fflush(0);",
    "a closed standard output": "close(1); exit(3);",
}
KINDS = {  # name: (compiler and its options, ways, what is needed, whether it can load libraries)
    "gcc": ("gcc -w", WITH_CUDA, "gcc", True),
    "static": ("gcc -w -static", (ANY, INJECTION, PROFILE), "gcc", False),
    # musl's loader refuses a library of glibc's: docs/administrators.md.
    "musl": ("musl-gcc -w", (INJECTION, PROFILE), "musl-gcc", False),
    "musl, static": ("musl-gcc -w -static", (ANY, INJECTION, PROFILE), "musl-gcc", False),
    # Its run-time has to come first: the same page.
    "address sanitizer": ("gcc -w -fsanitize=address", (INJECTION, PROFILE), "gcc", True),
    "address sanitizer, static": ("gcc -w -fsanitize=address -static-libasan", WITH_CUDA, "gcc", True),
    "thread sanitizer": ("gcc -w -fsanitize=thread", WITH_CUDA, "gcc", True),
    "undefined-behaviour sanitizer": ("gcc -w -fsanitize=undefined", WITH_CUDA, "gcc", True),
    "clang": ("clang-14 -w", WITH_CUDA, "clang-14", True),
}
FOR_ALL = ("threads", "atexit", "fork in a fork", "a handler of SEGV on a stack of its own", "vfork")


def built(kind, name, longer):
    compiler, ways, need, loads = KINDS[kind]
    source = BEGIN + BODIES[name] + "\n}\n"
    if not loads:
        source = source.replace("#include <dlfcn.h>\n", "")
    # Compiled without Gable, whose variables come back with the program.
    script = ('printf %s "$1" >a.c; env -u LD_PRELOAD -u CUDA_INJECTION64_PATH ' + compiler + ' -pthread a.c -o a -ldl 2>/dev/null || exit 77; '
              'rm a.c; shift; exec ./a "$@"')
    return Case(f"{kind}: {name}", ("/bin/sh", "-c", script, "sh", source, *(("{opens}",) if loads else ())), gpu=False, ways=ways, needs=(need,),
                longer=longer, varies=("stderr",) if "sanitizer" in kind else ())


CASES = [built("gcc", name, longer=number % 3 != 0) for number, name in enumerate(BODIES)]
CASES += [built(kind, name, longer=True) for kind in KINDS if kind != "gcc" for name in FOR_ALL]
