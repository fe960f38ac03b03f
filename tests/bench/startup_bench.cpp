// SPDX-License-Identifier: Apache-2.0
// What being loaded costs a program that never uses CUDA: /bin/true with and without Gable, wall
// time from its start to its end.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>

#include <string>
#include <vector>

extern char** environ;

namespace {

void run_true(benchmark::State& state, const std::vector<std::string>& added) {
  std::vector<char*> environment;
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  for (const auto& each : added) environment.push_back(const_cast<char*>(each.c_str()));
  environment.push_back(nullptr);
  char name[] = "/bin/true";
  char* arguments[] = {name, nullptr};
  for ([[maybe_unused]] auto _ : state) {
    pid_t child = 0;
    int status = 0;
    if (posix_spawn(&child, name, nullptr, nullptr, arguments, environment.data()) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      state.SkipWithError("/bin/true did not run");
      return;
    }
  }
}

void start_plain(benchmark::State& state) { run_true(state, {}); }
void start_with_variables(benchmark::State& state) {
  run_true(state, {"CUDA_INJECTION64_PATH=" GABLE_LIBRARY, "NVTX_INJECTION64_PATH=" GABLE_LIBRARY});
}
void start_with_preload(benchmark::State& state) { run_true(state, {"LD_PRELOAD=" GABLE_LIBRARY}); }

BENCHMARK(start_plain)->UseRealTime();
BENCHMARK(start_with_variables)->UseRealTime();
BENCHMARK(start_with_preload)->UseRealTime();

}  // namespace
