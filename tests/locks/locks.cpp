// SPDX-License-Identifier: Apache-2.0
// Programs that hold locks of others (the loader's, the standard streams', the allocator's) while
// kernels are launched and Gable changes windows: locks NAME ROUNDS. Each is right without Gable:
// no lock is held for something that needs it. A line for each round tells the test that the
// program goes on.
#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/hazards/hazard_work.h"

namespace {

constexpr int kObjectsInRound = 400;  // Gable looks for new ones a few times a second

CUcontext g_context = nullptr;
CUfunction g_other = nullptr;  // with a name that the report demangles
std::function<void()> g_loaded, g_unloaded;
std::atomic<bool> g_enough{false};
std::atomic<long> g_steps{0};

void told(int round) {
  std::printf("round %d\n", round);
  std::fflush(stdout);
}

void some_steps(int count) {
  check(cuCtxSetCurrent(g_context), "cuCtxSetCurrent");
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("step");
    launch(4);
    check(cuLaunchKernel(g_other, 8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
          "cuLaunchKernel");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    nvtxRangePop();
    ++g_steps;
  }
}

void steps_in_a_thread_of_its_own() {
  std::thread([] { some_steps(2); }).join();
}

// `count` threads that run `body` again and again while `meanwhile` runs.
void beside(int count, const std::function<void()>& body, const std::function<void()>& meanwhile) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&body] {
      while (!g_enough.load()) body();
    });
  meanwhile();
  g_enough.store(true);
  for (auto& thread : threads) thread.join();
}

void load_and_unload() {
  void* object = dlopen(LOCKS_OBJECT, RTLD_NOW);
  if (object == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(99);
  }
  dlclose(object);
}

void open() {
  g_context = open_gpu();
  CUmodule module{};
  static const char image[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry _Z5otherPf() { ret; }\n";
  check(cuModuleLoadData(&module, image), "cuModuleLoadData");
  check(cuModuleGetFunction(&g_other, module, "_Z5otherPf"), "cuModuleGetFunction");
  nvtxMarkA("");  // NVTX opens a library at its first call, which takes the loader's lock
  // Where a library that checks calls stands before all others: from now on it does.
  if (void* begin = dlsym(RTLD_DEFAULT, "locks_check_from_here"); begin != nullptr)
    reinterpret_cast<void (*)()>(begin)();
}

// The first steps, in which most things happen for the first time.
void open_and_begin() {
  open();
  some_steps(4);
}

// --- the loader's lock

void objects(int rounds) {
  open_and_begin();
  beside(
      1, [] { some_steps(1); },
      [rounds] {
        for (int round = 0; round < rounds; ++round) {
          for (int i = 0; i < kObjectsInRound; ++i) load_and_unload();
          told(round);
        }
      });
}

// The loader's lock is held until a thread that launches kernels has ended.
void constructors(int rounds) {
  open_and_begin();
  g_loaded = g_unloaded = steps_in_a_thread_of_its_own;
  beside(
      2, [] { some_steps(1); },
      [rounds] {
        for (int round = 0; round < rounds; ++round) {
          load_and_unload();
          told(round);
        }
      });
}

// The same at the first launches of the program: every window begins in such a thread.
void first_launch_in_constructor(int rounds) {
  open();
  usleep(500000);  // meanwhile counters are chosen, for which libraries of CUPTI's are opened
  told(0);
  g_loaded = [] { std::thread([] { some_steps(14); }).join(); };
  load_and_unload();
  g_loaded = nullptr;
  some_steps(rounds);
}

// CUDA starts, and launches for the first time, while the loader holds its lock for this thread, as
// where a library's own constructors use the GPU.
void cuda_starts_in_constructor(int rounds) {
  g_loaded = open_and_begin;
  load_and_unload();
  g_loaded = nullptr;
  some_steps(rounds);
}

// The loader's lock is held until the launching threads have come some steps further.
void constructor_waits(int rounds) {
  open_and_begin();
  g_loaded = [] {
    const long goal = g_steps + 6;
    while (g_steps < goal) usleep(100);
  };
  beside(
      3, [] { some_steps(1); },
      [rounds] {
        for (int round = 0; round < rounds; ++round) {
          load_and_unload();
          told(round);
        }
      });
}

// --- processes

void name_something() {
  static std::atomic<int> count{0};
  const std::string name = "string " + std::to_string(count++ % 5000);
  nvtxDomainHandle_t domain = nvtxDomainCreateA(("domain " + name.substr(name.size() - 1)).c_str());
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, name.c_str());
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
}

