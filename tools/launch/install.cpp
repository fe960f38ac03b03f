// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/install.h"

#include <sys/auxv.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

namespace gable {
namespace {

namespace fs = std::filesystem;

// Empty where nothing tells.
fs::path this_program() {
  std::error_code code;
  fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (!code) return program;
  // There may be no /proc. As the kernel was given it, from the folder that is still the current.
  const auto* given = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  program = given == nullptr ? fs::path() : fs::canonical(given, code);
  return code ? fs::path() : program;
}

// The first of lib/NAME and lib/gable/NAME beside the program's own folder.
std::string beside_program(const std::string& name) {
  std::error_code code;
  const fs::path program = this_program();
  if (program.empty()) return {};
  const fs::path root = program.parent_path().parent_path();
  for (const char* folder : {"lib", "lib/gable"}) {
    const fs::path candidate = root / folder / name;
    if (fs::exists(candidate, code)) return candidate.string();
  }
  return {};
}

const std::vector<std::string> kPythonFiles = {GABLE_PYTHON_FILES};
const std::vector<std::string> kPlaybackFiles = {
    "playback/libcuda.so.1",      "playback/libcupti.so.13", "playback/libnvidia-ml.so.1",
    "playback/libnvperf_host.so", "playback/gable-player",   "playback/libnvperf_target.so"};

// Of `files`, in their order.
std::vector<std::string> missing_of(const std::vector<std::string>& files) {
  std::vector<std::string> missing;
  std::copy_if(files.begin(), files.end(), std::back_inserter(missing),
               [](const std::string& name) { return beside_program(name).empty(); });
  return missing;
}

// "WHAT is not in ../lib/FOLDER beside this program, so ", or which file is not.
std::string lacking(const std::string& what, const std::vector<std::string>& files,
                    const std::string& folder) {
  const std::vector<std::string> missing = missing_of(files);
  const bool all = missing.size() == files.size();
  return what +
         (all ? "is not in ../lib/" + folder + " beside this program"
              : "is not complete beside this program (../lib/" +
                    (missing.empty() ? folder : missing.front()) + " is missing)") +
         ", so ";
}

}  // namespace

std::string injected_library() { return beside_program("libgable_inject.so"); }

std::string kokkos_library() { return beside_program("libgable_kokkos.so"); }

std::string no_injected_library() {
  return "libgable_inject.so is not in ../lib or ../lib/gable beside this program: build it with "
         "cmake --build BUILD --target gable_inject, or configure with -DGABLE_INJECT=ON.";
}

std::string python_startup_folder() {
  const std::string folder = beside_program("python/startup");
  return missing_of(kPythonFiles).empty() ? folder : std::string();
}

std::string python_folder_of(const std::string& module) {
  std::string file = module;
  std::replace(file.begin(), file.end(), '.', '/');
  return beside_program("python/" + file + ".py").empty() ? std::string()
                                                          : beside_program("python");
}

std::string no_python_side() {
  return lacking("Gable's Python side, which names the modules of PyTorch programs, ", kPythonFiles,
                 "python") +
         "no module becomes a layer. Build it with cmake --build BUILD --target gable_python, or "
         "install Gable again.";
}

std::string playback_folder() {
  return missing_of(kPlaybackFiles).empty() ? beside_program("playback") : std::string();
}

std::string no_playback() {
  return lacking("The playback GPU ", kPlaybackFiles, "playback") +
         "no recording can be played. Build it with cmake --build BUILD --target gable_playback, "
         "or install Gable again.";
}

}  // namespace gable
