// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/cupti_api.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "collector/cupti/cupti_advice.h"
#include "collector/cupti/cupti_search.h"
#include "collector/cupti/driverless.h"
#include "collector/cupti/helpers.h"
#include "collector/cupti/nvperf.h"

namespace gable {
namespace {

// The file a loaded library came from.
std::string path_of(void* symbol, const std::string& otherwise) {
  Dl_info info{};
  if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr)
    return info.dli_fname;
  return otherwise;
}

bool is_refused(const CuptiWish& wish, const std::string& path) {
  return std::find(wish.refused.begin(), wish.refused.end(), path) != wish.refused.end();
}

// Fills the table from an open library and says what works.
void fill(CuptiApi& api, void* library, const std::string& opened_as, CuptiOrigin origin,
          const CuptiWish& wish) {
  api.of_program = origin == CuptiOrigin::program;
  api.helpers = wish.helpers;
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
  if (is_refused(wish, api.path)) return;
  if (!tracing) {
    api.why_not = lacks_calls(api.path, origin);
    return;
  }
  if (wish.asking) wish.asking(api.path);
  if (!survives_without_driver(api.cuptiGetVersion)) {
    api.why_not = "The CUPTI " + api.path +
                  " ends the process where there is no NVIDIA driver, as that of CUDA 13.2 does; "
                  "here, point --cupti to one of CUDA 12.6 to 13.1.";
    return;
  }
  if (stuck(api)) {
    api.why_not = "CUPTI is not used: a call of it has not returned.";
    return;
  }
  api.version = ask_patiently<std::uint32_t>(api, &Helpers::start,
                                             [call = api.cuptiGetVersion](std::uint32_t& version) {
                                               return called("cuptiGetVersion", call, &version);
                                             })
                    .value_or(0);
  if (stuck(api)) {
    api.why_not = Patience::sentence("cuptiGetVersion");
    return;
  }
  api.can_trace = true;
  if (!profiling) {
    api.why_not = too_old_for_counters(api.path, cuda_release(api.version), origin);
    return;
  }
  if (const auto missing = missing_nvperf(api.path); !missing.empty()) {
    api.why_not = "Counters are not taken: they need " + missing + " beside " + api.path +
                  " (the toolkit and the cuda-cupti wheel have them; or add their folder to "
                  "LD_LIBRARY_PATH).";
    return;
  }
  api.can_profile = true;
}

constexpr int kNow = RTLD_NOW | RTLD_LOCAL;

// The best of the libraries offered: the first that takes counters, else the first that traces.
class Choice {
 public:
  explicit Choice(const CuptiWish& wish) : wish_(wish) {}

  // True when there is no need to look further.
  bool offer(void* library, const std::string& opened_as, CuptiOrigin origin) {
    CuptiApi filled;
    fill(filled, library, opened_as, origin, wish_);
    if (filled.can_profile || (filled.can_trace && !best_.can_trace)) {
      best_ = std::move(filled);
    } else {
      refuse(std::move(filled.why_not));
    }
    return best_.can_profile;
  }

  void refuse(std::string sentence) {
    if (!best_.can_trace && best_.why_not.empty()) best_.why_not = std::move(sentence);
  }

  [[nodiscard]] bool traces() const { return best_.can_trace; }
  CuptiApi take() { return std::move(best_); }

