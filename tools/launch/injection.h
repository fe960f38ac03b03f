// SPDX-License-Identifier: Apache-2.0
// How the injected library gets into a program: the environment that `gable profile` gives it.
#pragma once

#include <string>
#include <vector>

#include "collector/options/settings.h"

namespace gable {

// Another tool that already asked to be injected: "CUDA_INJECTION64_PATH is …", or empty when there
// is none. `library` is ours, which may be set already.
[[nodiscard]] std::string injection_holder(const std::string& library);

// What KOKKOS_TOOLS_LIBS is to be; empty where it stays as it is, because a tool is chosen already:
// Kokkos ends a program with two variables that differ.
[[nodiscard]] std::string kokkos_tool_to_set();

// Sets the variables in this process, for the program that it starts next.
void set_injection(const std::string& library, const Settings& settings);

// Layers are wanted of a PyTorch program, should it be one, and this installation cannot name them.
[[nodiscard]] bool lacks_python_side(const Settings& settings);

// Takes a library of ours out of the environment again (an outer `gable profile`, an `eval "$(gable
// env)"`).
void clear_own_injection(const std::string& library);

// The path from the root. Throws WrongUse where the current folder is gone.
[[nodiscard]] std::string full_path(const std::string& path);

// Puts the playback GPU before the machine's own, for what this process starts next; the answer is
// its folder. Throws WrongUse when `recording` is no file or a damaged one, or the playback GPU was
// not built.
std::string set_playback(const std::string& recording);

// A file in a temporary folder to which the library adds "pid<tab>path" for every report it
// wrote, and "pid<tab>" at a process's first launch, or "pid left out" where --ranks leaves the
// process out. Removed at the end.
class Manifest {
 public:
  struct Entry {
    long pid = 0;
    std::string path;
  };
  Manifest();  // its path is empty where there is no place for it
  ~Manifest();
  Manifest(const Manifest&) = delete;
  Manifest& operator=(const Manifest&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Every report once, in the order in which they were first written. Lines of another form are
  // left out.
  [[nodiscard]] std::vector<Entry> read() const;
  [[nodiscard]] bool saw_launch() const;
  [[nodiscard]] bool saw_rank_left_out() const;

 private:
  std::string path_;
};

}  // namespace gable