// It opens no object and leaves without exit: glibc does not free the locks for these in a child.
[[noreturn]] void child() {
  for (int i = 0; i < 20; ++i) name_something();
  std::thread(name_something).join();
  _exit(0);
}

// Every lock may be held by a thread that the child does not have.
void fork_often(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const pid_t made = fork();
    if (made == 0) child();
    int status = 0;
    if (made < 0 || waitpid(made, &status, 0) != made || status != 0) {
      std::fprintf(stderr, "a child ended with %d\n", status);
      std::exit(98);
    }
    told(round);
  }
}

void forks(int rounds) {
  open_and_begin();
  beside(
      3,
      [] {
        some_steps(1);
        name_something();
        load_and_unload();
      },
      [rounds] { fork_often(rounds); });
}

// Before CUDA is there: a child is a process as any other, and has ranges of its own.
void forks_before_cuda(int rounds) {
  name_something();  // a child that is forked while NVTX starts waits for that for ever, with or
                     // without us
  beside(3, name_something, [rounds] { fork_often(rounds); });
}

// --- the environment

void variables(int rounds) {
  open_and_begin();
  beside(
      1, [] { some_steps(1); },
      [rounds] {
        for (int round = 0; round < rounds; ++round) {
          for (int i = 0; i < 200; ++i)
            setenv(("VARIABLE_" + std::to_string(round) + "_" + std::to_string(i)).c_str(), "1", 1);
          usleep(10000);
          for (int i = 0; i < 200; ++i)
            unsetenv(("VARIABLE_" + std::to_string(round) + "_" + std::to_string(i)).c_str());
          told(round);
        }
      });
}

// --- standard streams

// One thread reads from a standard input that says nothing, as interpreters do; another one that
// flushes all streams waits for it, and holds the lock of their list.
void streams(int rounds) {
  open();
  std::thread([] { (void)std::getchar(); }).detach();
  usleep(100000);
  std::thread([] { std::fflush(nullptr); }).detach();
  usleep(100000);
  for (int round = 0; round < rounds; ++round) {
    some_steps(1);
    const auto text = "round " + std::to_string(round) + "\n";
    (void)!write(1, text.data(), text.size());
  }
  std::quick_exit(0);
}

// Standard error is a pipe that is full, and whoever reads it waits for this very program.
void full_standard_error(int rounds) {
  int ends[2];
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) std::exit(99);
  const std::string some(4096, 'x');
  while (write(ends[1], some.data(), some.size()) > 0) {
  }
  fcntl(ends[1], F_SETFL, 0);
  dup2(ends[1], 2);
  open();
  for (int round = 0; round < rounds; ++round) {
    some_steps(1);
    told(round);
  }
}

const std::map<std::string, void (*)(int)>& programs() {
  static const std::map<std::string, void (*)(int)> all = {
      {"objects", objects},
      {"constructors", constructors},
      {"first_launch_in_constructor", first_launch_in_constructor},
      {"cuda_starts_in_constructor", cuda_starts_in_constructor},
      {"constructor_waits", constructor_waits},
      {"forks", forks},
      {"forks_before_cuda", forks_before_cuda},
      {"variables", variables},
      {"streams", streams},
      {"full_standard_error", full_standard_error},
  };
  return all;
}

}  // namespace

extern "C" void locks_loaded();
extern "C" void locks_loaded() {
  if (g_loaded) g_loaded();
}
extern "C" void locks_unloaded();
extern "C" void locks_unloaded() {
  if (g_unloaded) g_unloaded();
}

int main(int argc, char** argv) {
  const auto found = programs().find(argc > 1 ? argv[1] : "");
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 0;
  if (found == programs().end() || rounds < 1) {
    std::puts("locks NAME ROUNDS, where NAME is one of:");
    for (const auto& [name, body] : programs()) std::puts(name.c_str());
    return 2;
  }
  found->second(rounds);
  std::puts("done");
  return 0;
}