 private:
  const CuptiWish& wish_;
  CuptiApi best_;
};

void offer_mapped(Choice& choice, const CuptiSearch& search) {
  std::vector<std::string> names = {"libcupti.so.13", "libcupti.so.12"};
  const auto mapped = mapped_cuptis(search);
  names.insert(search.played ? names.begin() : names.end(), mapped.begin(), mapped.end());
  for (const auto& name : names)
    if (void* library = dlopen(name.c_str(), kNow | RTLD_NOLOAD); library != nullptr)
      if (choice.offer(library, name, CuptiOrigin::program)) return;
}

// A library may end the process while it is opened, too.
void* open_told(const CuptiWish& wish, const std::string& path) {
  if (wish.asking) wish.asking(path);
  void* library = dlopen(path.c_str(), kNow);
  if (library == nullptr && wish.asking) wish.asking("");
  return library;
}

void offer_asked(Choice& choice, const CuptiWish& wish) {
  const std::string& path = wish.preferred;
  if (is_refused(wish, path)) return;
  if (void* library = open_told(wish, path); library != nullptr) {
    choice.offer(library, path, CuptiOrigin::asked);
    return;
  }
  const char* reason = dlerror();
  choice.refuse("The CUPTI asked for could not be opened (" +
                std::string(reason != nullptr ? reason : path.c_str()) +
                "); give --cupti the path of a libcupti.so.12 or libcupti.so.13, or leave it out.");
}

void offer_candidates(Choice& choice, const CuptiSearch& search, const CuptiWish& wish) {
  std::string refused;  // a file that is there and does not open says more than one that is not
  std::vector<std::pair<void*, std::string>> old;  // not called: two CUPTIs would fight
  for (const auto& candidate : cupti_candidates(search)) {
    const bool is_path = candidate.find('/') != std::string::npos;
    if (is_path && access(candidate.c_str(), R_OK) != 0) continue;
    if (is_refused(wish, candidate)) continue;
    if (void* library = open_told(wish, candidate); library != nullptr) {
      if (dlsym(library, "cuptiRangeProfilerEnable") == nullptr) {
        old.emplace_back(library, candidate);
      } else if (choice.offer(library, candidate, CuptiOrigin::found)) {
        break;
      }
    } else if (const char* reason = dlerror(); is_path && refused.empty() && reason != nullptr) {
      refused = reason;
    }
  }
  for (const auto& [library, candidate] : old) {
    if (choice.traces()) {
      dlclose(library);
    } else {
      choice.offer(library, candidate, CuptiOrigin::found);
    }
  }
  if (!refused.empty()) {
    choice.refuse("CUPTI could not be opened (" + refused +
                  "); point --cupti to the libcupti.so.12 or libcupti.so.13 of a CUDA toolkit.");
  } else {
    choice.refuse(
        "No libcupti.so.13 or libcupti.so.12 was found: install the CUDA toolkit's CUPTI (package "
        "cuda-cupti-13-0, or pip install nvidia-cuda-cupti), or point --cupti to the library.");
  }
}

CuptiApi load(const CuptiWish& wish) {
  Choice choice(wish);
  const auto search = current_search();
  offer_mapped(choice, search);
  if (choice.traces()) return choice.take();  // a second CUPTI in the process would fight with it
  if (!wish.preferred.empty()) {
    offer_asked(choice, wish);
  } else {
    offer_candidates(choice, search, wish);
  }
  return choice.take();
}

}  // namespace

CuptiApi load_cupti(const std::string& preferred) {
  CuptiWish wish;
  wish.preferred = preferred;
  return load_cupti(wish);
}

CuptiApi load_cupti(const CuptiWish& wish) {
  try {
    auto api = load(wish);
    api.helpers = wish.helpers;
    return api;
  } catch (const std::exception& error) {  // out of memory: the program must not notice
    CuptiApi api;
    api.why_not = std::string("CUPTI was not looked for: ") + error.what() + ".";
    return api;
  } catch (...) {
    return {};
  }
}

std::string describe(const CuptiApi& api, CUptiResult code) {
  const auto number = std::to_string(static_cast<int>(code));
  if (api.cuptiGetResultString == nullptr) return "CUPTI error " + number;
  const auto text = ask_patiently<const char*>(
      api, &Helpers::calls, [code, call = api.cuptiGetResultString](const char*& answer) {
        return called("cuptiGetResultString", call, code, &answer);
      });
  if (!text || *text == nullptr) return "CUPTI error " + number;
  return std::string(*text) + " (" + number + ")";
}

}  // namespace gable
