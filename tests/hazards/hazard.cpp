// SPDX-License-Identifier: Apache-2.0
// Ways in which a program can end, fork, launch or load things while it is being profiled: hazard
// NAME [NUMBER]. Written against the CUDA driver API, so that it runs on a real GPU's driver as on
// the playback one. Each prints what an unprofiled run prints.
#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/hazards/hazard_work.h"

namespace {

int child_status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char g_left[16];  // how often a program still replaces itself

const std::map<std::string, Hazard>& hazards() {
  static const std::map<std::string, Hazard> all = {
      {"return",
       [] {
         work();
         return 3;
       }},
      {"exit",
       [] {
         work();
         std::exit(4);
         return 0;
       }},
      {"exit_in_range",
       [] {
         work();
         nvtxRangePushA("step x");
         launch(4);
         std::exit(5);
         return 0;
       }},
      {"_exit",
       [] {
         work_then_wait();
         _exit(6);
         return 0;
       }},
      {"quick_exit",
       [] {
         work();
         std::fflush(stdout);
         std::quick_exit(7);
         return 0;
       }},
      {"exit_from_thread",
       [] {
         work();
         std::thread([] { std::exit(8); }).join();
         return 0;
       }},
      {"exception",
       [] {
         work_then_wait();
         throw std::runtime_error("the program's own exception");
         return 0;
       }},
      {"abort",
       [] {
         work_then_wait();
         std::abort();
         return 0;
       }},
      {"terminated",
       [] {
         work();
         std::fflush(stdout);
         raise(SIGTERM);
         pause();
         return 0;
       }},
      {"interrupted",
       [] {
         work();
         std::fflush(stdout);
         raise(SIGINT);
         pause();
         return 0;
       }},
      {"own_handler",
       [] {
         signal(SIGTERM, [](int) {
           const char text[] = "own handler\n";
           (void)!write(1, text, sizeof text - 1);
           std::_Exit(9);
         });
         work_then_wait();
         raise(SIGTERM);
         return 0;
       }},
      {"own_file_as_standard_error",
       [] {
         work();
         close(STDERR_FILENO);
         const int data = open("data", O_CREAT | O_WRONLY, 0600);
         (void)!write(data, "data\n", 5);
         return data == STDERR_FILENO ? 3 : 1;
       }},
      {"own_usr2",
       [] {
         signal(SIGUSR2, [](int) {
           const char text[] = "own SIGUSR2\n";
           (void)!write(1, text, sizeof text - 1);
         });
         work();
         raise(SIGUSR2);
         return 11;
       }},
      {"late_usr2",
       [] {
         work();
         signal(SIGUSR2, [](int) {
           const char text[] = "late SIGUSR2\n";
           (void)!write(1, text, sizeof text - 1);
         });
         raise(SIGUSR2);
         return 12;
       }},
      {"late_handler",
       [] {
         work_then_wait();
         signal(SIGTERM, [](int) {
           const char text[] = "late handler\n";
           (void)!write(1, text, sizeof text - 1);
           std::_Exit(9);
         });
         raise(SIGTERM);
         return 0;
       }},
      {"ignored_signal",
       [] {
         signal(SIGINT, SIG_IGN);
         work();
         raise(SIGINT);
         std::puts("still here");
         return 10;
       }},
      {"killed",
       [] {
         work_then_wait();
         raise(SIGKILL);
         return 0;
       }},
      {"fork",
       [] {
         work();
         std::fflush(stdout);
         const pid_t child = fork();
         if (child == 0) {
           nvtxRangePushA("in child");
           nvtxRangePop();
           std::puts("child");
           std::exit(11);
         }
         std::printf("child ended with %d\n", child_status(child));
         return 12;
       }},
      {"fork_killed_child",
       [] {
         work();
         std::fflush(stdout);
         const pid_t child = fork();
         if (child == 0) {
           raise(SIGTERM);
           pause();
         }
         std::printf("child ended with %d\n", child_status(child));
         return 0;
       }},
      {"fork_before_cuda",
       [] {
         nvtxRangePushA("before");
         nvtxRangePop();
         const pid_t child = fork();
         if (child == 0) {
           work();
           return 13;
         }
         std::printf("child ended with %d\n", child_status(child));
         return 14;
       }},
      {"many_forks",
       [] {
         open_gpu();
         std::vector<pid_t> children;
         for (int i = 0; i < 12; ++i) {
           nvtxRangePushA("step");
           launch(4);
           check(cuCtxSynchronize(), "cuCtxSynchronize");
           nvtxRangePop();
           children.push_back(fork());
           if (children.back() == 0) {
             std::thread([] {
               nvtxRangePushA("t");
               nvtxRangePop();
             }).join();
             _exit(i);
           }
         }
         int sum = 0;
         for (auto child : children) sum += child_status(child);
         std::printf("children sum %d\n", sum);
         return 0;
       }},
      {"threads",
       [] {
         const CUcontext context = open_gpu();
         for (int s = 0; s < 12; ++s) {
           nvtxRangePushA(("step " + std::to_string(s)).c_str());
           std::vector<std::thread> launchers;
           launchers.reserve(4);
           for (int t = 0; t < 4; ++t)
             launchers.emplace_back([context] {
               check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
               nvtxRangePushA("thread");
               launch(8);
               nvtxRangePop();
             });
           for (auto& thread : launchers) thread.join();
           check(cuCtxSynchronize(), "cuCtxSynchronize");
           nvtxRangePop();
         }
         std::puts("joined");
         return 0;
       }},
      {"free_threads",
       [] {
         launch_freely(g_number, false);
         return 0;
       }},
      {"step_threads",
       [] {
         launch_freely(g_number, true);
         return 0;
       }},
      {"dlopen_dlclose",
       [] {
         const char* path = std::getenv("CUDA_INJECTION64_PATH");
         for (int i = 0; i < 3 && path != nullptr; ++i) {
           void* library = dlopen(path, RTLD_NOW);
           if (library != nullptr) dlclose(library);
         }
         work();
         for (int i = 0; i < 3 && path != nullptr; ++i) {
           void* library = dlopen(path, RTLD_NOW);
           if (library != nullptr) dlclose(library);
         }
         return 15;
       }},
      {"entries_twice",
       [] {
         const char* path = std::getenv("CUDA_INJECTION64_PATH");
         using Entry = int (*)();
         void* library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
         auto entry = library != nullptr
                          ? reinterpret_cast<Entry>(dlsym(library, "InitializeInjection"))
                          : nullptr;
         if (entry != nullptr) entry();
         work();
         if (entry != nullptr) entry();
         return 16;
       }},
      {"context_destroyed",
       [] {
         work();
         check(cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
         std::puts("released");
         return 17;
       }},
      {"no_cuda",
       [] {
         nvtxRangePushA("step 1");
         nvtxRangePop();
         std::puts("no CUDA");
         return 18;
       }},
      {"gable_step",
       [] {
         open_gpu();
         using Step = void (*)();
         Step step = nullptr;
         if (const char* path = std::getenv("CUDA_INJECTION64_PATH")) {
           if (void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD))
             step = reinterpret_cast<Step>(dlsym(library, "gable_step"));
         }
         for (int i = 0; i < 14; ++i) {
           launch(5);
           check(cuCtxSynchronize(), "cuCtxSynchronize");
           if (step != nullptr) step();
         }
         return 19;
       }},
      {"profiler_api",
       [] {
         open_gpu();
         for (int i = 0; i < 14; ++i) {
           launch(2);
           cuProfilerStart();
           launch(5);
           check(cuCtxSynchronize(), "cuCtxSynchronize");
           cuProfilerStop();
         }
         return 20;
       }},
      {"slow",
       [] {
         open_gpu();
         for (int i = 0; i < 200; ++i) {
           steps(1);
           usleep(500000);
         }
         return 21;
       }},
      {"until_a_signal",
       [] {
         open_gpu();
         for (int i = 0;; ++i) {
           steps(1);
           if (i == 0) (void)!write(STDOUT_FILENO, "launched\n", 9);
         }
         return 1;
       }},
      // With one arena for all threads, the signal often finds this one with the allocator's lock.
      {"allocate_until_a_signal",
       [] {
         open_gpu();
         for (int i = 0;; ++i) {
           steps(1);
           if (i == 0) (void)!write(STDOUT_FILENO, "launched\n", 9);
           for (int n = 0; n < 100; ++n) {
             void* blocks[64];
             for (int k = 0; k < 64; ++k) blocks[k] = std::malloc(1200 + 64 * ((k * 7 + n) % 50));
             for (auto* one : blocks) {
               asm volatile("" : : "r"(one) : "memory");  // or the compiler leaves the pair out
               std::free(one);
             }
           }
         }
         return 1;
       }},
      {"sleep_until_a_signal",
       [] {
         open_gpu();
         steps(1);
         (void)!write(STDOUT_FILENO, "launched\n", 9);
         sleep(60);
         (void)!write(STDOUT_FILENO, "woke up\n", 8);
         return 0;
       }},
      {"return_at_once",
       [] {
         open_gpu();
         steps(20);
         (void)!write(STDOUT_FILENO, "launched\n", 9);
         return 3;
       }},
      {"replace_itself",
       [] {
         std::snprintf(g_left, sizeof g_left, "%d", g_number - 1);
         // Before the library's own, so that it runs after it: the report is written then.
         if (g_number > 1)
           std::atexit(
               [] { execl("/proc/self/exe", "hazard", "replace_itself", g_left, nullptr); });
         work();
         return 3;
       }},
      {"sleep",
       [] {
         work();
         std::fflush(stdout);
         sleep(60);
         return 0;
       }},
  };
  return all;
}

const pid_t g_parent = getpid();

}  // namespace

// The leak checker's question, where this is built with one: what a forked child has of its
// parent's stays as it is. NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" int __lsan_is_turned_off();
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" int __lsan_is_turned_off() { return getpid() != g_parent ? 1 : 0; }

int main(int argc, char** argv) {
  if (argc > 2) g_number = std::atoi(argv[2]);
#ifdef __SANITIZE_THREAD__
  // Without a blocking call before, the sanitizer lost a signal now and then.
  sleep(0);
#endif
  for (const auto* all : {&hazards(), &ways_to_end()}) {
    const auto found = all->find(argc > 1 ? argv[1] : "");
    if (found != all->end()) return found->second();
  }
  for (const auto* all : {&hazards(), &ways_to_end()})
    for (const auto& [name, body] : *all) std::puts(name.c_str());
  return 2;
}
