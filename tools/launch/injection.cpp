// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/injection.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "analysis/recording/recording.h"
#include "tools/base/wrong_use.h"
#include "tools/launch/install.h"

namespace gable {
namespace {

constexpr const char* kEntryVariables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};

constexpr const char* kKokkosVariable = "KOKKOS_TOOLS_LIBS";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void set_variable(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return a == b || std::filesystem::equivalent(a, b, code);
}

}  // namespace

std::string injection_holder(const std::string& library) {
  for (const char* name : kEntryVariables) {
    const std::string held = variable(name);
    if (!held.empty() && !same_file(held, library)) return std::string(name) + " is " + held;
  }
  return {};
}

std::string kokkos_tool_to_set() {
  const std::string chosen = variable(kKokkosVariable) + variable("KOKKOS_PROFILE_LIBRARY");
  return chosen.empty() ? kokkos_library() : std::string();
}

void set_injection(const std::string& library, const Settings& settings) {
  for (const char* name : kEntryVariables) set_variable(name, library);
  set_variable("GABLE_OPTIONS", to_options(settings));
  if (const std::string kokkos = kokkos_tool_to_set(); !kokkos.empty())
    set_variable(kKokkosVariable, kokkos);
  const std::string startup =
      settings.layers == ModuleLayers::automatic ? python_startup_folder() : std::string();
  if (startup.empty()) return;
  const std::string before = variable("PYTHONPATH");
  if (before == startup || before.rfind(startup + ":", 0) == 0) return;
  set_variable("PYTHONPATH", before.empty() ? startup : startup + ":" + before);
}

bool lacks_python_side(const Settings& settings) {
  return settings.layers == ModuleLayers::automatic && python_startup_folder().empty();
}

void clear_own_injection(const std::string& library) {
  for (const char* name : kEntryVariables) {
    if (same_file(variable(name), library)) unsetenv(name);
  }
  if (same_file(variable(kKokkosVariable), kokkos_library())) unsetenv(kKokkosVariable);
}

std::string full_path(const std::string& path) {
  if (path.rfind('/', 0) == 0) return std::filesystem::path(path).lexically_normal().string();
  std::error_code code;
  const auto folder = std::filesystem::current_path(code);
  if (code) throw WrongUse("The current folder no longer exists: change into one that does.");
  return (folder / path).lexically_normal().string();
}

std::string set_playback(const std::string& recording) {
  if (!std::filesystem::is_regular_file(recording)) {
    throw WrongUse("The recording " + recording +
                   " is not a file: --playback takes a recording such as those in "
                   "tests/data/recordings.");
  }
  std::string folder = playback_folder();
  if (folder.empty()) throw WrongUse(no_playback());
  // Before a program starts, which would meet it in the midst of its work.
  if (const auto read = read_recording(recording); !read.error.empty()) throw WrongUse(read.error);
  const std::string before = variable("LD_LIBRARY_PATH");
  set_variable("LD_LIBRARY_PATH", before.empty() ? folder : folder + ":" + before);
  set_variable("GABLE_PLAYBACK", full_path(recording));
  return folder;
}

Manifest::Manifest() {
  std::error_code code;
  for (const auto& folder : {std::filesystem::temp_directory_path(code),
                             std::filesystem::path("/tmp"), std::filesystem::path("/var/tmp")}) {
    if (folder.empty()) continue;
    std::string path = (folder / "gable-reports-XXXXXX").string();
    const int file = mkstemp(path.data());
    if (file < 0) continue;
    close(file);
    path_ = path;
    return;
  }
}

Manifest::~Manifest() {
  if (!path_.empty()) unlink(path_.c_str());
}

std::vector<Manifest::Entry> Manifest::read() const {
  std::vector<Entry> entries;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    Entry entry;
    const auto [end, code] = std::from_chars(line.data(), line.data() + tab, entry.pid);
    if (code != std::errc() || end != line.data() + tab) continue;
    entry.path = line.substr(tab + 1);
    const bool again = std::any_of(entries.begin(), entries.end(), [&entry](const Entry& known) {
      return known.pid == entry.pid && known.path == entry.path;
    });
    if (!again && !entry.path.empty()) entries.push_back(std::move(entry));
  }
  return entries;
}

bool Manifest::saw_launch() const {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);)
    if (line.size() > 1 && line.back() == '\t') return true;
  return false;
}

bool Manifest::saw_rank_left_out() const {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);)
    if (line.ends_with(" left out") && line.find('\t') == std::string::npos) return true;
  return false;
}

}  // namespace gable
