// SPDX-License-Identifier: Apache-2.0
// libnvperf_host and libnvperf_target, without which CUPTI takes no counters. It opens them by
// their bare names when it is first asked for counters, and the loader does not look beside
// libcupti for them: with a pip package it finds none, or another release's.
#pragma once

#include <string>

namespace gable {

// Names of the missing ones: neither beside that libcupti nor loaded nor where the loader looks.
// Empty if none is missing.
[[nodiscard]] std::string missing_nvperf(const std::string& cupti_path);

// Opens those beside that libcupti, unless some are loaded, so that CUPTI finds them by name.
// Called before the first counter call; works once per path and takes 0.1 s.
void open_nvperf(const std::string& cupti_path);

}  // namespace gable
