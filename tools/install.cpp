// SPDX-License-Identifier: Apache-2.0
#include "tools/install.h"

#include <filesystem>
#include <system_error>

namespace gable {
namespace {

namespace fs = std::filesystem;

// The first of lib/NAME and lib/gable/NAME beside the program's own folder.
std::string beside_program(const std::string& name) {
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (code) return {};
  const fs::path root = program.parent_path().parent_path();
  for (const char* folder : {"lib", "lib/gable"}) {
    const fs::path candidate = root / folder / name;
    if (fs::exists(candidate, code)) return candidate.string();
  }
  return {};
}

}  // namespace

std::string injected_library() { return beside_program("libgable_inject.so"); }

std::string no_injected_library() {
  return "libgable_inject.so is not in ../lib or ../lib/gable beside this program: build it with "
         "cmake --build BUILD --target gable_inject, or configure with -DGABLE_INJECT=ON.";
}

std::string python_startup_folder() { return beside_program("python/startup"); }

std::string playback_folder() {
  const std::string folder = beside_program("playback");
  std::error_code code;
  return !folder.empty() && fs::is_directory(folder, code) ? folder : std::string();
}

}  // namespace gable
