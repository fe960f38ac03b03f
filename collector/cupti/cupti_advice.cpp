// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/cupti_advice.h"

#include <utility>

namespace gable {
namespace {

// Beside the program's own packages, whose versions are often pinned. Its CUPTI also serves
// programs of CUDA 11; those of CUDA 13 bring one that is new enough.
constexpr const char* kInstall = "`pip install --target $HOME/cupti nvidia-cuda-cupti-cu12`";
constexpr const char* kInstalled = "$HOME/cupti/nvidia/cuda_cupti/lib/libcupti.so.12";

std::string newer_one(CuptiOrigin origin) {
  switch (origin) {
    case CuptiOrigin::program:
      return std::string("install a newer one with ") + kInstall +
             " and have it loaded first, with LD_PRELOAD=" + kInstalled + " before the command.";
    case CuptiOrigin::asked:
      return std::string("leave --cupti out, or install a newer one with ") + kInstall +
             " and give --cupti " + kInstalled + ".";
    case CuptiOrigin::found:
      break;
  }
  return std::string("install a newer one with ") + kInstall + " and give --cupti " + kInstalled +
         ".";
}

std::string whose(CuptiOrigin origin) {
  switch (origin) {
    case CuptiOrigin::program:
      return "the CUPTI that the program has loaded, ";
    case CuptiOrigin::asked:
      return "the CUPTI that --cupti names, ";
    case CuptiOrigin::found:
      break;
  }
  return "the only CUPTI found, ";
}

}  // namespace

std::string too_old_for_counters(const std::string& path, const std::string& release,
                                 CuptiOrigin origin) {
  return "Counters are not taken: " + whose(origin) + path + ", is of " + release +
         ", and they need that of CUDA 12.6 or newer; " + newer_one(origin);
}

std::string lacks_calls(const std::string& path, CuptiOrigin origin) {
  return "The library " + path + " lacks calls that every CUPTI since CUDA 11 has; " +
         newer_one(origin);
}

std::string cuda_release(std::uint32_t version) {
  // 130001 is CUDA 13.0; before 13.0 CUPTI counted its versions alone.
  if (version >= 10000)
    return "CUDA " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
  if (version == 0) return "an unknown CUDA release";
  constexpr std::pair<std::uint32_t, const char*> kReleases[] = {
      {27, "CUDA 12.9"}, {26, "CUDA 12.8"}, {24, "CUDA 12.6"}, {23, "CUDA 12.5"},
      {22, "CUDA 12.4"}, {21, "CUDA 12.3"}, {20, "CUDA 12.2"}};
  for (const auto& [first, release] : kReleases)
    if (version >= first) return release;
  return "CUDA 12.1 or older";  // the CUPTI of 12.1 says 18, as that of 11.8 does
}

}  // namespace gable
