// SPDX-License-Identifier: Apache-2.0
// A program that profiles itself for a while: with_other_tool LIBRARY early|late STEPS WAIT_MS. The
// library is loaded before the GPU is opened, or just before it is used, which is after STEPS
// steps.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/hazards/hazard_work.h"

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  void* library = std::string(argv[2]) == "early" ? dlopen(argv[1], RTLD_NOW) : nullptr;
  open_gpu();
  steps(std::atoi(argv[3]));
  if (library == nullptr) library = dlopen(argv[1], RTLD_LAZY);
  usleep(1000u * static_cast<unsigned>(std::atoi(argv[4])));
  if (library == nullptr) return 2;
  using Call = int (*)();
  const auto begin = reinterpret_cast<Call>(dlsym(library, "other_tool_begin"));
  const auto kernels = reinterpret_cast<Call>(dlsym(library, "other_tool_kernels"));
  const int code = begin();
  steps(3);
  std::printf("the other tool was answered %d and saw %d kernels\n", code, kernels());
  steps(4);
  return 4;
}
