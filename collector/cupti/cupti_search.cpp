// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/cupti_search.h"

#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "analysis/base/plain_file.h"

namespace gable {
namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_library(std::string_view path, std::string_view stem) {
  return name_of(path).substr(0, stem.size()) == stem;
}

void append_once(std::vector<std::string>& list, std::string item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

// Pip wheels: <site-packages>/nvidia/cu13/lib (CUDA 13) or <site-packages>/nvidia/cuda_cupti/lib
// (12).
void append_wheels(std::vector<std::string>& folders, const std::string& nvidia) {
  append_once(folders, nvidia + "/cu13/lib");
  append_once(folders, nvidia + "/cuda_cupti/lib");
}

void append_toolkit(std::vector<std::string>& folders, const std::string& root) {
  for (const char* below : {"/lib64", "/lib", "/extras/CUPTI/lib64", "/targets/x86_64-linux/lib",
                            "/targets/sbsa-linux/lib"})
    append_once(folders, root + below);
}

// "13" of "…/libcudart.so.13.0.48"; empty if there is no version.
std::string runtime_major(const std::vector<std::string>& mapped) {
  for (const auto& path : mapped) {
    constexpr std::string_view stem = "libcudart.so.";
    if (!is_library(path, stem)) continue;
    const auto version = std::string(name_of(path).substr(stem.size()));
    return version.substr(0, version.find('.'));
  }
  return {};
}

// The call needs no initialised driver, and libcudart makes it before cuInit, too.
int driver_major() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (driver == nullptr) return 0;
  const auto ask = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  const bool known = ask != nullptr && ask(&version) == 0;
  dlclose(driver);
  return known ? version / 1000 : 0;
}

}  // namespace

std::vector<std::string> mapped_files(const std::string& maps_text) {
  std::vector<std::string> files;
  std::istringstream lines(maps_text);
  for (std::string line; std::getline(lines, line);) {
    // address perms offset dev inode path; the path may hold spaces, and is the first '/' of the
    // line.
    const auto slash = line.find('/');
    if (slash == std::string::npos) continue;
    auto path = line.substr(slash);
    if (path.ends_with(" (deleted)")) continue;  // cannot be opened by that name any more
    append_once(files, std::move(path));
  }
  return files;
}

std::vector<std::string> mapped_cuptis(const CuptiSearch& search) {
  std::vector<std::string> found;
  for (const auto& path : search.mapped)
    if (is_library(path, "libcupti.so")) found.push_back(path);
  // PyTorch's wheels bring a CUPTI along, which would take that driver for a real one.
  const auto is_of_driver = [&search](const std::string& cupti) {
    return std::any_of(search.mapped.begin(), search.mapped.end(), [&cupti](const auto& path) {
      return is_library(path, "libcuda.so") && folder_of(path) == folder_of(cupti);
    });
  };
  if (search.played) std::stable_partition(found.begin(), found.end(), is_of_driver);
  return found;
}

std::vector<std::string> cupti_candidates(const CuptiSearch& search) {
  std::vector<std::string> folders;
  for (const auto& path : search.mapped) {
    const auto folder = folder_of(path);
    if (is_library(path, "libcudart.so")) {
      append_once(folders, folder);
      append_once(folders, folder + "/../extras/CUPTI/lib64");
    }
    if (is_library(path, "libcuda.so")) append_once(folders, folder);
  }
  for (const auto& path : search.mapped) {
    const auto nvidia = path.find("/site-packages/nvidia/");
    if (nvidia != std::string::npos)
      append_wheels(folders, path.substr(0, nvidia) + "/site-packages/nvidia");
    if (is_library(path, "libtorch")) append_wheels(folders, folder_of(path) + "/../../nvidia");
  }

  std::vector<std::string> names = {"libcupti.so.13", "libcupti.so.12"};
  if (runtime_major(search.mapped) == "12") std::swap(names[0], names[1]);
  std::vector<std::string> candidates;
  auto append_all = [&] {
    for (const auto& name : names)
      for (const auto& folder : folders) append_once(candidates, folder + "/" + name);
    folders.clear();
  };
  append_all();
  candidates.insert(candidates.end(), names.begin(), names.end());

  if (!search.own_library.empty()) {  // <build>/lib/libgable_inject.so or <build>/bin/gable
    append_wheels(folders, folder_of(search.own_library) + "/../cuda-wheels/nvidia");
    // Installed by pip it is <site-packages>/gable_profiler/native/lib/libgable_inject.so.
    if (const auto own = search.own_library.rfind("/gable_profiler/native/");
        own != std::string::npos)
      append_wheels(folders, search.own_library.substr(0, own) + "/nvidia");
  }
  if (!search.cuda_home.empty()) append_toolkit(folders, search.cuda_home);
  for (const auto& toolkit : search.toolkits) append_toolkit(folders, toolkit);
  append_once(folders, "/usr/lib/x86_64-linux-gnu");
  append_once(folders, "/usr/lib/aarch64-linux-gnu");
  append_all();
  if (search.driver == 12) {  // wherever they lie
    std::stable_partition(candidates.begin(), candidates.end(), [](const std::string& candidate) {
      return candidate.ends_with("libcupti.so.12");
    });
  }
  return candidates;
}

CuptiSearch current_search() {
  CuptiSearch search;
  search.mapped = mapped_files(read_plain_file("/proc/self/maps").value_or(""));

  search.played = std::getenv("GABLE_PLAYBACK") != nullptr;
  search.driver = driver_major();
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&current_search), &info) != 0 && info.dli_fname != nullptr)
    search.own_library = info.dli_fname;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); value != nullptr && search.cuda_home.empty())
      search.cuda_home = value;

  glob_t found{};
  if (glob("/usr/local/cuda-1[0-9].[0-9]*", 0, nullptr, &found) == 0)
    for (std::size_t i = found.gl_pathc; i-- > 0;) search.toolkits.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  search.toolkits.insert(search.toolkits.begin(), "/usr/local/cuda");
  return search;
}

}  // namespace gable
