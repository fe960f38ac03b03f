// SPDX-License-Identifier: Apache-2.0
// Where the parts of Gable lie, seen from the running program: a build folder has bin/gable and
// lib/…, an installation bin/gable and lib/gable/….
#pragma once

#include <string>

namespace gable {

// The full path of libgable_inject.so, or empty where it was not built.
[[nodiscard]] std::string injected_library();
[[nodiscard]] std::string no_injected_library();  // the sentence for it

// The full path of what Kokkos loads, or empty where it was not built.
[[nodiscard]] std::string kokkos_library();

// The folder that a Python program finds first when Gable names its layers (its sitecustomize.py is
// ours), or empty where a file of the Python side is missing.
[[nodiscard]] std::string python_startup_folder();
[[nodiscard]] std::string no_python_side();  // the sentence for it

// The folder that a command's part written in Python is in, or empty where `module`, such as
// "gable_fleet.export", is missing.
[[nodiscard]] std::string python_folder_of(const std::string& module);

// The folder of the playback GPU (libcuda.so.1, libcupti.so.13, gable-player …), or empty where one
// of its files is missing.
[[nodiscard]] std::string playback_folder();
[[nodiscard]] std::string no_playback();  // the sentence for it

}  // namespace gable
