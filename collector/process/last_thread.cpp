// SPDX-License-Identifier: Apache-2.0
#include "collector/process/last_thread.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "analysis/base/plain_file.h"
#include "collector/process/own_thread.h"

namespace gable {
namespace {

constexpr int kExitCodeField = 52;

std::string file_of(const char* thread, const char* name) {
  return read_plain_file(std::string("/proc/self/task/") + thread + "/" + name).value_or("");
}

// After the thread's name, which may hold anything and stands in parentheses: the state, the third
// field of all.
std::string::size_type state_in(const std::string& stat) {
  const auto name_end = stat.rfind(") ");
  return name_end == stat.npos ? stat.npos : name_end + 2;
}

bool has_ended(const std::string& stat) {
  const auto state = state_in(stat);
  return state != stat.npos && (stat[state] == 'Z' || stat[state] == 'X');
}

int exit_status_in(const std::string& stat) {
  auto at = state_in(stat);
  for (int field = 3; field < kExitCodeField && at != stat.npos; ++field)
    at = stat.find(' ', at + 1);
  return at == stat.npos ? 0 : std::atoi(stat.c_str() + at);
}

bool is_own(const char* thread) {
  auto name = file_of(thread, "comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return is_own_thread_name(name);
}

bool only_own_left(const std::string& main_thread) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/task"), ::closedir);
  if (folder == nullptr) return false;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.' || main_thread == entry->d_name) continue;
    // One that ends meanwhile has no files any more.
    if (is_own(entry->d_name)) continue;
    const auto stat = file_of(entry->d_name, "stat");
    if (!stat.empty() && !has_ended(stat)) return false;
  }
  return true;
}

}  // namespace

std::optional<int> status_of_ended_program() {
  const auto main_thread = std::to_string(::getpid());
  const auto stat = file_of(main_thread.c_str(), "stat");
  if (!has_ended(stat)) return std::nullopt;
  // Twice: a thread may have started another and ended while the list was read.
  for (int look = 0; look < 2; ++look)
    if (!only_own_left(main_thread)) return std::nullopt;
  return exit_status_in(stat);
}

}  // namespace gable
