// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/nvperf.h"
#include "analysis/base/mutex.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string_view>

#include "collector/process/loaded_objects.h"

namespace gable {
namespace {

constexpr const char* kNames[] = {"libnvperf_host.so", "libnvperf_target.so"};

// "" where there is none that can be read.
std::string beside(const std::string& cupti_path, const char* name) {
  const auto slash = cupti_path.rfind('/');
  if (slash == std::string::npos) return {};
  auto path = cupti_path.substr(0, slash + 1) + name;
  return access(path.c_str(), R_OK) == 0 ? path : std::string();
}

// A run-time that is linked into the program shows few of its names, but it has a dlopen of its
// own.
bool dlopen_is_the_systems() {
  Dl_info about{};
  void* call = dlsym(RTLD_DEFAULT, "dlopen");
  if (call == nullptr || dladdr(call, &about) == 0 || about.dli_fname == nullptr) return false;
  const std::string_view path = about.dli_fname;
  const auto name = path.substr(path.rfind('/') + 1);
  return name.rfind("libc.so", 0) == 0 || name.rfind("libc-", 0) == 0 ||
         name.rfind("libdl", 0) == 0;
}

// As CUPTI opens them: bound to their own symbols first. A program with a sanitizer would be ended
// for that.
int flags() {
  const bool sanitized =
      dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path") != nullptr || !dlopen_is_the_systems();
  return RTLD_NOW | RTLD_LOCAL | (sanitized ? 0 : RTLD_DEEPBIND);
}

bool in_library_path(const char* name) {
  const char* paths = std::getenv("LD_LIBRARY_PATH");
  for (std::string rest = paths != nullptr ? paths : ""; !rest.empty();) {
    const auto colon = rest.find(':');
    const auto folder = rest.substr(0, colon);
    if (!folder.empty() && access((folder + "/" + name).c_str(), R_OK) == 0) return true;
    rest = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
  }
  return false;
}

}  // namespace

std::string missing_nvperf(const std::string& cupti_path) {
  std::string missing;
  for (const char* name : kNames) {
    if (beside(cupti_path, name).empty() && !is_loaded(name) && !in_library_path(name))
      missing += (missing.empty() ? "" : " and ") + std::string(name);
  }
  return missing;
}

void open_nvperf(const std::string& cupti_path) {
  static auto& mutex = *new Mutex;
  static auto& opened = *new std::set<std::string>;
  {
    const MutexLock hold(mutex);
    if (!opened.insert(cupti_path).second) return;
  }
  // The loader is called without a lock of Gable's: it may be in a constructor that waits for
  // Gable.
  for (const char* name : kNames) {
    const auto path = beside(cupti_path, name);
    if (!path.empty() && !is_loaded(name)) dlopen(path.c_str(), flags());
  }
}

}  // namespace gable
