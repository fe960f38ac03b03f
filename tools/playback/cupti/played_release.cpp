// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/cupti/played_release.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/playback/cupti/cupti_state.h"

namespace gable::playback {
namespace {

struct Release {
  const char* name;
  int release;
  std::uint32_t version;
};
constexpr std::array kReleases = {
    Release{"12.6", 1206, 24},     Release{"12.8", 1208, 26},     Release{"12.9", 1209, 28},
    Release{"13.0", 1300, 130001}, Release{"13.1", 1301, 130101}, Release{"13.2", 1302, 130202},
    Release{"13.3", 1303, 130301}, Release{"13.4", 1304, 130401}, Release{"13.5", 1305, 130500}};

// Structures that grew. All others have the size of CUDA 12.6 in every release.
struct Grown {
  std::string_view call;
  std::size_t before, after;
  int since;
};
constexpr std::array kGrown = {Grown{"cuptiProfilerDeviceSupported", 52, 56, 1301},
                               Grown{"cuptiProfilerHostInitialize", 48, 56, 1302},
                               Grown{"cuptiRangeProfilerEnable", 32, 36, 1304}};

// A copy of this library under the name of CUDA 12's plays that, as where both are installed.
bool named_as_12() {
  Dl_info info{};
  return dladdr(reinterpret_cast<void*>(&named_as_12), &info) != 0 && info.dli_fname != nullptr &&
         std::string_view(info.dli_fname).ends_with("libcupti.so.12");
}

const Release& played() {
  const bool as_12 = named_as_12();
  for (const Release& one : kReleases) {
    if (as_12 ? one.release == 1208 : the_gpu().control().is("cupti", one.name)) return one;
  }
  return kReleases.back();
}

}  // namespace

int played_release() { return played().release; }

std::uint32_t played_version() { return played().version; }

bool takes_size(const char* call, std::size_t given, std::size_t known) {
  for (const Grown& one : kGrown) {
    if (one.call != call) continue;
    return given == one.before || (given == one.after && played_release() >= one.since);
  }
  return given == known;
}

bool driver_is_too_old() {
  const char* driver = std::getenv("GABLE_PLAYBACK_DRIVER");
  if (driver == nullptr || the_gpu().control().is("older_driver", "accepted")) return false;
  return std::atoi(driver) / 1000 < played_release() / 100;
}

}  // namespace gable::playback
