// SPDX-License-Identifier: Apache-2.0
// libnvperf_host and libnvperf_target, without which CUPTI takes no counters. It opens them by
// their bare names when it is first asked for counters, and the loader does not look beside
// libcupti for them: of a pip package it finds none, or those of another release.
#pragma once

#include <string>

namespace gable {

// Those that are missing, by name: neither beside that libcupti nor loaded nor where the loader
// looks. Empty: none.
[[nodiscard]] std::string missing_nvperf(const std::string& cupti_path);

// Before the first call about counters: opens those beside that libcupti, unless some are loaded
// already, so that CUPTI finds them by name. Once for each path; they take a tenth of a second.
void open_nvperf(const std::string& cupti_path);

}  // namespace gable
