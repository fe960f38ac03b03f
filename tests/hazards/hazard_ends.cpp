// SPDX-License-Identifier: Apache-2.0
// Programs that end without an end: their last thread just stops, the kernel ends them, or nothing
// of them waits for the GPU. And those that start others on the way.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/hazards/hazard_work.h"

extern char** environ;

namespace {

void say(const char* text) { (void)!write(STDOUT_FILENO, text, std::strlen(text)); }

// A filter of its own thread alone, after which `number` ends it.
void forbid(long number, unsigned int how) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned int>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, how),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof rules / sizeof *rules, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::exit(98);
}

void work_and_enter_strict_mode() {
  work();
  std::fflush(stdout);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) std::exit(98);
}

sigset_t blocked_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, g_number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

void handle_signal() {
  signal(g_number, [](int) {
    say("own handler\n");
    _exit(9);
  });
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char g_self[] = "/proc/self/exe", g_hazard[] = "hazard", g_return[] = "return";
char* const g_again[] = {g_hazard, g_return, nullptr};

}  // namespace

const std::map<std::string, Hazard>& ways_to_end() {
  static const std::map<std::string, Hazard> all = {
      {"pthread_exit",
       [] {
         std::atexit([] { std::puts("at exit"); });
         work();
         pthread_exit(nullptr);
         return 0;
       }},
      {"pthread_exit_before_others",
       [] {
         std::atexit([] { std::puts("at exit"); });
         std::thread([] {
           work();
           sleep(2);
           std::puts("the last thread ends");
         }).detach();
         pthread_exit(nullptr);
         return 0;
       }},
      {"pthread_exit_and_others_exit",
       [] {
         std::thread([] {
           work();
           sleep(2);
           std::exit(23);
         }).detach();
         pthread_exit(nullptr);
         return 0;
       }},
      // It may be ended wherever it waits, also within Gable.
      {"cancelled_while_it_launches",
       [] {
         pthread_t thread{};
         const auto launches = [](void* context) -> void* {
           check(cuCtxSetCurrent(static_cast<CUcontext>(context)), "cuCtxSetCurrent");
           for (;;) {
             steps(1);
             pthread_testcancel();
           }
         };
         pthread_create(&thread, nullptr, launches, open_gpu());
         usleep(static_cast<useconds_t>(g_number) * 1000);
         pthread_cancel(thread);
         void* result = nullptr;
         pthread_join(thread, &result);
         std::puts(result == PTHREAD_CANCELED ? "cancelled" : "ended");
         work();
         return 21;
       }},
      {"raw_thread_exit",
       [] {
         std::atexit([] { std::puts("at exit"); });
         work();
         std::fflush(stdout);
         syscall(SYS_exit, g_number);
         return 0;
       }},
      {"raw_exit",
       [] {
         work_then_wait();
         syscall(SYS_exit_group, 25);
         return 0;
       }},
      {"strict_mode_exit",
       [] {
         work_and_enter_strict_mode();
         syscall(SYS_exit, 26);
         return 0;
       }},
      {"strict_mode_broken",
       [] {
         work_and_enter_strict_mode();
         syscall(SYS_getppid);
         return 0;
       }},
      {"filter_kills_thread",
       [] {
         work();
         std::fflush(stdout);
         forbid(SYS_getppid, SECCOMP_RET_KILL_THREAD);
         syscall(SYS_getppid);
         return 0;
       }},
      {"filter_kills_process",
       [] {
         work_then_wait();
         forbid(SYS_getppid, SECCOMP_RET_KILL_PROCESS);
         syscall(SYS_getppid);
         return 0;
       }},
      {"replaced_in_a_thread",
       [] {
         work_then_wait();
         std::thread([] { execl(g_self, g_hazard, "no_cuda", nullptr); }).join();
         return 0;
       }},
      {"never_waits",
       [] {
         open_gpu();
         launch(g_number);
         return 22;
       }},
      {"never_waits_in_steps",
       [] {
         open_gpu();
         for (int i = 0; i < g_number; ++i) {
           nvtxRangePushA("step");
           launch(4);
           nvtxRangePop();
         }
         return 22;
       }},
      {"never_waits_reset",
       [] {
         open_gpu();
         launch(g_number);
         check(cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset");
         return 22;
       }},
      {"never_waits_release",
       [] {
         open_gpu();
         launch(g_number);
         check(cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
         return 22;
       }},
      {"steps_with_times",
       [] {
         open_gpu();
         for (;;) {
           steps(1);
           timespec now{};
           clock_gettime(CLOCK_MONOTONIC, &now);
           char line[64];
           std::snprintf(line, sizeof line, "%lld.%09ld\n", static_cast<long long>(now.tv_sec),
                         now.tv_nsec);
           say(line);
           usleep(5000);
         }
         return 1;
       }},
      {"steps_after_the_first_report",
       [] {
         open_gpu();
         launch(1);
         await_report(false);
         for (;;) {
           steps(1);
           usleep(5000);
         }
         return 1;
       }},
      {"many_layers",
       [] {
         open_gpu();
         for (;;) {
           nvtxRangePushA("step");
           for (int i = 0; i < g_number; ++i) {
             nvtxRangePushA(("layer l" + std::to_string(i)).c_str());
             launch(1);
             nvtxRangePop();
           }
           check(cuCtxSynchronize(), "cuCtxSynchronize");
           nvtxRangePop();
         }
         return 1;
       }},
      {"one_launch_and_sleep",
       [] {
         open_gpu();
         launch(1);
         say("launched\n");
         sleep(60);
         return 1;
       }},
      {"signal_handled_before",
       [] {
         handle_signal();
         work_then_wait();
         raise(g_number);
         return 0;
       }},
      {"signal_handled_after",
       [] {
         work_then_wait();
         handle_signal();
         raise(g_number);
         return 0;
       }},
      {"signal_ignored",
       [] {
         signal(g_number, SIG_IGN);
         work();
         raise(g_number);
         return 27;
       }},
      {"signal_waited_for",
       [] {
         const sigset_t set = blocked_signal();
         work();
         kill(getpid(), g_number);
         int taken = 0;
         sigwait(&set, &taken);
         std::printf("took %d\n", taken);
         return 28;
       }},
      {"signal_read",
       [] {
         const sigset_t set = blocked_signal();
         const int file = signalfd(-1, &set, SFD_CLOEXEC);
         work();
         kill(getpid(), g_number);
         signalfd_siginfo taken{};
         if (read(file, &taken, sizeof taken) != sizeof taken) return 1;
         std::printf("took %u\n", taken.ssi_signo);
         return 29;
       }},
      {"daemon",
       [] {
         if (fork() == 0) {
           setsid();
           if (fork() != 0) _exit(0);
           work();
           std::exit(0);
         }
         return 30;
       }},
      {"spawn",
       [] {
         work();
         std::fflush(stdout);
         pid_t child = 0;
         if (posix_spawn(&child, g_self, nullptr, nullptr, g_again, environ) != 0) return 1;
         std::printf("child ended with %d\n", status_of(child));
         return 31;
       }},
      {"vfork",
       [] {
         work();
         std::fflush(stdout);
         // As shells and launchers start programs.
         // NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork)
         const pid_t child = vfork();
         if (child == 0) {
           execv(g_self, g_again);
           _exit(1);
         }
         std::printf("child ended with %d\n", status_of(child));
         return 32;
       }},
  };
  return all;
}
