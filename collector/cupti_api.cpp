// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti_api.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <utility>

#include "collector/cupti_search.h"

namespace gable {
namespace {

// The file a loaded library came from.
std::string path_of(void* symbol, const std::string& otherwise) {
  Dl_info info{};
  if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr)
    return info.dli_fname;
  return otherwise;
}

// dlopen of libcupti leaves libnvperf_host and libnvperf_target for later; it finds them beside
// itself, through LD_LIBRARY_PATH or among what is loaded. Missing, every profiler call fails with
// NOT_INITIALIZED.
bool nvperf_found(const std::string& cupti_path, const char* name) {
  const auto slash = cupti_path.rfind('/');
  if (slash != std::string::npos) {
    const auto beside = cupti_path.substr(0, slash + 1) + name;
    if (access(beside.c_str(), R_OK) == 0) return true;
  }
  if (void* loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD); loaded != nullptr) {
    dlclose(loaded);
    return true;
  }
  const char* paths = std::getenv("LD_LIBRARY_PATH");
  for (std::string rest = paths != nullptr ? paths : ""; !rest.empty();) {
    const auto colon = rest.find(':');
    const auto folder = rest.substr(0, colon);
    if (!folder.empty() && access((folder + "/" + name).c_str(), R_OK) == 0) return true;
    rest = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
  }
  return false;
}

// Fills the table from an open library and says what works.
void fill(CuptiApi& api, void* library, const std::string& opened_as) {
  bool tracing = true, profiling = true;
#define GABLE_RESOLVE(name, complete)                                     \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name)); \
  if (api.name == nullptr) complete = false;
#define GABLE_RESOLVE_TRACING(name) GABLE_RESOLVE(name, tracing)
#define GABLE_RESOLVE_PROFILING(name) GABLE_RESOLVE(name, profiling)
  GABLE_CUPTI_TRACING(GABLE_RESOLVE_TRACING)
  GABLE_CUPTI_PROFILING(GABLE_RESOLVE_PROFILING)
#define GABLE_RESOLVE_OPTIONAL(name) \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name));
  GABLE_CUPTI_OPTIONAL(GABLE_RESOLVE_OPTIONAL)
#undef GABLE_RESOLVE_OPTIONAL
#undef GABLE_RESOLVE_TRACING
#undef GABLE_RESOLVE_PROFILING
#undef GABLE_RESOLVE

  api.path = path_of(reinterpret_cast<void*>(api.cuptiGetVersion), opened_as);
  if (api.cuptiGetVersion != nullptr && api.cuptiGetVersion(&api.version) != CUPTI_SUCCESS)
    api.version = 0;
  api.can_trace = tracing;
  if (!tracing) {
    api.why_not = "The library " + api.path +
                  " lacks calls that every CUPTI since CUDA 11 has; point --cupti to the "
                  "libcupti.so.12 or libcupti.so.13 of a CUDA toolkit.";
    return;
  }
  if (!profiling) {
    api.why_not = "Only times are taken: the CUPTI in use, " + api.path + ", is of " +
                  cuda_release(api.version) +
                  ", and counters need that of CUDA 12.6 or newer (point --cupti to one).";
    return;
  }
  std::string missing;
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
    if (!nvperf_found(api.path, name))
      missing += (missing.empty() ? "" : std::string(" and ")) + name;
  if (!missing.empty()) {
    api.why_not = "Only times are taken: counters need " + missing + " beside " + api.path +
                  " (the toolkit and the cuda-cupti wheel have them; or add their folder to "
                  "LD_LIBRARY_PATH).";
    return;
  }
  api.can_profile = true;
}

// A library that cannot trace is only kept when there is no other: `api` is left alone then.
bool take(CuptiApi& api, void* library, const std::string& opened_as) {
  CuptiApi filled;
  fill(filled, library, opened_as);
  if (!filled.can_trace) {
    if (api.why_not.empty()) api.why_not = filled.why_not;
    return false;
  }
  api = filled;
  return true;
}

constexpr int kNow = RTLD_NOW | RTLD_LOCAL;

bool take_mapped(CuptiApi& api, const CuptiSearch& search) {
  std::vector<std::string> names = {"libcupti.so.13", "libcupti.so.12"};
  const auto mapped = mapped_cuptis(search);
  names.insert(names.end(), mapped.begin(), mapped.end());
  for (const auto& name : names)
    if (void* library = dlopen(name.c_str(), kNow | RTLD_NOLOAD); library != nullptr)
      if (take(api, library, name)) return true;
  return false;
}

CuptiApi load(const std::string& preferred) {
  CuptiApi api;
  const auto search = current_search();
  if (take_mapped(api, search)) return api;

  if (!preferred.empty()) {
    if (void* library = dlopen(preferred.c_str(), kNow); library != nullptr) {
      take(api, library, preferred);
    } else {
      const char* reason = dlerror();
      api.why_not =
          "The CUPTI asked for could not be opened (" +
          std::string(reason != nullptr ? reason : preferred.c_str()) +
          "); give --cupti the path of a libcupti.so.12 or libcupti.so.13, or leave it out.";
    }
    return api;
  }

  std::string
      refused;  // a file that is there and does not open says more than one that is not there
  for (const auto& candidate : cupti_candidates(search)) {
    const bool is_path = candidate.find('/') != std::string::npos;
    if (is_path && access(candidate.c_str(), R_OK) != 0) continue;
    if (void* library = dlopen(candidate.c_str(), kNow); library != nullptr) {
      if (take(api, library, candidate)) return api;
    } else if (const char* reason = dlerror(); is_path && refused.empty() && reason != nullptr) {
      refused = reason;
    }
  }
  if (!api.why_not.empty()) return api;
  if (!refused.empty())
    api.why_not = "CUPTI could not be opened (" + refused +
                  "); point --cupti to the libcupti.so.12 or libcupti.so.13 of a CUDA toolkit.";
  else
    api.why_not =
        "No libcupti.so.13 or libcupti.so.12 was found: install the CUDA toolkit's CUPTI (package "
        "cuda-cupti-13-0, or pip install nvidia-cuda-cupti), or point --cupti to the library.";
  return api;
}

}  // namespace

CuptiApi load_cupti(const std::string& preferred) {
  try {
    return load(preferred);
  } catch (const std::exception& error) {  // out of memory: the program must not notice
    CuptiApi api;
    api.why_not = std::string("CUPTI was not looked for: ") + error.what() + ".";
    return api;
  } catch (...) {
    return {};
  }
}

std::string cuda_release(std::uint32_t version) {
  // 130001 is CUDA 13.0; before 13.0 CUPTI counted its versions alone.
  if (version >= 10000)
    return "CUDA " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
  constexpr std::pair<std::uint32_t, const char*> kReleases[] = {
      {27, "CUDA 12.9"}, {26, "CUDA 12.8"}, {24, "CUDA 12.6"}, {23, "CUDA 12.5"},
      {22, "CUDA 12.4"}, {21, "CUDA 12.3"}, {20, "CUDA 12.2"}, {19, "CUDA 12.0"}};
  for (const auto& [first, release] : kReleases)
    if (version >= first) return release;
  return "CUDA 11 or older";
}

std::string describe(const CuptiApi& api, CUptiResult code) {
  const char* text = nullptr;
  const auto number = std::to_string(static_cast<int>(code));
  if (api.cuptiGetResultString == nullptr ||
      api.cuptiGetResultString(code, &text) != CUPTI_SUCCESS || text == nullptr)
    return "CUPTI error " + number;
  return std::string(text) + " (" + number + ")";
}

}  // namespace gable
